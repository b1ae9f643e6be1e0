"""Measures noisy masses of quadtree cells, level by level below the cells that were kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechanisms.central.grid_laplace.noisy_cells import largest
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.samplers.discrete_laplace import discrete_laplace
from mechanisms.space.grid import children


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredLevel:
    """Holds cells of one level whose parents were kept, with noise; already private."""

    level: int
    cells: NDArray[np.int64] = field(repr=False)  # (c,) Morton codes at `level`, ascending
    noisy: NDArray[np.int64] = field(repr=False)  # (c,) mass units
    is_selected: NDArray[np.bool_] = field(repr=False)  # (c,) the `width` largest


def measure_tree(
    masses: MassMap, rng: RandomSource, *, first_level: int, scales: Sequence[Fraction], width: int
) -> tuple[MeasuredLevel, ...]:
    """Runs Algorithm 1 with lines 3-7 of Algorithm 2 (Ghazi et al. 2022), one level per scale (mass units).

    Noise is drawn only where the reconstruction looks, in the children of kept cells: the paper draws it
    everywhere and looks at the same places, so the law of what is returned is the same.
    """
    sums = masses.interval_sums()
    candidates = np.arange(4**first_level)
    measured = []
    for level, scale in enumerate(scales, start=first_level):
        noisy = sums.within(level, candidates)
        noisy += discrete_laplace(rng, scale=scale, size=candidates.size)
        is_selected = np.zeros(candidates.size, dtype=np.bool_)
        is_selected[largest(noisy, width)] = True
        measured.append(MeasuredLevel(level=level, cells=candidates, noisy=noisy, is_selected=is_selected))
        candidates = children(candidates[is_selected])
    return tuple(measured)
