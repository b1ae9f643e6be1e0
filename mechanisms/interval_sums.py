"""Mass units in quadtree cells of any level, each of which is one interval of Morton codes."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class CellSums(Protocol):
    """Masses of cells of one level, in whatever form."""

    @property
    def ends(self) -> tuple[int, int] | None:
        """The first and the last cell; None without any."""

    @property
    def total(self) -> int:
        """Mass units in all cells."""

    @property
    def cells(self) -> Integers:
        """(m,) Morton codes, ascending, unique."""

    @property
    def masses(self) -> Integers:
        """(m,) mass units of each cell, above 0."""

    def before(self, cells: Integers) -> Integers:
        """(k,) mass units in all cells before each of these, which may be any integers in any order."""


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
        totals = np.empty(masses.size + 1, np.int64)
        totals[0] = 0
        np.cumsum(masses, dtype=np.int64, out=totals[1:])
        return cls(cells=cells, totals=totals)

    @property
    def ends(self) -> tuple[int, int] | None:
        """As `CellSums.ends`."""
        return (int(self.cells[0]), int(self.cells[-1])) if self.cells.size else None

    @property
    def total(self) -> int:
        """As `CellSums.total`."""
        return int(self.totals[-1])

    @property
    def masses(self) -> Integers:
        """As `CellSums.masses`."""
        return np.diff(self.totals)

    def before(self, cells: Integers) -> Integers:
        """As `CellSums.before`."""
        return self.totals[np.searchsorted(self.cells, cells)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntervalSums:
    """What cells hold in one run, or in several together, which are looked up in turn and never joined."""

    level: int
    runs: tuple[CellSums, ...] = field(repr=False)

    def within(self, levels: Integers | int, prefixes: Integers) -> Integers:
        """(k,) mass units of cells by level, at most that of the runs, and Morton code at that level."""
        up = 2 * (self.level - levels)
        first, after = prefixes << up, (prefixes + 1) << up
        held = np.zeros(prefixes.size, np.int64)
        for run in self.runs:
            held += run.before(after)
            held -= run.before(first)
        return held
