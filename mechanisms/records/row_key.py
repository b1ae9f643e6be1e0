"""Names the sum that a check-in adds to: a bin of time and a cell of a grid, as one integer."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanisms.check import ParameterError, in_range, whole
from mechanisms.records.mass_map import MassMap
from mechanisms.space.grid import FINEST_LEVEL, parent
from mechanisms.space.subregion import Rectangle

NO_TIME: Final = -(2**63)  # in place of the epoch seconds of a check-in without a time
MOST_SECONDS: Final = 2**40  # of a start from 1970 and of a width: beyond the years 1 to 9999
_KEY_BITS: Final = 63

Integers = NDArray[np.int64]
RowIndex = slice | NDArray[np.bool_] | Integers  # picks some of the rows of an array


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeBins:
    """Divides time into bins of one width that begin again, such as hours of the day in UTC.

    A time of t epoch seconds is in the bin floor((t − start) / width) mod count. Days of a period that is no
    longer than all bins together are the same: they begin again after its end.
    Errors: `ParameterError` for what is no whole number or out of range.
    """

    start: int  # epoch seconds at which a bin 0 begins
    width: int  # seconds
    count: int

    def __post_init__(self) -> None:
        whole(-MOST_SECONDS, MOST_SECONDS, start=self.start)
        whole(1, MOST_SECONDS, width=self.width)
        # The period is at most 2^62: databases add a remainder to it in 64 bits with a sign.
        whole(1, (1 << _KEY_BITS - 1) // MOST_SECONDS, count=self.count)

    @property
    def period(self) -> int:
        """Returns the seconds after which the bins begin again."""
        return self.width * self.count

    def of(self, times: Integers) -> Integers:
        """Returns the bins, (r,), of epoch seconds of the years 1 to 9999, (r,)."""
        bins: Integers = (times - self.start) % self.period // self.width
        return bins


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKey:
    """Maps check-ins to keys (bin, cell), each of which has a sum.

    A person's mass of 1 is shared over all keys, so masses over all bins together have the sensitivity of
    one map. Check-ins without a key are left out before shares are taken: those outside the rectangle and,
    with bins, those without a time. As one integer a key is bin · 4^level + cell, below 2^63.
    Every reader of masses translates this value: `of_rows` does it in numpy.
    Errors: `ParameterError` for a level out of range or more bins than fit 63 bits with its cells.
    """

    level: int  # of the cells
    rectangle: Rectangle | None = None  # whose grid the cells are of; None: of the region's
    bins: TimeBins | None = None  # None: one bin, in which check-ins without a time are, too

    def __post_init__(self) -> None:
        in_range(0, FINEST_LEVEL, level=self.level)
        most = 1 << _KEY_BITS - 2 * self.level
        if self.bin_count > most:
            raise ParameterError("bins", self.bin_count, f"at most {most} with cells of level {self.level}")

    @property
    def bin_count(self) -> int:
        """Returns the number of bins."""
        return 1 if self.bins is None else self.bins.count

    @property
    def size(self) -> int:
        """Returns the number of keys; their integers are below it."""
        return self.bin_count << 2 * self.level

    @property
    def keeps_cell_order(self) -> bool:
        """Tells whether all check-ins have a key and an order by finest cell is one by key."""
        return self.rectangle is None and self.bins is None

    def of_rows(self, cells: Integers, times: Integers | None = None) -> tuple[RowIndex, Integers]:
        """Returns which of the rows have a key, and the integers of their keys, (k,) for the k that have.

        cells: (r,) Morton codes at `FINEST_LEVEL` in the region. times: (r,) epoch seconds or `NO_TIME`,
        needed with bins alone. Errors: ValueError for bins without times.
        """
        if self.bins is None:
            return self.of_cells(cells)
        if times is None:
            raise ValueError("bins need times")
        timed = np.flatnonzero(times != NO_TIME)
        inside, own = self.of_cells(cells[timed])
        rows = timed[inside]
        return rows, self.integers(self.bins.of(times[rows]), own)

    def of_cells(self, cells: Integers) -> tuple[RowIndex, Integers]:
        """Returns which finest cells, (r,), have a key, and the cells of those at `level`, (k,)."""
        if self.rectangle is not None:
            return self.rectangle.cells(cells, self.level)
        return slice(None), parent(cells, FINEST_LEVEL - self.level)

    def integers(self, bins: Integers, cells: Integers) -> Integers:
        """Returns bin · 4^level + cell of bins and of cells at `level`, (k,) each."""
        return bins << 2 * self.level | cells

    def mass_maps(self, keys: ArrayLike, masses: ArrayLike, *, unit: int) -> tuple[MassMap, ...]:
        """Returns the map of each bin; together they hold at most `unit` of a person.

        keys: (m,) integers, ascending and unique. masses: (m,) mass units, above 0.
        Errors: as `MassMap`.
        """
        key, mass = np.asarray(keys, np.int64), np.asarray(masses, np.int64)
        first_keys = np.arange(self.bin_count, dtype=np.int64) << 2 * self.level
        ends = np.searchsorted(key, first_keys[1:])
        return tuple(
            MassMap(level=self.level, unit=unit, cells=cells - first if first else cells, masses=units)
            for first, cells, units in zip(
                first_keys.tolist(), np.split(key, ends), np.split(mass, ends), strict=True
            )
        )
