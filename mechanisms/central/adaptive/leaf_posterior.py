"""Computes a cell's interval and how likely the cell is empty from the belief about its mass.

A belief is a distribution over the masses of a grid, in noise scales; each grid mass stands for those that
are nearer to it than to any other, evenly, and 0 for itself.
"""

from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

EMPTY_BELOW_PERSONS: Final = 0.5
_TAIL: Final = 0.025  # on either side of an interval
# Noise of one measurement stays within so many noise scales in 95 of 100 draws, exp(-x) = .05, and that of
# the mean of two equal ones, (1 + x) exp(-2x) = .05.
_WITHIN_ONE: Final = 2.9958
_WITHIN_TWO: Final = 2.0569


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """Holds intervals of cells' masses, in noise scales, and how likely the cells are empty."""

    low: Floats = field(repr=False)  # (k,) ends of 95 % intervals
    high: Floats = field(repr=False)  # (k,)
    empty: Floats = field(repr=False)  # (k,) probability of less than half a person

    def reordered(self, order: Integers) -> Self:
        """Returns the same cells in another order."""
        return type(self)(low=self.low[order], high=self.high[order], empty=self.empty[order])


def spread(grid: Floats, belief: Floats, measured: Floats, within: Floats, *, scale_persons: float) -> Spread:
    """Returns the spread of beliefs (g, k) about cells that were measured, `measured` on average.

    within: (k,) how far the noise of that average goes in 95 of 100 draws.

    A belief leans on a prior: intervals from it alone miss masses that the prior took for empty, and those
    from the measurement alone miss masses that look large by their noise. So they hold both.
    """
    edges = np.concatenate(((grid[1:] + grid[:-1]) / 2, grid[-1:]))
    below = np.cumsum(belief, axis=0)
    return Spread(
        low=np.minimum(_quantile(edges, below, _TAIL), np.maximum(measured - within, 0)),
        high=np.maximum(_quantile(edges, below, 1 - _TAIL), measured + within),
        empty=_empty(edges, belief, EMPTY_BELOW_PERSONS / scale_persons),
    )


def within(precision: Floats, *, times: Floats) -> Floats:
    """Returns (k,) how far the noise of averages by precision goes in 95 of 100 draws.

    precision: sum of 1 / scale² of the measurements. times: how many equal ones would have the same weights,
    from 1 on; between one and two the law is interpolated, and means of more are nearer to normal.
    """
    second = np.minimum(times - 1, 1)
    reach = (1 - second) * _WITHIN_ONE + second * _WITHIN_TWO * np.sqrt(2)
    distances: Floats = reach / np.sqrt(precision)
    return distances


def mean_spread(first: Spread, second: Spread) -> Spread:
    """Returns the mean of two models of the same cells."""
    return Spread(
        low=(first.low + second.low) / 2,
        high=(first.high + second.high) / 2,
        empty=(first.empty + second.empty) / 2,
    )


def likely_occupied(empty: Floats, *, rate: float) -> NDArray[np.bool_]:
    """Tells of each cell whether it is occupied: `(k,)`.

    True for the most cells that, by these probabilities, are empty on average no more than the rate.
    """
    order = np.argsort(empty, kind="stable")
    mean = np.cumsum(empty[order]) / np.arange(1, empty.size + 1)
    is_occupied = np.zeros(empty.size, np.bool_)
    is_occupied[order[: int(np.searchsorted(mean, rate, side="right"))]] = True
    return is_occupied


def _quantile(edges: Floats, below: Floats, share: float) -> Floats:
    """Returns the masses below which this share of each belief lies: `(k,)`.

    `edges` are the upper ends of its parts.
    """
    part = np.minimum((below < share).sum(axis=0), edges.size - 1)
    cells = np.arange(below.shape[1])
    before = np.where(part > 0, below[part - 1, cells], 0.0)
    start = np.where(part > 0, edges[part - 1], 0.0)
    inside = below[part, cells] - before
    fraction = np.divide(share - before, inside, out=np.ones_like(inside), where=inside > 0)
    quantile: Floats = start + np.clip(fraction, 0, 1) * (edges[part] - start)
    return quantile


def _empty(edges: Floats, belief: Floats, mass: float) -> Floats:
    starts = np.concatenate(([0.0], edges[:-1]))
    widths = np.maximum(edges - starts, np.finfo(np.float64).tiny)
    shares = np.clip((mass - starts) / widths, 0, 1)
    shares[0] = 1.0  # the first part stands for no mass at all
    empty: Floats = shares @ belief
    return empty
