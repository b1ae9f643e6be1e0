"""Computes the scales of a finite metric space from packing numbers of its balls.

Definitions of Boedihardjo, Strohmer, Vershynin, "Metric geometry of the privacy-utility tradeoff", 2024.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final

import numpy as np

from mechanisms.check import positive
from mechanisms.reproduction.boedihardjo_2024.metric_space import FiniteSpace, Floats, within
from mechanisms.reproduction.boedihardjo_2024.packing import (
    MOST_STEPS,
    Between,
    at_least,
    at_most,
    neighbourhoods,
    number_of,
)

_ROUNDING: Final = 1e-12  # relative: what may be wrong with a product or a logarithm


def entropic_scale(space: FiniteSpace, alpha: float, *, most_steps: int = MOST_STEPS) -> Between:
    """Returns s(Z, α) = inf {s > 0 : N₂(B₁(x, r), s) ≤ exp(αr) for all x and r > 0} (Definition 1.4).

    Packing numbers fall with s and change at distances only: the scale is 0 or a distance, found by
    bisection. `low` rests on sets of points that were found to be apart, `high` on groups of joined ones;
    they are equal as long as `most_steps` suffice. Errors: ValueError for α ≤ 0.
    """
    positive(alpha=alpha)
    scales = space.scales()
    orders = [np.argsort(row, kind="stable").tolist() for row in space.first]

    @cache
    def failing(scale: float) -> tuple[bool, bool]:
        return _fails(space, alpha, orders, most_steps, scale)

    surely = _first_not(scales, lambda scale: failing(scale)[0])
    maybe = _first_not(scales, lambda scale: failing(scale)[1])
    return Between(low=float(scales[min(surely, maybe)]), high=float(scales[max(surely, maybe)]))


def diametric_scale(space: FiniteSpace, alpha: float) -> float:
    """Returns s∘(Z, α) = sup of diam₂(B₁(x, r)) · exp(-αr) over x and r > 0 (Definition 1.6)."""
    positive(alpha=alpha)
    largest = 0.0
    for row in space.first:
        order = np.argsort(row, kind="stable")
        within = np.tril(space.second[np.ix_(order, order)]).max(axis=1)
        diameters = np.maximum.accumulate(within)
        largest = max(largest, float((diameters * np.exp(-alpha * row[order])).max()))
    return largest


def doubling_scale(space: FiniteSpace, alpha: float, *, most_steps: int = MOST_STEPS) -> Between:
    """Returns the largest s with N(B(x, 2s), s) > exp(2αs) for some x, in the first metric.

    Definition 2.8 is the infimum of all s where that does not hold. In a convex part of a normed space the
    two are the same (Lemma 2.5); in a finite space that infimum is always 0, since small balls hold one
    point. As defined here it is never above the entropic scale.
    """
    positive(alpha=alpha)
    low = high = 0.0
    for start, end, number in _doubling_numbers(space, most_steps):
        low = max(low, _failing_until(number.low, start, end, alpha))
        high = max(high, _failing_until(number.high, start, end, alpha))
    return Between(low=low, high=high)


def doubling_dimension(space: FiniteSpace, *, most_steps: int = MOST_STEPS) -> Between:
    """Returns log₂ of the largest N(B(x, 2s), s) over x and s > 0, in the first metric."""
    numbers = [number for _, _, number in _doubling_numbers(space, most_steps)]
    low, high = (max(getattr(number, name) for number in numbers) for name in ("low", "high"))
    return Between(low=math.log2(low), high=math.log2(high))


def outer_scale(space: FiniteSpace, alpha: float, *, most_steps: int = MOST_STEPS) -> Between:
    """Returns s̄(Z, α) = inf of γ + ln N₂(Z, γ) / α over γ > 0 (Definition 2.10)."""
    positive(alpha=alpha)
    points, bounds = range(space.size), []
    for scale in space.scales().tolist():
        number = number_of(neighbourhoods(space.second, scale), points, most_steps=most_steps)
        bounds.append([scale + math.log(count) / alpha for count in (number.low, number.high)])
    low, high = np.min(bounds, axis=0).tolist()
    return Between(low=low, high=high)


def _first_not(scales: Floats, failing: Callable[[float], bool]) -> int:
    """Returns the index of a scale where it does not fail, after one where it does or the first. It never
    fails at the last one, where all points are joined."""
    low, high = -1, len(scales) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if failing(float(scales[middle])):
            low = middle
        else:
            high = middle
    return high


def _fails(
    space: FiniteSpace, alpha: float, orders: Sequence[Sequence[int]], most_steps: int, scale: float
) -> tuple[bool, bool]:
    """Returns (surely, maybe): some ball has more than exp(αr) points more than `scale` apart."""
    near, maybe = neighbourhoods(space.second, scale), False
    for row, order in zip(space.first, orders, strict=True):
        logs = alpha * row[order]
        if (np.log(at_least(near, order)) > logs * (1 + _ROUNDING)).any():
            return True, True
        open_ = np.flatnonzero(np.log(at_most(near, order)) > logs)
        for last in open_.tolist():
            number = number_of(near, order[: last + 1], most_steps=most_steps)
            if math.log(number.low) > logs[last] * (1 + _ROUNDING):
                return True, True
            maybe |= math.log(number.high) > logs[last]
    return False, maybe


def _doubling_numbers(space: FiniteSpace, most_steps: int) -> Iterator[tuple[float, float, Between]]:
    """Yields (start, end, the largest N(B(x, 2s), s) over x for s in [start, end))."""
    breaks = np.unique(np.concatenate((space.first.ravel(), space.first.ravel() / 2))).tolist()
    for start, end in zip(breaks, [*breaks[1:], math.inf], strict=True):
        near = neighbourhoods(space.first, start)
        balls = {tuple(np.flatnonzero(ball).tolist()) for ball in within(space.first, 2 * start)}
        numbers = [number_of(near, ball, most_steps=most_steps) for ball in balls]
        yield start, end, Between(low=max(n.low for n in numbers), high=max(n.high for n in numbers))


def _failing_until(count: float, start: float, end: float, alpha: float) -> float:
    """Returns the supremum of s in [start, end) with count > exp(2αs), or 0."""
    until = math.log(count) / (2 * alpha)
    return min(end, until) if until > start else 0.0
