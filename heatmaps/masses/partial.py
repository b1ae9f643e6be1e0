"""Partial sums of a share of the persons as bytes, for the rows they wait in until every share is read.

They are raw data, kept as long as the release is drawn and no longer. Integers, little-endian; nothing of a
level or a unit, which the release fixes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, SupportsBytes

import numpy as np
from numpy.typing import NDArray

from mechanisms.interface import MassMap
from mechanisms.interval_sums import Run
from mechanisms.item_records import ItemRecords
from mechanisms.records import MeanSums

_NUMBER: Final = "<i8"
_HEADER_BYTES: Final = 24  # rows, and the bytes of a step and of a mass
_SHORT, _LONG = 4, 8  # bytes
_MOST: Final = 2**62  # cells of the finest level, and more than all masses


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MassPart:
    """Masses of a share of the persons: bytes only where another process reads them."""

    held: MassMap

    def __bytes__(self) -> bytes:
        return packed(self.held)


def packed(masses: MassMap) -> bytes:
    """Steps from each cell to the next, then masses, each as short as the largest of its kind allows."""
    rows = masses.cells.size
    steps = np.empty(rows, np.int64)
    steps[:1] = masses.cells[:1] + 1  # from the cell before the first one
    np.subtract(masses.cells[1:], masses.cells[:-1], out=steps[1:])
    widths = _width(steps), _width(masses.masses)
    content = np.empty(_HEADER_BYTES + rows * sum(widths), np.uint8)
    header, *columns = _columns(content, rows, widths)
    header[:] = rows, *widths
    for column, values in zip(columns, (steps, masses.masses), strict=True):
        column[:] = values
    return content.tobytes()


def run_of(part: SupportsBytes) -> Run:
    """Of a part that was read here, or that another process packed. Errors: as `unpacked`."""
    if isinstance(part, MassPart):
        return Run.of(part.held.cells, part.held.masses)
    return unpacked(bytes(part))


def unpacked(content: bytes) -> Run:
    """What `packed` wrote. Errors: ValueError for anything that it cannot have written."""
    rows, *widths = np.frombuffer(content, _NUMBER, 3).tolist()
    _, steps, masses = _columns(np.frombuffer(content, np.uint8), rows, widths)
    for column in (steps, masses):
        if (column <= 0).any() or (column.itemsize == _LONG and column.sum(dtype=np.float64) > _MOST):
            raise ValueError("steps and masses are above 0 and sum to at most 2^62")
    cells = np.cumsum(steps, dtype=np.int64)
    cells -= 1
    return Run.of(cells, masses)


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


def _columns(content: NDArray[np.uint8], rows: int, widths: Sequence[int]) -> list[NDArray[np.integer]]:
    """The header, steps and masses, as views."""
    ends = np.cumsum([_HEADER_BYTES, *(rows * width for width in widths)])
    if ends[-1] != content.size or any(width not in {_SHORT, _LONG} for width in widths):
        raise ValueError("the length is not that of the rows")
    parts = np.split(content, ends[:-1])
    return [part.view(f"<i{width}") for part, width in zip(parts, (_LONG, *widths), strict=True)]


def _width(values: NDArray[np.int64]) -> int:
    """Bytes of the shortest integer that holds each; none is negative."""
    return _SHORT if values.max(initial=0) < 2**31 else _LONG
