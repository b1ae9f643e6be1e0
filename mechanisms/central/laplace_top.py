"""Noise in every cell, then only the largest cells are kept."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

from mechanisms.calibration import check_masses, checked_epsilon, level_of, mass_unit, noise_scale
from mechanisms.central.laplace import HIGHEST_RESOLUTION
from mechanisms.central.noisy_cells import heatmap_of_cells, largest, noisy_cells
from mechanisms.check import exact_decimal
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.interface import Heatmap, MassMap, RandomSource, Target
from mechanisms.prediction import ErrorBound, noise_with_selection

DEFAULT_KEEP_PERCENT: Final = Fraction(1, 100)  # the paper's "top 0.01 %": 7 of 65,536 cells


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceTop:
    """Discrete Laplace noise is added to every cell's mass; the top `keep_percent` % of cells stay.

    Guarantee: as `Laplace`: `Guarantee.flat(epsilon)`, delta 0, between neighbours of `relation`. Which
    cells stay is decided from noisy values alone, so it is post-processing.
    Edge cases: at least one cell is kept (the number is rounded up); equal values are kept in Morton
    order; kept values that are not above 0 are cut. All 0 makes a uniform dense map.
    Error: `expected_error`; `standard_errors` are those of a cell's noise, before selection: a cell that
    was selected for being large is biased upwards by more than that.
    References: Ghazi et al., "Differentially Private Heatmaps", 2022, §4 (the thresholding baseline).
    """

    name: ClassVar[str] = "laplace-top"
    relation: Relation
    epsilon: Fraction
    resolution: int  # cells a side
    keep_percent: Fraction = DEFAULT_KEEP_PERCENT  # of all cells

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation(self.relation))
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        level_of(self.resolution, highest=HIGHEST_RESOLUTION)
        keep = exact_decimal("keep_percent", self.keep_percent, low=0, low_open=True, high=100)
        object.__setattr__(self, "keep_percent", keep)
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

    @property
    def kept_cells(self) -> int:
        return math.ceil(self.resolution**2 * self.keep_percent / 100)

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        level = level_of(self.resolution, highest=HIGHEST_RESOLUTION)
        check_masses(masses, level=level, unit=self.unit)
        noisy = noisy_cells(masses, rng, self.scale)
        cells = largest(noisy, self.kept_cells)
        return heatmap_of_cells(level, cells, noisy[cells], unit=self.unit, scale=self.scale)

    def expected_error(self, *, persons: int) -> ErrorBound:
        scale_persons = float((self.scale + 1) / self.unit)  # |noise| ≤ exponential + 1 unit
        return noise_with_selection(
            scale_persons, cells=self.resolution**2, kept=self.kept_cells, persons=persons
        )
