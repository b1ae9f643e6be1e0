"""What the mechanisms share that put noise into the cells of one grid."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.calibration import check_masses, checked_epsilon, level_of, mass_unit, noise_scale
from mechanisms.guarantee import Guarantee, Relation
from mechanisms.interface import Heatmap, MassMap, RandomSource, Target
from mechanisms.samplers.discrete_laplace import discrete_laplace

HIGHEST_RESOLUTION: Final = 1024  # a million noisy cells


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyGrid:
    """Discrete Laplace noise is added to the mass of every cell; what is made of it, subclasses say.

    Guarantee: `Guarantee.flat(epsilon)`, delta 0, between neighbours of `relation`. The masses change by
    at most 1 person in L1 (ADD_REMOVE) or 2 (REPLACE), noise is scaled to that: Dwork, McSherry, Nissim,
    Smith 2006 (Lemma 2.2 of Ghazi et al. 2022), in integers. What subclasses do is post-processing.
    """

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

    @property
    def scale_persons(self) -> float:
        """Bound on the mean of |noise|, in persons: at most an exponential variable plus one unit."""
        return float((self.scale + 1) / self.unit)

    def measure(self, masses: MassMap, rng: RandomSource) -> NDArray[np.int64]:
        """The private part of `release`: the noisy mass of every cell, in Morton order."""
        level = level_of(self.resolution, highest=HIGHEST_RESOLUTION)
        check_masses(masses, level=level, unit=self.unit)
        return noisy_cells(masses, rng, self.scale)

    def heatmap(self, cells: NDArray[np.int64], noisy: NDArray[np.int64]) -> Heatmap:
        """Of chosen cells and their noisy masses."""
        level = level_of(self.resolution, highest=HIGHEST_RESOLUTION)
        return heatmap_of_cells(level, cells, noisy, unit=self.unit, scale=self.scale)


def noisy_cells(masses: MassMap, rng: RandomSource, scale: Fraction) -> NDArray[np.int64]:
    """`(4^level,)` mass units with noise in every cell, occupied or not, in Morton order."""
    noisy = discrete_laplace(rng, scale=scale, size=4**masses.level)
    noisy[masses.cells] += masses.masses
    return noisy


def largest(values: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Ascending places of the `count` largest values; among equal values the earlier place wins."""
    if count >= values.size:
        return np.arange(values.size)
    threshold = np.partition(values, values.size - count)[values.size - count]
    above = np.flatnonzero(values > threshold)
    level = np.flatnonzero(values == threshold)[: count - above.size]
    return np.sort(np.concatenate((above, level)))


def heatmap_of_cells(
    level: int, cells: NDArray[np.int64], noisy: NDArray[np.int64], *, unit: int, scale: Fraction
) -> Heatmap:
    """Cells of one level in persons; what is not above 0 is left out, which reads as 0."""
    positive = noisy > 0
    count = int(positive.sum())
    return Heatmap(
        level=level,
        levels=np.full(count, level, dtype=np.uint8),
        prefixes=cells[positive],
        values=noisy[positive] / unit,
        standard_errors=np.full(count, standard_deviation(scale) / unit),
    )


def standard_deviation(scale: Fraction) -> float:
    """Of the discrete Laplace law: √(2a) / (1 - a) with a = exp(-1/scale), in the scale's unit."""
    rate = float(1 / scale)
    return math.sqrt(2 * math.exp(-rate)) / -math.expm1(-rate)
