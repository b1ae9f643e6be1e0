"""Sums mass units in quadtree cells of any level, each of which is one interval of Morton codes."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntervalSums:
    """Holds masses of cells of one level as running totals: what an interval holds is one difference."""

    level: int
    cells: Integers = field(repr=False)  # (m,) Morton codes, ascending, unique
    totals: Integers = field(repr=False)  # (m + 1,) mass units in the cells before each, then in all

    @classmethod
    def of(cls, level: int, cells: Integers, masses: Integers) -> Self:
        """Sums the mass of each cell, (m,)."""
        totals = np.empty(masses.size + 1, np.int64)
        totals[0] = 0
        np.cumsum(masses, out=totals[1:])
        return cls(level=level, cells=cells, totals=totals)

    def within(self, levels: Integers | int, prefixes: Integers) -> Integers:
        """Returns (k,) mass units of cells by level, at most that of the masses, and Morton code there."""
        up = 2 * (self.level - levels)
        return self._before((prefixes + 1) << up) - self._before(prefixes << up)

    def _before(self, cells: Integers) -> Integers:
        return self.totals[np.searchsorted(self.cells, cells)]
