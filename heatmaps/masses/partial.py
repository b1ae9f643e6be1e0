"""Partial sums of a share of the persons as bytes, for the rows they wait in until every share is read.

They are raw data, kept as long as the release is drawn and no longer. Integers, little-endian; nothing of a
level or a unit, which the release fixes.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from mechanisms.interface import MassMap
from mechanisms.item_records import ItemRecords
from mechanisms.records import MeanSums

_NUMBER: Final = "<i8"


def packed(masses: MassMap) -> bytes:
    """Cells, then masses."""
    return np.concatenate((masses.cells, masses.masses)).astype(_NUMBER, copy=False).tobytes()


def unpacked(content: bytes, *, level: int, unit: int) -> MassMap:
    """Errors: ValueError for anything that `packed` cannot have written."""
    cells, masses = np.frombuffer(content, _NUMBER).reshape(2, -1).astype(np.int64)
    return MassMap(level=level, unit=unit, cells=cells, masses=masses)


def packed_means(sums: MeanSums) -> bytes:
    """Persons, x and y."""
    return np.array(sums, _NUMBER).tobytes()


def unpacked_means(content: bytes) -> MeanSums:
    """What `packed_means` wrote."""
    persons, x, y = np.frombuffer(content, _NUMBER).tolist()
    return persons, x, y


def packed_sums(sums: Sequence[int]) -> bytes:
    """Integers of 63 bits."""
    return np.array(sums, _NUMBER).tobytes()


def unpacked_sums(content: bytes) -> tuple[int, ...]:
    """What `packed_sums` wrote."""
    return tuple(np.frombuffer(content, _NUMBER).tolist())


def packed_items(records: ItemRecords) -> bytes:
    """Persons, then rows of each, cells and numbers of check-ins."""
    parts = (np.array([records.persons]), records.rows, records.cells, records.counts)
    return np.concatenate(parts).astype(_NUMBER, copy=False).tobytes()


def unpacked_items(content: bytes, *, level: int) -> ItemRecords:
    """Errors: ValueError for anything that `packed_items` cannot have written."""
    numbers = np.frombuffer(content, _NUMBER).astype(np.int64)
    rows, pairs = np.split(numbers[1:], numbers[:1])
    cells, counts = pairs.reshape(2, -1)
    return ItemRecords(level=level, rows=rows, cells=cells, counts=counts)
