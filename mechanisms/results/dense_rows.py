"""Gives every cell of a released map row by row, so that a fine grid never lies in memory whole."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import morton_decode

_SUMMED_WHOLE: Final = 256  # cells a side: half a megabyte


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """Holds the squares of one size from north to south."""

    side: int  # cells of a square
    rows: NDArray[np.int64]  # (k,) from the north, in squares of this size
    columns: NDArray[np.int64]  # (k,) from the west, in the same
    squares: NDArray[np.int64]  # (k,) their places in the map


@dataclass(frozen=True, slots=True, eq=False)
class SquareRows:
    """Paints numbers of squares row by row, as `mechanisms.space.grid.paint` does the whole grid."""

    side: int  # cells of the grid
    _levels: tuple[_Level, ...]

    @classmethod
    def of(cls, heatmap: Heatmap) -> Self:
        """Sorts the squares of a map."""
        levels = []
        for level in np.unique(heatmap.levels).tolist():
            squares = np.flatnonzero(heatmap.levels == level)
            x, y = morton_decode(heatmap.prefixes[squares], level)
            rows = (1 << level) - 1 - y
            order = np.argsort(rows, kind="stable")
            levels.append(
                _Level(1 << (heatmap.level - level), rows[order], x[order], squares[order]),
            )
        return cls(1 << heatmap.level, tuple(levels))

    def runs(self) -> Iterator[range]:
        """Yields rows, the northern ones first, that cross the same squares: what is painted is the same."""
        edges = [np.array([0, self.side])]
        for level in self._levels:
            rows = np.unique(level.rows) * level.side
            edges += [rows, rows + level.side]
        begins = np.unique(np.concatenate(edges)).tolist()
        return (range(*ends) for ends in pairwise(begins))

    def paint(self, row: int, numbers: NDArray[np.float64], background: float) -> NDArray[np.float64]:
        """Returns `(side,)` numbers of the cells of a row. numbers: `(k,)` of the map's squares."""
        cells = np.full(self.side, background)
        for level in self._levels:
            first, end = np.searchsorted(level.rows, [row // level.side, row // level.side + 1])
            columns, squares = level.columns[first:end], level.squares[first:end]
            cells.reshape(-1, level.side)[columns] = numbers[squares, np.newaxis]
        return cells


def masses(heatmap: Heatmap) -> NDArray[np.float64]:
    """Returns `(k,)` persons of each cell of a square, who are spread evenly in it."""
    return heatmap.values / 4.0 ** (heatmap.level - heatmap.levels)


def dense_total(heatmap: Heatmap, rows: SquareRows) -> float:
    """Returns the sum of all cells in persons, as NumPy adds up the whole grid: the same bits.

    By that `Heatmap.dense` divides. Exact sums would be others, in the last bits.
    """
    cells = masses(heatmap)
    if rows.side <= _SUMMED_WHOLE:
        grid = np.stack([rows.paint(row, cells, 0.0) for row in range(rows.side)])
        return float(grid.sum())
    sums = np.concatenate([np.full(len(run), rows.paint(run.start, cells, 0.0).sum()) for run in rows.runs()])
    while sums.size > 1:  # NumPy halves what it adds up: above 128 numbers, rows are halves of halves
        sums = sums[::2] + sums[1::2]
    return float(sums[0])
