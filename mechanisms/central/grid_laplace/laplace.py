"""Adds noise in every cell: the baseline."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.central.grid_laplace.empty_cells import significant_by_sums
from mechanisms.central.grid_laplace.noisy_cells import NoisyGrid
from mechanisms.error_bounds import noise_in_every_cell
from mechanisms.expected_error import ErrorBound
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap


@dataclass(frozen=True, slots=True, kw_only=True)
class Laplace(NoisyGrid):
    """Adds discrete Laplace noise to the mass of every cell, then cuts negative values to 0.

    Guarantee: as `NoisyGrid`: `Guarantee.flat(epsilon)`, delta 0, between neighbours of `relation`. Cutting
    and leaving out are post-processing.
    Edge cases: no mass at all is released like any other input; all values 0 makes a uniform dense map.
    Error: `expected_error`; `standard_errors` are those of a cell's noise; cells that were cut to 0 are no
    farther off. Cells told apart from empty ones: by Benjamini, Hochberg 1995 over all cells (`empty_cells`).
    References: Liu et al., ETRA 2019, as run in Ghazi et al., "Differentially Private Heatmaps", 2022, §4.
    """

    name: ClassVar[str] = "laplace"

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        noisy = self.measure(masses, rng)
        significant = significant_by_sums(noisy, level=self.level, scale=self.scale)
        return self.heatmap(np.arange(noisy.size), noisy, significant)

    def expected_error(self, *, persons: int) -> ErrorBound:
        return noise_in_every_cell(self.scale_persons, cells=self.resolution**2, persons=persons)
