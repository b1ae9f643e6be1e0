"""What an audit of emd-itemwise draws, and from which two inputs."""

from fractions import Fraction

import numpy as np

from mechanisms.audit import Draw, Matrix
from mechanisms.grid import morton_encode
from mechanisms.interface import RandomSource
from mechanisms.item_records import ItemRecords
from mechanisms.metric.itemwise_map import EmdItemwise


def drawn_reports(mechanism: EmdItemwise) -> Draw[ItemRecords]:
    """Numbers of reports in the north-eastern quarter, in the east and in the north."""
    half = mechanism.resolution // 2

    def draw(records: ItemRecords, rng: RandomSource) -> Matrix:
        reports = mechanism.reports(records, rng)
        parts = reports[half:, half:], reports[half:], reports[:, half:]
        return np.array([float(part.sum()) for part in parts])

    return draw


def moved(mechanism: EmdItemwise, distance_m: Fraction) -> tuple[ItemRecords, ItemRecords]:
    """Everybody in the south-western cell, and one person's only check-in moved north-east by at most the
    distance, from the middle of a cell to that of another."""
    lattice = mechanism.reports_of_all().item.lattice
    steps = min(int(distance_m / (lattice.diagonal_m * lattice.stretch)), mechanism.resolution - 1)
    return _at(mechanism, 0), _at(mechanism, steps)


def _at(mechanism: EmdItemwise, place: int) -> ItemRecords:
    level, ones = mechanism.resolution.bit_length() - 1, np.ones(mechanism.persons, np.int64)
    places = np.zeros(mechanism.persons, np.int64)
    places[0] = place
    return ItemRecords(level=level, rows=ones, cells=morton_encode(places, places, level), counts=ones)
