"""Computes posterior masses of a tree's leaves given noisy masses of its nodes, by exact message passing.

The model: masses split down the binary tree by `SplitPrior`, the root's mass is anything, and each
measurement y of a mass m with noise of scale s has likelihood exp(-|y - m| / s). A tree has no loops, so one
pass up and one down give every node's posterior (Pearl 1988). Masses live on a grid; where these are large
the grid is coarse and the prior has little to say, and linear estimates weigh in by their precision.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.central.adaptive.binary_tree import (
    Depth,
    Estimate,
    Measured,
    binary_tree,
    bounds,
    linear_estimates,
)
from mechanisms.central.adaptive.leaf_posterior import Spread, mean_spread, spread, within
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.central.adaptive.quadtree_cut import Cut
from mechanisms.central.adaptive.split_prior import (
    SplitPrior,
    SplitTable,
    mass_grid,
    split_table,
)

REACH: Final = 30.0  # noise scales; noise beyond has probability exp(-30)
LARGE: Final = 40.0  # noise scales, from which on linear estimates help to set the shares of both halves
# The leaves of a square add up to no more than so many of the square's own deviations, where the linear
# estimate says the same: few enough for sums of whole squares, enough for sums that cut through them.
_OWN_DEVIATIONS: Final = 4.0
# Where nothing above was measured, of what the linear estimate says otherwise so much counts as error.
LINEAR_PART: Final = 1.0
_FINE, _COARSE, _MUCH = 0.06, 0.15, 1e4  # growth of the mass grid, and the mass from which on it is coarse
_FLOOR: Final = 1e-80  # messages never vanish, whatever the noise was
_FEWEST: Final = 24  # grid masses of the smallest table
_ENTRIES_AT_ONCE: Final = 2_000_000  # pairs times nodes: 16 MB an array

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """Holds beliefs about the leaves, the finest of all measured nodes; masses in the measurements' unit."""

    nodes: Nodes
    mean: Floats = field(repr=False)  # (k,)
    deviation: Floats = field(repr=False)  # (k,) to be added in quadrature: by the model, held by squares
    spread: Spread = field(repr=False)

    @property
    def cut(self) -> Cut:
        """Returns the leaves as quadtree cells, where the tree is one."""
        return Cut.of_nodes(self.nodes)


def posterior_both_ways(
    measured: Sequence[Measured], *, scale_persons: float, is_raised: bool = False
) -> Posterior:
    """Returns the posterior of quadtree cells: mean of two models,
    squares split into rows first, or into columns first.
    """
    rows_first = posterior(measured, scale_persons=scale_persons, is_raised=is_raised)
    turned = []
    for part in measured:
        cut, order = Cut.of_nodes(part.nodes).turned()
        turned.append(replace(part, nodes=cut.nodes, noisy=part.noisy[order]))
    columns_first = posterior(turned, scale_persons=scale_persons, is_raised=is_raised)
    _, order = columns_first.cut.turned()
    means = np.stack((rows_first.mean, columns_first.mean[order]))
    variances = np.stack((rows_first.deviation, columns_first.deviation[order])) ** 2
    deviation = np.sqrt(variances.mean(axis=0) + means.var(axis=0))
    spread = mean_spread(rows_first.spread, columns_first.spread.reordered(order))
    return Posterior(nodes=rows_first.nodes, mean=means.mean(axis=0), deviation=deviation, spread=spread)


def posterior(measured: Sequence[Measured], *, scale_persons: float, is_raised: bool = False) -> Posterior:
    """Returns posterior means and deviations. Total: any finite measurements of cuts have one.

    scale_persons: the unit of all masses in persons; the smallest noise's scale is about 1. is_raised: leaves
    alone were measured, so that sums are as far off as nodes above them are (`raised_by_nodes`).
    """
    depths = binary_tree(measured)
    highest = bounds(depths, reach=REACH)
    growth = _FINE if highest[0][0] <= _MUCH else _COARSE
    prior = SplitPrior(persons=scale_persons, growth=growth)
    sizes = _sizes([bound.astype(np.float64) for bound in highest], growth)
    messages = _upwards(depths, sizes, prior)
    return _downwards(depths, sizes, messages, prior, is_raised=is_raised)


def _sizes(highest: Sequence[Floats], growth: float) -> list[Integers]:
    """Returns the number of the grid's masses for each node, rounded up to one of a few sizes."""
    ladder = [_FEWEST]
    while mass_grid(ladder[-1], growth)[-1] < highest[0][0]:
        ladder.append(ladder[-1] * 5 // 4)
    tops = np.array([mass_grid(size, growth)[-1] for size in ladder])
    # A child may be bounded less tightly than its parent; it needs no more than its parent has.
    places = [np.minimum(np.searchsorted(tops, bound), len(ladder) - 1) for bound in highest]
    return [np.array(ladder)[place] for place in places]


def _upwards(depths: Sequence[Depth], sizes: Sequence[Integers], prior: SplitPrior) -> list[Floats]:
    """Returns for each depth (g, k): likelihood of all that was measured
    in and below a node, largest value 1.
    """
    messages: list[Floats] = []
    widest = [int(size.max()) for size in sizes]
    for number in reversed(range(len(depths))):
        depth, size = depths[number], sizes[number]
        grid = mass_grid(max(widest[max(number - 1, 0) : number + 1]), prior.growth)
        message = _likelihood(depth, grid)
        if messages:
            for table, nodes, children in _batches(depth, size, prior):
                pairs = _Pairs(table, messages[-1], children)
                message[: table.grid.size, nodes] *= pairs.summed(table)
        outside = np.arange(grid.size)[:, np.newaxis] >= size
        message[outside] = 0.0
        message /= np.maximum(message.max(axis=0), np.finfo(np.float64).tiny)
        np.maximum(message, _FLOOR, out=message)
        message[outside] = 0.0
        messages.append(message)
    return messages[::-1]


def _downwards(
    depths: Sequence[Depth],
    sizes: Sequence[Integers],
    messages: Sequence[Floats],
    prior: SplitPrior,
    *,
    is_raised: bool,
) -> Posterior:
    linear = linear_estimates(depths)
    grid = mass_grid(messages[0].shape[0], prior.growth)
    steps = np.diff(grid, prepend=0.0, append=grid[-1])
    belief = messages[0] * (steps[1:] + steps[:-1])[:, np.newaxis]  # a flat prior, on uneven steps
    belief /= belief.sum()
    mass = grid @ belief
    above = np.ones(1, np.bool_)
    mass = np.where(mass > LARGE, np.maximum(linear[0].mean, 0), mass)
    leaves: list[tuple[Integers | Floats, ...]] = []
    raised: list[tuple[Integers, Floats]] = []  # for each depth nodes above all measured, and how far off
    for number, depth in enumerate(depths):
        leaf = ~depth.inner
        here = np.full(int(leaf.sum()), number, np.int64)
        own = _deviation(belief, linear[number], prior)
        if len(depth.codes) == 1 << number:  # all nodes of a depth: at last that of the coarsest leaves
            most = np.hypot(_OWN_DEVIATIONS * own, mass - linear[number].mean)
        for measurement in depth.measurements:
            above[measurement.places] = False
        above &= depth.inner
        off = np.hypot(own, LINEAR_PART * (mass - linear[number].mean))
        raised.append((depth.codes[above], off[above]))
        leaves.append((here, depth.codes[leaf], mass[leaf], own[leaf], *_spread(depth, belief, prior)))
        if number + 1 < len(depths):
            above = np.repeat(above[depth.inner], 2)
            belief = _pass_down(depth, sizes[number], belief, messages[number + 1], prior)
            mass = _shared(mass[depth.inner], belief, linear[number + 1], prior)
    depths_of, codes, *columns = (np.concatenate(parts) for parts in zip(*leaves, strict=True))
    nodes, order = Nodes.sorted(depths_of, codes)
    means, deviations, low, high, empty = (values[order] for values in columns)
    spread = Spread(low=np.minimum(low, means), high=np.maximum(high, means), empty=empty)
    adjusted = held_by_nodes(nodes, deviations, most)
    if is_raised:
        adjusted = raised_by_nodes(nodes, adjusted, raised)
    return Posterior(nodes=nodes, mean=means, deviation=adjusted, spread=spread)


def held_by_nodes(nodes: Nodes, deviations: Floats, most: Floats) -> Floats:
    """Returns `(k,)` deviations, smaller in nodes whose leaves add up in quadrature to more than `most`.

    most: (2^depth,) of all nodes of the depth of the coarsest leaves. Such a node was measured as well as its
    leaves, whose errors therefore make up for each other.
    """
    node = nodes.codes >> nodes.depths - nodes.depths.min()
    added = np.sqrt(np.bincount(node, deviations**2, minlength=most.size))
    adjusted: Floats = deviations * np.divide(most, added, out=np.ones_like(most), where=added > most)[node]
    return adjusted


def raised_by_nodes(nodes: Nodes, deviations: Floats, raised: Sequence[tuple[Integers, Floats]]) -> Floats:
    """Returns `(k,)` deviations, larger in nodes whose leaves add up
    in quadrature to less than what these are off.

    raised: for each depth codes of nodes, ascending, and how far they are off. The prior errs in the same
    direction in many leaves, which shows where nothing above them was measured.
    """
    result = deviations.copy()
    for depth in reversed(range(len(raised))):
        codes, off = raised[depth]
        below = np.flatnonzero(nodes.depths > depth)
        own = nodes.codes[below] >> nodes.depths[below] - depth
        place = np.minimum(np.searchsorted(codes, own), max(codes.size - 1, 0))
        is_in = codes[place] == own if codes.size else np.zeros(own.size, np.bool_)
        below, place = below[is_in], place[is_in]
        added = np.sqrt(np.bincount(place, result[below] ** 2, minlength=codes.size))
        times = np.divide(off, added, out=np.ones_like(off), where=(off > added) & (added > 0))
        result[below] *= times[place]
    return result


def _spread(depth: Depth, belief: Floats, prior: SplitPrior) -> tuple[Floats, Floats, Floats]:
    """Returns (low, high, empty) of the leaves of a depth; a leaf is a finest measured node,
    so it was itself measured.
    """
    precision, fourth, total = (np.zeros(depth.codes.size) for _ in range(3))
    for measurement in depth.measurements:
        precision[measurement.places] += measurement.scale**-2
        fourth[measurement.places] += measurement.scale**-4
        total[measurement.places] += measurement.noisy / measurement.scale**2
    leaf = ~depth.inner
    intervals = spread(
        mass_grid(belief.shape[0], prior.growth),
        belief[:, leaf],
        total[leaf] / precision[leaf],
        within(precision[leaf], times=precision[leaf] ** 2 / fourth[leaf]),
        scale_persons=prior.persons,
    )
    return intervals.low, intervals.high, intervals.empty


def _likelihood(depth: Depth, grid: Floats) -> Floats:
    values = np.ones((grid.size, depth.codes.size))
    for measurement in depth.measurements:
        likelihood = averaged_laplace(grid / measurement.scale, measurement.noisy / measurement.scale)
        values[:, measurement.places] *= likelihood / likelihood.max(axis=0)
    return values


def averaged_laplace(grid: Floats, noisy: Floats) -> Floats:
    """Returns (g, k): exp(-|noisy - m|) averaged over the hat function of each grid mass m.

    On steps wider than the noise, values at the grid masses alone would forget where between two of them
    a measurement lies. From second differences of exp(-|x|) + |x|, whose second derivative it is; those
    of |x| are exactly 0 unless a measurement lies between the three masses.
    """
    points = np.concatenate(([-grid[1]], grid, [2 * grid[-1] - grid[-2]]))
    step = np.diff(points)[:, np.newaxis]
    away = points[:, np.newaxis] - noisy
    smooth = np.diff(np.exp(-np.abs(away)), axis=0) / step
    kinked = np.where(away[1:] <= 0, -1.0, np.where(away[:-1] >= 0, 1.0, (away[1:] + away[:-1]) / step))
    hats = (points[2:] - points[:-2])[:, np.newaxis] / 2
    averaged: Floats = np.maximum(np.diff(smooth, axis=0) + np.diff(kinked, axis=0), _FLOOR) / hats
    return averaged


class _Pairs:
    """Returns messages of two children at all pairs of a table: (p, nodes) in both orders."""

    def __init__(self, table: SplitTable, below: Floats, children: Integers) -> None:
        size = table.grid.size
        self.first, self.second = below[:size, children], below[:size, children + 1]
        self.first_part, self.second_part = self.first[table.part], self.second[table.part]
        self.first_rest, self.second_rest = table.rest @ self.first, table.rest @ self.second

    def summed(self, table: SplitTable) -> Floats:
        """Returns (g, nodes) likelihood of each mass of the parent: the sum over its splits."""
        both: Floats = self.first_part * self.second_rest
        both += self.first_rest * self.second_part
        result: Floats = table.sums @ both
        return result


def _batches(
    depth: Depth, size: Integers, prior: SplitPrior
) -> Iterator[tuple[SplitTable, Integers, Integers]]:
    """Yields (table, inner nodes, their first children), such that intermediate arrays stay small."""
    inner = np.flatnonzero(depth.inner)
    for count in np.unique(size[inner]).tolist():
        table = split_table(prior, count)
        order = np.flatnonzero(size[inner] == count)
        step = max(1, _ENTRIES_AT_ONCE // table.part.size)
        for start in range(0, order.size, step):
            batch = order[start : start + step]
            yield table, inner[batch], 2 * batch


def _pass_down(depth: Depth, size: Integers, belief: Floats, below: Floats, prior: SplitPrior) -> Floats:
    """Returns (g, k) beliefs of the next depth:
    sums over all splits of the parents that lead to each mass.
    """
    result = np.zeros_like(below)
    for table, nodes, children in _batches(depth, size, prior):
        rows = table.grid.size
        pairs = _Pairs(table, below, children)
        total = pairs.summed(table)
        parent = belief[:rows, nodes]
        odds = np.divide(parent, total, out=np.zeros_like(parent), where=total > 0)
        factor = odds[table.whole] * table.weight
        result[:rows, children] = pairs.first * (
            table.part_back @ (factor * pairs.second_rest) + table.rest_back @ (factor * pairs.second_part)
        )
        result[:rows, children + 1] = pairs.second * (
            table.part_back @ (factor * pairs.first_rest) + table.rest_back @ (factor * pairs.first_part)
        )
    sums = result.sum(axis=0)
    result /= np.where(sums > 0, sums, 1)
    return result


def _shared(mass: Floats, belief: Floats, linear: Estimate, prior: SplitPrior) -> Floats:
    """Returns masses of the children by their posterior shares,
    or where both are large by weighted estimates.
    """
    grid = mass_grid(belief.shape[0], prior.growth)
    mean = grid @ belief
    large = np.minimum(mean, linear.mean)
    both = np.minimum(large[0::2], large[1::2]) > LARGE
    weighted = _weighted(mean, grid**2 @ belief - mean**2, linear, prior)
    first, second = (np.where(both, weighted[side::2], mean[side::2]) for side in (0, 1))
    total = first + second
    share = np.divide(first, total, out=np.full(total.size, 0.5), where=total > 0)
    children: Floats = np.stack((mass * share, mass * (1 - share)), axis=1).ravel()
    return children


def _weighted(mean: Floats, variance: Floats, linear: Estimate, prior: SplitPrior) -> Floats:
    """Returns posterior and linear estimates of masses, by their precisions.

    The posterior knows that most cells are empty, the linear estimate of a node far above its measurements
    adds up all their noise; but the posterior leans on a prior that is not the truth. Both come from the
    same measurements, so this is no optimum, and is better than either (`reproduction/adaptive_accuracy.py`).
    """
    rounding = (prior.growth * mean) ** 2 / 12  # of a mass to the grid: a belief may stand on one point
    doubt = np.maximum(variance, 0) + rounding
    weighted: Floats = mean + (linear.mean - mean) * doubt / (doubt + linear.variance)
    return weighted


def _deviation(belief: Floats, linear: Estimate, prior: SplitPrior) -> Floats:
    """Returns the deviation of a node's belief; no more than the linear estimate's where the grid is too
    coarse to tell.
    """
    grid = mass_grid(belief.shape[0], prior.growth)
    mean = grid @ belief
    deviation = np.sqrt(np.maximum(grid**2 @ belief - mean**2, 0))
    return np.where(mean > LARGE, np.minimum(deviation, np.sqrt(linear.variance)), deviation)
