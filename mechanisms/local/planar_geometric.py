"""Draws noise on the lattice of cells, its probability falling exponentially with straight distance."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np

from mechanisms.expected_error import PointError
from mechanisms.local import reports
from mechanisms.local.lattice import Cells, Floats, Lattice
from mechanisms.local.noise_table import Axis, NoiseTable, binned, tail_nodes
from mechanisms.randomness import RandomSource

REACH: Final = 40.0  # decay lengths: beyond, less than 10^-15 of the law is left


class PlanarMechanism(reports.LocalMechanism):
    """Provides the base of the mechanisms whose law falls with straight distance: one table for all."""

    __slots__ = ()

    most_a_side: ClassVar[int] = 1024

    @property
    @abstractmethod
    def table(self) -> NoiseTable: ...

    @property
    def costs(self) -> reports.Costs:
        return _costs(self.table)

    def release(self, cells: Cells, rng: RandomSource) -> Cells:
        return self.table.draw(cells, rng)

    def expected_error(self) -> PointError:
        return reports.point_error(self.table.displacements(), self.lattice.distances_m())


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanarGeometric(PlanarMechanism):
    """Moves the true cell by lattice noise with P ∝ exp(-decay · distance), clamped, and reports it.

    Guarantee: one term a report, delta 0, LOCAL: loss(d) = min(cap, α · (d + offset)), with α and cap
    measured on the integers of the table (`NoiseTable`). Before rounding α = decay: a law of one shape moved
    by d changes by at most exp(decay · d) (Andrés et al. 2013, section 4), and clamping is post-processing.
    Edge cases: places outside the region count at its nearest edge, and distances are those of clamped
    places. A report is uniform over all cells about once in a million, whatever the place.
    Error: `expected_error`, in metres.
    References: Andrés, Bordenabe, Chatzikokolakis, Palamidessi, CCS 2013; Ghosh, Roughgarden, Sundararajan
    2012 for the geometric law in one dimension.
    """

    name: ClassVar[str] = "planar-geometric"

    @property
    def table(self) -> NoiseTable:
        return _table(self.lattice, self.decay_per_m)


def planar_law(lattice: Lattice, decay_per_m: Fraction, axis: Callable[[int, float], Axis]) -> Floats:
    """Returns exp(-decay · distance) binned by cells;
    `axis` gives the nodes for a side and a decay in cells.
    """
    decay, width_m, height_m = float(decay_per_m), float(lattice.column_m), float(lattice.row_m)

    def value(x: Floats, y: Floats) -> Floats:
        return np.asarray(np.exp(-decay * np.hypot(x * width_m, y * height_m)))

    return binned(axis(lattice.columns, decay * width_m), axis(lattice.rows, decay * height_m), value)


@lru_cache(maxsize=8)
def _costs(table: NoiseTable) -> reports.Costs:
    return reports.Costs(per_metre=table.loss_per_metre(), cap=table.cap(), snap_m=table.lattice.snap_m)


@lru_cache(maxsize=4)
def _table(lattice: Lattice, decay_per_m: Fraction) -> NoiseTable:
    return NoiseTable.of(lattice, planar_law(lattice, decay_per_m, _axis))


def _axis(side: int, decay: float) -> Axis:
    """Returns offsets in cells; the outermost also counts all beyond."""
    tail, weights = tail_nodes(float(side), decay, reach=REACH, whole=True)
    positions = np.concatenate((np.arange(side, dtype=np.float64), tail))
    bins = np.minimum(np.arange(positions.size), side - 1)
    return positions, np.concatenate((np.ones(side), weights)), bins
