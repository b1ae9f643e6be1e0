"""Mass units in quadtree cells of any level, each of which is one interval of Morton codes."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """Masses of cells of one level, in order, as running totals: what an interval holds is one difference.

    Errors: ValueError, without any value in it.
    """

    cells: Integers = field(repr=False)  # (m,) Morton codes, ascending, unique
    totals: Integers = field(
        repr=False
    )  # (m + 1,) mass units in the cells before each, then in all; from 0 on

    def __post_init__(self) -> None:
        if self.totals.shape != (self.cells.size + 1,):
            raise ValueError("there must be one total more than cells")

    @classmethod
    def of(cls, cells: Integers, masses: NDArray[np.integer]) -> "Run":
        """From the mass of each cell, (m,) integers of any width."""
        totals = np.zeros(masses.size + 1, np.int64)
        np.cumsum(masses, dtype=np.int64, out=totals[1:])
        return cls(cells=cells, totals=totals)

    @property
    def masses(self) -> Integers:
        """(m,) mass units of each cell."""
        return np.diff(self.totals)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntervalSums:
    """What cells hold in one run, or in several together, which are looked up in turn and never joined."""

    level: int
    runs: tuple[Run, ...] = field(repr=False)

    def within(self, levels: Integers | int, prefixes: Integers) -> Integers:
        """(k,) mass units of cells by level, at most that of the runs, and Morton code at that level."""
        up = 2 * (self.level - levels)
        first, after = prefixes << up, (prefixes + 1) << up
        held = np.zeros(prefixes.size, np.int64)
        for run in self.runs:
            held += run.totals[np.searchsorted(run.cells, after)]
            held -= run.totals[np.searchsorted(run.cells, first)]
        return held
