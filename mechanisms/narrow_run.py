"""Masses of cells in integers half as wide as their own, which are looked up as they are."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.interval_sums import Integers

Narrow = NDArray[np.integer]

BLOCK: Final = 512  # rows, counted from a first one
_STEPS: Final = tuple(1 << bit for bit in reversed(range((BLOCK - 1).bit_length())))
_MOST: Final = 2**62


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NarrowRun:
    """As `Run`: blocks of rows, of which each row says how far it is from the first row's cell, and what the
    rows of the block up to it, itself included, hold.

    Nothing is widened for a look-up. `firsts`: (b,) cells. `befores`: (b,) mass units in all blocks before
    each. `offsets`, `totals`: (m,) integers of any width, `BLOCK` rows a block, fewer in the last.
    Errors: ValueError, without any value in it, for what are no cells in order with masses above 0.
    """

    firsts: Integers = field(repr=False)
    befores: Integers = field(repr=False)
    offsets: Narrow = field(repr=False)
    totals: Narrow = field(repr=False)

    def __post_init__(self) -> None:
        rows, starts = self.offsets.size, self._starts
        if self.totals.size != rows or self.firsts.size != starts.size or self.befores.size != starts.size:
            raise ValueError("there must be a first cell and what is before it of each block of rows")
        if rows and not (self._in_blocks() and self._between_blocks()):
            raise ValueError("cells must ascend, and masses be above 0 and sum to at most 2^62")

    @property
    def ends(self) -> tuple[int, int] | None:
        """As `CellSums.ends`."""
        if not self.offsets.size:
            return None
        return int(self.firsts[0]), int(self.firsts[-1]) + int(self.offsets[-1])

    @property
    def total(self) -> int:
        """As `CellSums.total`."""
        return int(self.befores[-1]) + int(self.totals[-1]) if self.totals.size else 0

    @property
    def cells(self) -> Integers:
        """As `CellSums.cells`."""
        return self._of_each(self.firsts) + self.offsets.astype(np.int64)

    @property
    def masses(self) -> Integers:
        """As `CellSums.masses`."""
        return np.diff(self._of_each(self.befores) + self.totals.astype(np.int64), prepend=0)

    def before(self, cells: Integers) -> Integers:
        """As `CellSums.before`."""
        block = np.searchsorted(self.firsts, cells) - 1
        inside = block >= 0  # not before the first cell of all
        block = block[inside]
        offset = cells[inside] - self.firsts[block]
        row = block * BLOCK
        end = np.minimum(row + BLOCK, self.offsets.size)
        for step in _STEPS:  # the last row before each, by halves: a block's first row is before it
            there = row + step
            is_before = self.offsets[np.minimum(there, end - 1)] < offset
            row = np.where((there < end) & is_before, there, row)
        held = np.zeros(cells.size, np.int64)
        held[inside] = self.befores[block] + self.totals[row].astype(np.int64)
        return held

    @property
    def _starts(self) -> Integers:
        return np.arange(0, self.offsets.size, BLOCK)

    def _of_each(self, values: Integers) -> Integers:
        """(m,) a block's value for each of its rows."""
        return np.repeat(values, BLOCK)[: self.offsets.size]

    def _in_blocks(self) -> bool:
        starts = self._starts
        for column in (self.offsets, self.totals):
            falls = column[1:] <= column[:-1]
            falls[starts[1:] - 1] = False
            if falls.any():
                return False
        return bool((self.offsets[starts] == 0).all() and (self.totals[starts] > 0).all())

    def _between_blocks(self) -> bool:
        lasts = np.append(self._starts[1:], self.offsets.size) - 1
        # As floats, which do not wrap: no cell and no sum of masses comes near their end.
        reach = self.firsts.astype(np.float64) + self.offsets[lasts]
        held = self.befores.astype(np.float64) + self.totals[lasts]
        if reach.max() > _MOST or held.max() > _MOST or self.firsts[0] < 0:
            return False
        last = self.firsts + self.offsets[lasts].astype(np.int64)
        after = self.befores + self.totals[lasts].astype(np.int64)
        follows = (self.firsts[1:] > last[:-1]).all() and (self.befores[1:] == after[:-1]).all()
        return bool(follows and self.befores[0] == 0)
