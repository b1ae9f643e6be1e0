"""Adds two-sided geometric noise on columns and on rows, each by itself."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from mechanisms.expected_error import PointError
from mechanisms.local import reports
from mechanisms.local.lattice import Cells, Lattice, root_up
from mechanisms.local.noise_table import NoiseTable
from mechanisms.randomness import RandomSource


@dataclass(frozen=True, slots=True, kw_only=True)
class GeoLocal(reports.LocalMechanism):
    """Moves column and row each by noise with P ∝ exp(-decay · metres along the axis), clamped.

    Guarantee: one term a report, delta 0, LOCAL: loss(d) = min(cap, α · (d + offset)). Each axis has an
    integer table with a measured loss a metre α₁, α₂; a move of |dx| and |dy| costs α₁|dx| + α₂|dy|, which is
    at most √(α₁² + α₂²) · d (Cauchy, Schwarz), and snapping adds up to a cell on each axis. Before rounding
    α₁ = α₂ = decay (Ghosh, Roughgarden, Sundararajan 2012); clamping is post-processing.
    Edge cases: as `PlanarGeometric`, which has less noise at the same loss in straight lines.
    Error: `expected_error`, in metres.
    References: Athanasiou et al., "Enhancing metric privacy with a shuffler", 2025 (the local baseline and
    its two axes); Ghosh, Roughgarden, Sundararajan 2012.
    """

    name: ClassVar[str] = "geo-local"
    most_a_side: ClassVar[int] = 2048

    @property
    def costs(self) -> reports.Costs:
        return _costs(self.lattice, *self.tables)

    @property
    def tables(self) -> tuple[NoiseTable, NoiseTable]:
        """Returns the tables of columns and of rows, each on a lattice of one row."""
        return (
            axis_table(self.lattice.columns, self.lattice.column_m, self.decay_per_m),
            axis_table(self.lattice.rows, self.lattice.row_m, self.decay_per_m),
        )

    def release(self, cells: Cells, rng: RandomSource) -> Cells:
        zeros = np.zeros_like(cells[0])
        columns, rows = (
            table.draw((index, zeros), rng)[0] for table, index in zip(self.tables, cells, strict=True)
        )
        return columns, rows

    def expected_error(self) -> PointError:
        across, along = (table.displacements()[:, 0] for table in self.tables)
        return reports.point_error(np.outer(across, along), self.lattice.distances_m())


@lru_cache(maxsize=8)
def _costs(lattice: Lattice, columns: NoiseTable, rows: NoiseTable) -> reports.Costs:
    across, along = columns.loss_per_metre(), rows.loss_per_metre()
    per_metre = root_up(across**2 + along**2)
    snap_m = Fraction(0)
    if lattice.snapped and per_metre:
        snap_m = (across * lattice.column_m + along * lattice.row_m) / per_metre + lattice.rounding_m
    return reports.Costs(per_metre=per_metre, cap=columns.cap() + rows.cap(), snap_m=snap_m)


@lru_cache(maxsize=16)
def axis_table(side: int, cell_m: Fraction, decay_per_m: Fraction) -> NoiseTable:
    """Returns the table of noise along one row of `side` cells;
    what lies beyond its ends is stopped there.
    """
    law = np.exp(-float(decay_per_m * cell_m) * np.arange(side))
    law[-1] /= -np.expm1(-float(decay_per_m * cell_m))  # all offsets beyond
    return NoiseTable.of(Lattice(columns=side, rows=1, column_m=cell_m), law[:, np.newaxis])
