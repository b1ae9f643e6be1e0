"""Provides the base of the mechanisms that add noise to the cells of one grid."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mechanisms.calibration import check_masses, mass_unit, noise_scale
from mechanisms.central.grid_laplace.empty_cells import significance_floor
from mechanisms.guarantee import Guarantee
from mechanisms.mechanism import GridMechanism
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.significance import SignificantSquares
from mechanisms.samplers.discrete_laplace import discrete_laplace


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyGrid(GridMechanism):
    """Adds discrete Laplace noise to the mass of every cell; what is made of it, subclasses say.

    Guarantee: `Guarantee.flat(epsilon)`, delta 0, between neighbours of `relation`. The masses change by
    at most 1 person in L1 (ADD_REMOVE) or 2 (REPLACE), noise is scaled to that: Dwork, McSherry, Nissim,
    Smith 2006 (Lemma 2.2 of Ghazi et al. 2022), in integers. What subclasses do is post-processing.
    """

    highest_resolution: ClassVar[int] = 1024  # a million noisy cells

    def __post_init__(self) -> None:
        GridMechanism.__post_init__(self)  # super() knows the class only as it was before slots were added
        mass_unit(self.relation, self.epsilon)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee.flat(relation=self.relation, epsilon=self.epsilon)

    @property
    def unit(self) -> int:
        """Returns mass units of one person."""
        return mass_unit(self.relation, self.epsilon)

    @property
    def scale(self) -> Fraction:
        """Returns the scale of the noise in a cell, in mass units."""
        return noise_scale(self.relation, self.epsilon, self.unit)

    @property
    def scale_persons(self) -> float:
        """Returns a bound on the mean of |noise|, in persons:
        at most an exponential variable plus one unit.
        """
        return float((self.scale + 1) / self.unit)

    def measure(self, masses: MassMap, rng: RandomSource) -> NDArray[np.int64]:
        """Draws the private part of `release`: the noisy mass of every cell, in Morton order."""
        check_masses(masses, level=self.level, unit=self.unit)
        return noisy_cells(masses, rng, self.scale)

    def heatmap(
        self, cells: NDArray[np.int64], measured: NDArray[np.int64], significant: SignificantSquares
    ) -> Heatmap:
        """Returns the map of these cells among the measured ones; what is not above 0 is left out, which
        reads as 0.
        """
        noisy = measured[cells]
        positive = noisy > 0
        count = int(positive.sum())
        return Heatmap(
            level=self.level,
            levels=np.full(count, self.level, dtype=np.uint8),
            prefixes=cells[positive],
            values=noisy[positive] / self.unit,
            standard_errors=np.full(count, self.error_persons),
            significant=significant,
            # A cell cut to 0 is no farther off than its noise; one that was not kept may be.
            cut_error=self.error_persons if cells.size == measured.size else math.nan,
            significance_floor=significance_floor(
                significant.at(self.level).size, of=measured.size, scale=self.scale
            )
            / self.unit,
            total=float(measured.sum()) / self.unit,
            total_error=self.error_persons * self.resolution,
        )

    @property
    def error_persons(self) -> float:
        """Returns the standard deviation of a cell's noise, in persons."""
        return standard_deviation(self.scale) / self.unit


def noisy_cells(masses: MassMap, rng: RandomSource, scale: Fraction) -> NDArray[np.int64]:
    """Returns `(4^level,)` mass units with noise in every cell, occupied or not, in Morton order."""
    noisy = discrete_laplace(rng, scale=scale, size=4**masses.level)
    noisy[masses.cells] += masses.masses
    return noisy


def largest(values: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Returns ascending places of the `count` largest values; among equal values the earlier place wins."""
    if count >= values.size:
        return np.arange(values.size)
    threshold = np.partition(values, values.size - count)[values.size - count]
    above = np.flatnonzero(values > threshold)
    level = np.flatnonzero(values == threshold)[: count - above.size]
    return np.sort(np.concatenate((above, level)))


def standard_deviation(scale: Fraction) -> float:
    """Returns, for the discrete Laplace law, √(2a) / (1 - a)
    with a = exp(-1/scale), in the scale's unit.
    """
    rate = float(1 / scale)
    return math.sqrt(2 * math.exp(-rate)) / -math.expm1(-rate)
