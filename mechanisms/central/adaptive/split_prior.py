"""Holds a prior for how a cell's mass divides between its two halves, as a table on a grid of masses."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import betainc

_FIRST_STEP: Final = 1.0  # noise scales, near 0
# With probability lone / (1 + fading · √persons) all mass is in one half, else Beta(shape, shape). Taken from
# check-ins of other places than those that accuracy is reported on; steers utility only.
_LONE: Final = 0.9
_FADING: Final = 0.35
SHAPE: Final = 0.6

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPrior:
    """Says how masses split. growth: of the mass grid's steps, where that exceeds one noise scale."""

    persons: float  # in one noise scale, the unit of all masses here
    growth: float

    def one_sided(self, mass: float) -> float:
        """Returns the probability that all of a mass above 0 lies in one half."""
        return _LONE / (1 + _FADING * float(np.sqrt(mass * self.persons)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SplitTable:
    """Lists all ways in which the masses of a grid split: `grid[whole]` into `grid[part]` and the rest.

    The part is the smaller half; each pair stands for both orders, each with the same weight. The rest is
    in general no grid mass and is interpolated between two, which keeps the mean.
    """

    grid: Floats = field(repr=False)  # (g,) noise scales
    whole: Integers = field(repr=False)  # (p,)
    part: Integers = field(repr=False)  # (p,)
    weight: Floats = field(repr=False)  # (p, 1) prior probability of the pair in one order
    rest: csr_array = field(repr=False)  # (p, g) interpolates at the rest
    rest_back: csr_array = field(repr=False)  # (g, p) its transpose
    part_back: csr_array = field(repr=False)  # (g, p) sums over pairs of equal part
    sums: csr_array = field(repr=False)  # (g, p) weighted sums over pairs of equal whole


@lru_cache(maxsize=32)
def mass_grid(size: int, growth: float) -> Floats:
    """Returns (size,) masses from 0 on: steps of one noise scale,
    then of `growth` times the mass; read-only.
    """
    points = [0.0]
    while len(points) < size:
        points.append(points[-1] + max(_FIRST_STEP, growth * points[-1]))
    grid = np.array(points)
    grid.flags.writeable = False
    return grid


@lru_cache(maxsize=128)
def split_table(prior: SplitPrior, size: int) -> SplitTable:
    """Returns the table for the first `size` masses of the grid."""
    grid = mass_grid(size, prior.growth)
    parts = [np.flatnonzero(grid <= mass / 2) for mass in grid]
    whole = np.repeat(np.arange(size), [part.size for part in parts])
    part = np.concatenate(parts)
    weight = np.concatenate(
        [_weights(prior, grid[: part.size], mass) for part, mass in zip(parts, grid, strict=True)]
    )
    pairs, shape = np.arange(whole.size), (size, whole.size)
    rest = _interpolation(grid, grid[whole] - grid[part])
    return SplitTable(
        grid=grid,
        whole=whole,
        part=part,
        weight=weight[:, np.newaxis],
        rest=rest,
        rest_back=csr_array(rest.T),
        part_back=csr_array((np.ones(pairs.size), (part, pairs)), shape=shape),
        sums=csr_array((weight, (whole, pairs)), shape=shape),
    )


def _weights(prior: SplitPrior, parts: Floats, mass: float) -> Floats:
    """Returns probabilities of the smaller half's mass, rounded to the grid,
    in one order: their sum is 1/2.
    """
    if mass == 0:
        return np.array([0.5])
    edges = np.append((parts[1:] + parts[:-1]) / 2, mass / 2)
    one_sided = prior.one_sided(mass)
    below = betainc(SHAPE, SHAPE, edges / mass)
    weights: Floats = (1 - one_sided) * np.diff(below, prepend=0.0)
    weights[0] += one_sided / 2
    return weights


def _interpolation(grid: Floats, values: Floats) -> csr_array:
    low = np.clip(np.searchsorted(grid, values, side="right") - 1, 0, grid.size - 2)
    upper = (values - grid[low]) / (grid[low + 1] - grid[low])
    rows = np.tile(np.arange(values.size), 2)
    columns = np.concatenate((low, low + 1))
    return csr_array((np.concatenate((1 - upper, upper)), (rows, columns)), shape=(values.size, grid.size))
