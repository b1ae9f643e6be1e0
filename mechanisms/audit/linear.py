"""Chooses the two inputs that an audit of emd-linear, emd-zones and emd-distances draws from."""

from fractions import Fraction

import numpy as np

from mechanisms.candidate_net import MICRO, Plane
from mechanisms.metric.linear.answers import AnswerSums, LinearAnswers
from mechanisms.metric.linear.centroid import EmdLinear
from mechanisms.records.aggregation import item_records
from mechanisms.records.means import PARTS, RecordMeans
from mechanisms.space.grid import FINEST_LEVEL


def moved(mechanism: EmdLinear, distance_m: Fraction) -> tuple[RecordMeans, RecordMeans]:
    """Places everybody in the south-west corner, and one person moved along the longer side by at most the
    distance."""
    plane = Plane(mechanism.region)
    east = plane.width_um >= plane.height_um
    parts = int(distance_m / plane.shrink * MICRO * PARTS / max(plane.width_um, plane.height_um))
    move = min(parts, PARTS)
    corner = RecordMeans(persons=mechanism.persons, x=0, y=0)
    x, y = (move, 0) if east else (0, move)
    return corner, RecordMeans(persons=mechanism.persons, x=x, y=y)


def moved_out(mechanism: LinearAnswers, distance_m: Fraction) -> tuple[AnswerSums, AnswerSums]:
    """Places everybody on the western border, and one person moved east by at most the distance."""
    region = mechanism.region
    share = min(float(distance_m / Plane(region).shrink) / region.width_m, 1.0)
    lons = np.array([region.west] * mechanism.persons + [region.west + share * (region.east - region.west)])
    cells = region.morton(np.full(lons.size, (region.south + region.north) / 2), lons, FINEST_LEVEL)
    several = [
        mechanism.sums(item_records(persons=[0], cells=[cell], counts=[1], level=mechanism.level))
        for cell in cells.tolist()
    ]
    return AnswerSums.total_of(several[:-1]), AnswerSums.total_of(several[1:])
