"""Holds persons' masses over the cells of one level, in integers."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import in_range, power_of_two
from mechanisms.frozen_arrays import freeze
from mechanisms.records.interval_sums import IntervalSums
from mechanisms.space.grid import FINEST_LEVEL

MASS_LIMIT: Final = 2**62  # total mass units, half of int64 so that noise can be added


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MassMap:
    """Holds the sum of persons' masses over the cells of one level, in integers.

    Neighbours differ by at most `unit` in L1 (one person), 2·unit when a record is replaced.
    Errors: ValueError, without any value in it.
    """

    level: int
    unit: int  # mass units of one person, a power of two
    cells: NDArray[np.int64] = field(repr=False)  # (m,) Morton codes at `level`, ascending, unique
    masses: NDArray[np.int64] = field(repr=False)  # (m,) mass units, above 0

    def __post_init__(self) -> None:
        in_range(0, FINEST_LEVEL, level=self.level)
        power_of_two(1, 2**62, unit=self.unit)
        freeze(self, cells=np.int64, masses=np.int64)
        if self.cells.size and (self.cells[0] < 0 or self.cells[-1] >= 4**self.level):
            raise ValueError("cells are Morton codes of the level")
        if (self.cells[1:] <= self.cells[:-1]).any():
            raise ValueError("cells must ascend without repetition")
        if (self.masses <= 0).any() or self.masses.sum(dtype=np.float64) >= MASS_LIMIT:
            raise ValueError("masses must be above 0 and sum to less than 2^62")

    def interval_sums(self) -> IntervalSums:
        """Returns running totals, which say what quadtree cells of any level hold."""
        return IntervalSums.of(self.level, self.cells, self.masses)
