"""Chooses what an audit of emd-itemwise draws, and from which two inputs."""

from fractions import Fraction
from typing import Final

import numpy as np

from mechanisms.audit.lower_bound import Draw, Matrix
from mechanisms.candidate_net import Plane
from mechanisms.metric.itemwise.mechanism import EmdItemwise
from mechanisms.randomness import RandomSource
from mechanisms.records.item_records import ItemRecords
from mechanisms.space.grid import morton_encode

_CHECK_INS: Final = 100  # of the person who moves


def drawn_reports(mechanism: EmdItemwise) -> Draw[ItemRecords]:
    """Returns reports in the north-easternmost cell and quarter,
    and how far all are from the south-west together.

    Noise is geometric on both axes: for a move from corner to corner the logarithm of the ratio of a report's
    probabilities is a line in that distance, largest in the last cell.
    """
    side = mechanism.resolution
    steps = np.add.outer(np.arange(side), np.arange(side))

    def draw(records: ItemRecords, rng: RandomSource) -> Matrix:
        reports = mechanism.reports(records, rng)
        quarter = reports[side // 2 :, side // 2 :]
        return np.array([float(part.sum()) for part in (reports[-1:, -1:], quarter, reports * steps)])

    return draw


def moved(mechanism: EmdItemwise, distance_m: Fraction) -> tuple[ItemRecords, ItemRecords]:
    """Places everybody in the south-western cell, and one person with a part of all check-ins in the
    north-eastern one, as many as the distance allows, from the middle of a cell to that of another.

    All samples may be of that part, which with few samples costs more than to move all by the distance.
    """
    lattice = mechanism.reports_of_all().item.lattice
    across_m = lattice.diagonal_m * Plane(mechanism.region).shrink * (mechanism.resolution - 1)
    return _records(mechanism, 0), _records(
        mechanism, min(_CHECK_INS, int(_CHECK_INS * distance_m / across_m))
    )


def _records(mechanism: EmdItemwise, there: int) -> ItemRecords:
    """Returns records with this many of the first person's check-ins in the north-east."""
    last, counts = mechanism.resolution - 1, np.array([_CHECK_INS - there, there])
    own = np.flatnonzero(counts)
    places = np.concatenate([own * last, np.zeros(mechanism.persons - 1, np.int64)])
    ones = np.ones(mechanism.persons - 1, np.int64)
    level = mechanism.resolution.bit_length() - 1
    return ItemRecords(
        level=level,
        rows=np.concatenate([[own.size], ones]),
        cells=morton_encode(places, places, level),
        counts=np.concatenate([counts[own], ones]),
    )
