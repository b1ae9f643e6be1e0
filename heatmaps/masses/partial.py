"""Partial sums of a share of the persons as bytes, for the rows they wait in until every share is read.

They are raw data, kept as long as the release is drawn and no longer. Integers, little-endian; nothing of a
level or a unit, which the release fixes. Masses are many: their bytes come in pieces of about 1 MB, of which
one is in memory at a time, and are as `NarrowRun` holds them, so that they are not widened to be looked up.

| piece | content |
| --- | --- |
| the first | rows, bytes of an offset and of a total; first cells of all blocks, and what is before them |
| each other | offsets of so many rows, then their totals |
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from mechanisms.interface import MassMap
from mechanisms.interval_sums import CellSums, Integers, Run
from mechanisms.item_records import ItemRecords
from mechanisms.narrow_run import BLOCK, NarrowRun
from mechanisms.records import MeanSums

Pieces: TypeAlias = Iterable[bytes]

_NUMBER: Final = "<i8"
_KINDS: Final = {4: "<u4", 8: "<i8"}  # of offsets and totals, by their bytes
_HEADER: Final = 3  # numbers
_PIECE_ROWS: Final = 256 * BLOCK


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MassPart:
    """Masses of a share of the persons: bytes only where another process reads them."""

    held: MassMap

    def __iter__(self) -> Iterator[bytes]:
        return packed(self.held)


def packed(masses: MassMap) -> Iterator[bytes]:
    """Offsets and totals are as short as the largest of their kind allows."""
    starts = np.arange(0, masses.cells.size, BLOCK)
    firsts, befores, reach, held = _index(masses, starts)
    kinds = [_kind(reach), _kind(held)]
    header = np.array([masses.cells.size, *(np.dtype(kind).itemsize for kind in kinds)])
    yield np.concatenate([header, firsts, befores]).astype(_NUMBER, copy=False).tobytes()
    for start in range(0, masses.cells.size, _PIECE_ROWS):
        some, of_these = slice(start, start + _PIECE_ROWS), firsts[start // BLOCK :]
        yield _offsets(masses.cells[some], of_these, kinds[0]) + _totals(masses.masses[some], kinds[1])


def run_of(part: Pieces) -> CellSums:
    """Of a part that was read here, or that another process packed. Errors: as `unpacked`."""
    if isinstance(part, MassPart):
        return Run.of(part.held.cells, part.held.masses)
    return unpacked(part)


def unpacked(pieces: Pieces) -> NarrowRun:
    """What `packed` wrote. Errors: ValueError for anything that it cannot have written."""
    rest = iter(pieces)
    index = next(rest, b"")
    rows, *widths = np.frombuffer(index, _NUMBER, _HEADER).tolist()
    firsts, befores = np.frombuffer(index, _NUMBER)[_HEADER:].astype(np.int64).reshape(2, -1)
    if -(-rows // BLOCK) != firsts.size or any(width not in _KINDS for width in widths):
        raise ValueError("a part must have blocks of rows, of known widths")
    offsets, totals = (np.empty(rows, _KINDS[width]) for width in widths)
    filled = 0
    for piece in rest:
        count = len(piece) // sum(widths)
        some = slice(filled, filled := filled + count)
        if count * sum(widths) != len(piece) or filled > rows:
            raise ValueError(_LENGTH)
        offsets[some] = np.frombuffer(piece, offsets.dtype, count)
        totals[some] = np.frombuffer(piece, totals.dtype, count, offset=count * widths[0])
    if filled != rows:
        raise ValueError(_LENGTH)
    return NarrowRun(firsts=firsts, befores=befores, offsets=offsets, totals=totals)


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


_LENGTH: Final = "the length is not that of the rows"


def _index(masses: MassMap, starts: Integers) -> tuple[Integers, Integers, int, int]:
    """First cells of blocks, what is before them, and the largest offset and total in any block."""
    if not starts.size:
        return starts, starts, 0, 0
    lasts = np.append(starts[1:], masses.cells.size) - 1
    firsts, held = masses.cells[starts], np.add.reduceat(masses.masses, starts)
    return firsts, np.cumsum(held) - held, int((masses.cells[lasts] - firsts).max()), int(held.max())


def _offsets(cells: Integers, firsts: Integers, kind: str) -> bytes:
    """From the first cell of each block."""
    whole, rest = _blocks(cells)
    offsets = whole - firsts[: len(whole), np.newaxis]
    last = rest - firsts[len(whole) : len(whole) + 1]
    return offsets.astype(kind).tobytes() + last.astype(kind).tobytes()


def _totals(masses: Integers, kind: str) -> bytes:
    """From the beginning of each block."""
    whole, rest = _blocks(masses)
    return np.cumsum(whole, axis=1).astype(kind).tobytes() + np.cumsum(rest).astype(kind).tobytes()


def _blocks(values: Integers) -> tuple[Integers, Integers]:
    """Whole blocks, one a row, and what is left."""
    end = values.size // BLOCK * BLOCK
    return values[:end].reshape(-1, BLOCK), values[end:]


def _kind(largest: int) -> str:
    """The shortest integer; none is negative."""
    return _KINDS[4 if largest < 2**32 else 8]
