"""What an audit of emd-linear's mean location draws, and from which two inputs."""

from fractions import Fraction

import numpy as np

from mechanisms.audit import Draw, Matrix
from mechanisms.central.net import MICRO, Plane
from mechanisms.interface import RandomSource
from mechanisms.metric.linear_centroid import EmdLinear
from mechanisms.point import PARTS, RecordMeans


def drawn_sums(mechanism: EmdLinear) -> Draw[RecordMeans]:
    """The sums with their noise, before they are clamped to the region: all that is promised about."""

    def draw(means: RecordMeans, rng: RandomSource) -> Matrix:
        return np.array(mechanism.noisy_sums(means, rng), dtype=np.float64)

    return draw


def moved(mechanism: EmdLinear, distance_m: Fraction) -> tuple[RecordMeans, RecordMeans]:
    """Everybody in the south-west corner, and one person moved along the longer side by at most the
    distance."""
    plane = Plane(mechanism.region)
    east = plane.width_um >= plane.height_um
    parts = int(distance_m / plane.stretch * MICRO * PARTS / max(plane.width_um, plane.height_um))
    move = min(parts, PARTS)
    corner = RecordMeans(persons=mechanism.persons, x=0, y=0)
    x, y = (move, 0) if east else (0, move)
    return corner, RecordMeans(persons=mechanism.persons, x=x, y=y)
