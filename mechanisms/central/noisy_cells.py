"""What the mechanisms share that put noise into the cells of one grid."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechanisms.interface import Heatmap, MassMap, RandomSource
from mechanisms.samplers.discrete_laplace import discrete_laplace


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
