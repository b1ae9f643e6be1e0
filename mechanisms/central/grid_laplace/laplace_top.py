"""Adds noise in every cell, then keeps only the largest cells."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np

from mechanisms.central.grid_laplace.empty_cells import significant_by_best_cell
from mechanisms.central.grid_laplace.noisy_cells import NoisyGrid, largest
from mechanisms.check import exact_decimal
from mechanisms.error_bounds import noise_with_selection
from mechanisms.expected_error import WITHIN_ERRORS, ErrorBound
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.significance import SignificantSquares, low_ends

DEFAULT_KEEP_PERCENT: Final = Fraction(1, 100)  # the paper's "top 0.01 %": 7 of 65,536 cells


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceTop(NoisyGrid):
    """Adds discrete Laplace noise to every cell's mass; the top `keep_percent` % of cells stay.

    Guarantee: as `NoisyGrid`: `Guarantee.flat(epsilon)`, delta 0, between neighbours of `relation`. Which
    cells stay is decided from noisy values alone, so it is post-processing.
    Edge cases: at least one cell is kept (the number is rounded up); equal values are kept in Morton
    order; kept values that are not above 0 are cut. All 0 makes a uniform dense map.
    Error: `expected_error`; `standard_errors` are those of a cell's noise, before selection: a cell that
    was selected for being large is biased upwards by more than that, which its interval takes in. Cells told
    apart from empty ones: by Benjamini, Hochberg 1995 over all cells, those that are not kept included
    (`empty_cells`).
    References: Ghazi et al., "Differentially Private Heatmaps", 2022, §4 (the thresholding baseline).
    """

    name: ClassVar[str] = "laplace-top"
    keep_percent: Fraction = DEFAULT_KEEP_PERCENT  # of all cells

    def __post_init__(self) -> None:
        NoisyGrid.__post_init__(self)  # super() knows the class only as it was before slots were added
        keep = exact_decimal("keep_percent", self.keep_percent, low=0, low_open=True, high=100)
        object.__setattr__(self, "keep_percent", keep)

    @property
    def kept_cells(self) -> int:
        return math.ceil(self.resolution**2 * self.keep_percent / 100)

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        noisy = self.measure(masses, rng)
        cells = largest(noisy, self.kept_cells)
        significant = significant_by_best_cell(cells, noisy[cells], level=self.level, scale=self.scale)
        heatmap = self.heatmap(cells, noisy, significant)
        return (
            heatmap
            if cells.size == noisy.size
            else self._for_being_large(heatmap, significant, int(noisy[cells].min()))
        )

    def _for_being_large(self, heatmap: Heatmap, significant: SignificantSquares, least: int) -> Heatmap:
        """Returns the map with intervals of cells that were kept
        for being at least this large, in mass units.
        """
        scale = np.full(heatmap.values.size, float(self.scale / self.unit))
        selected_lows = low_ends(heatmap.values, floor=least / self.unit, scale=scale)
        # What was told apart, besides, was chosen for being above the floor of that; none may have been.
        floor = np.fmax(heatmap.significance_floor, least / self.unit)
        lows = np.where(
            significant.has(heatmap.levels, heatmap.prefixes),
            low_ends(heatmap.values, floor=float(floor), scale=scale),
            selected_lows,
        )
        return replace(heatmap, lows=lows, highs=heatmap.values + WITHIN_ERRORS * heatmap.standard_errors)

    def expected_error(self, *, persons: int) -> ErrorBound:
        return noise_with_selection(
            self.scale_persons, cells=self.resolution**2, selected=self.kept_cells, persons=persons
        )
