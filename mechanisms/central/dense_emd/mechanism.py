"""Aggregates under the earth mover's distance without any sparsity: one grid as fine as the noise allows."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.calibration import check_masses, noise_scale
from mechanisms.central.dense_emd.nearest_map import nearest_map
from mechanisms.central.expected_persons import GuessedPersons
from mechanisms.central.grid_laplace.empty_cells import significant_by_sums
from mechanisms.central.grid_laplace.noisy_cells import standard_deviation
from mechanisms.error_bounds import noise_in_one_grid
from mechanisms.expected_error import ErrorBound
from mechanisms.guarantee import Guarantee
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap
from mechanisms.samplers.discrete_laplace import discrete_laplace
from mechanisms.space.grid import parent

FINEST_GRID: Final = 8  # level; 65,536 noisy cells, and a flow between them that takes seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseEmd(GuessedPersons):
    """Measures every cell of a grid of about √(epsilon · n) cells a side, and releases the nearest map.

    Guarantee: `Guarantee.flat(epsilon)`, delta 0, between neighbours of `relation`. The grid follows from
    public numbers, a person changes its masses by at most 1 in L1 (ADD_REMOVE) or 2 (REPLACE), noise is
    scaled to that (Dwork, McSherry, Nissim, Smith 2006, in integers), and finding the nearest map that is
    nowhere negative is post-processing. Proof of Theorem D.1 of Ghazi et al. 2022, privacy part.
    Edge cases: the grid has from 2 to 2^8 cells a side and is never finer than the map. `expected_persons`
    steers utility only. No mass left makes a uniform dense map.
    Error: `expected_error`, about (epsilon · n)^(-1/2) for any data; no standard errors, as the nearest map
    moves mass between cells. `deviations` are those of the noise before that: what is missing from a cell is
    taken from near ones, so that noise in sums becomes no more. No proof; two hold .96 to .99 of districts of
    the cities that `test_areas.py` measures. Cells told apart from empty ones: by Benjamini, Hochberg 1995
    over the measured grid, before that (`empty_cells`).
    References: Ghazi, He, Kohlhoff, Kumar, Manurangsi, Navalpakkam, Valliappan, "Differentially Private
    Heatmaps", 2022, Appendix D.
    """

    name: ClassVar[str] = "dense-emd"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee.flat(relation=self.relation, epsilon=self.epsilon)

    @property
    def scale(self) -> Fraction:
        """Returns the scale of the noise in a cell, in mass units."""
        return noise_scale(self.relation, self.epsilon, self.unit)

    @property
    def grid_level(self) -> int:
        """Returns ℓ* = ⌊log2 √(epsilon · n)⌋ within its bounds: the level that is measured."""
        weight = int(self.epsilon * self.expected_persons)
        return min(max((weight.bit_length() - 1) // 2, 1), FINEST_GRID, self.level)

    def measure(self, masses: MassMap, rng: RandomSource) -> NDArray[np.int64]:
        """Draws the private part of `release`: `(4^grid_level,)` noisy mass units, in Morton order."""
        check_masses(masses, level=self.level, unit=self.unit)
        noisy = discrete_laplace(rng, scale=self.scale, size=4**self.grid_level)
        np.add.at(noisy, parent(masses.cells, self.level - self.grid_level), masses.masses)
        return noisy

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        noisy = self.measure(masses, rng)
        return Heatmap(
            level=self.level,
            levels=np.full(noisy.size, self.grid_level, dtype=np.uint8),
            prefixes=np.arange(noisy.size),
            values=nearest_map(noisy, level=self.grid_level) / self.unit,
            standard_errors=np.full(noisy.size, np.nan),
            deviations=np.full(noisy.size, standard_deviation(self.scale) / self.unit),
            significant=significant_by_sums(noisy, level=self.grid_level, scale=self.scale),
        )

    def expected_error(self, *, persons: int) -> ErrorBound:
        return noise_in_one_grid(
            standard_deviation(self.scale) / self.unit,
            level=self.grid_level,
            finest=self.level,
            persons=persons,
        )
