"""Noise in every cell: the baseline."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np

from mechanisms.calibration import check_masses, checked_epsilon, level_of, mass_unit, noise_scale
from mechanisms.central.noisy_cells import heatmap_of_cells, noisy_cells
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.interface import Heatmap, MassMap, RandomSource, Target
from mechanisms.prediction import ErrorBound, noise_in_every_cell

HIGHEST_RESOLUTION: Final = 1024  # a million noisy cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Laplace:
    """Discrete Laplace noise is added to the mass of every cell, then negative values are cut to 0.

    Guarantee: `Guarantee.flat(epsilon)`, delta 0, between neighbours of `relation`. The masses change by
    at most 1 person in L1 (ADD_REMOVE) or 2 (REPLACE), noise is scaled to that: Dwork, McSherry, Nissim,
    Smith 2006 (Lemma 2.2 of Ghazi et al. 2022), in integers. Cutting and leaving out are post-processing.
    Edge cases: no mass at all is released like any other input; all values 0 makes a uniform dense map.
    Error: `expected_error`; `standard_errors` are those of a cell's noise before negative values are cut.
    References: Liu et al., ETRA 2019, as run in Ghazi et al., "Differentially Private Heatmaps", 2022, §4.
    """

    name: ClassVar[str] = "laplace"
    relation: Relation
    epsilon: Fraction
    resolution: int  # cells a side

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation(self.relation))
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        level_of(self.resolution, highest=HIGHEST_RESOLUTION)
        mass_unit(self.relation, self.epsilon)

    @classmethod
    def calibrate(cls, target: Target, *, resolution: int, **parameters: Any) -> Self:
        return cls(relation=target.relation, epsilon=target.epsilon, resolution=resolution, **parameters)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee.flat(relation=self.relation, epsilon=self.epsilon)

    @property
    def unit(self) -> int:
        """Mass units of one person."""
        return mass_unit(self.relation, self.epsilon)

    @property
    def scale(self) -> Fraction:
        """Of the noise in a cell, in mass units."""
        return noise_scale(self.relation, self.epsilon, self.unit)

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        level = level_of(self.resolution, highest=HIGHEST_RESOLUTION)
        check_masses(masses, level=level, unit=self.unit)
        noisy = noisy_cells(masses, rng, self.scale)
        cells = np.arange(noisy.size)
        return heatmap_of_cells(level, cells, noisy, unit=self.unit, scale=self.scale)

    def expected_error(self, *, persons: int) -> ErrorBound:
        scale_persons = float((self.scale + 1) / self.unit)  # |noise| ≤ exponential + 1 unit
        return noise_in_every_cell(scale_persons, cells=self.resolution**2, persons=persons)
