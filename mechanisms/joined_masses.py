"""Masses of different persons that were summed apart, joined no sooner than somebody asks for every cell."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import in_range, power_of_two
from mechanisms.grid import FINEST_LEVEL
from mechanisms.interface import MASS_LIMIT, MassMap
from mechanisms.interval_sums import CellSums, IntervalSums
from mechanisms.records import sum_by_cell


class JoinedMasses(MassMap):
    """The sum of parts of one level and unit, as a map: the same cells and masses.

    Mechanisms that measure quadtree cells read `interval_sums`, which needs no joining: one process would
    spend as much time on that as several did on the parts.
    Errors: ValueError, without any value in it, as `MassMap`.
    """

    __slots__ = ("_parts", "_whole")
    _parts: tuple[CellSums, ...]
    _whole: MassMap | None

    def __init__(self, *, level: int, unit: int, parts: Sequence[CellSums]) -> None:
        in_range(0, FINEST_LEVEL, level=level)
        power_of_two(1, 2**62, unit=unit)
        ends = [part.ends for part in parts]
        if any(both and not 0 <= both[0] <= both[1] < 4**level for both in ends):
            raise ValueError("cells are Morton codes of the level")
        if sum(part.total for part in parts) >= MASS_LIMIT:
            raise ValueError("masses must sum to less than 2^62")
        self._set(level=level, unit=unit, _parts=tuple(parts), _whole=None)

    @property
    def cells(self) -> NDArray[np.int64]:
        return self._joined().cells

    @property
    def masses(self) -> NDArray[np.int64]:
        return self._joined().masses

    def interval_sums(self) -> IntervalSums:
        return IntervalSums(level=self.level, runs=self._parts)

    def _joined(self) -> MassMap:
        whole = self._whole
        if whole is None:
            cells = np.concatenate([part.cells for part in self._parts])
            masses = np.concatenate([part.masses for part in self._parts])
            whole = sum_by_cell(cells, masses, level=self.level, unit=self.unit)
            self._set(_whole=whole)
        return whole

    def _set(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            object.__setattr__(self, name, value)  # frozen for everybody else
