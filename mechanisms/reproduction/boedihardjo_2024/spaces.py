"""Makes finite parts of the spaces of Examples 6.1 to 6.4 of the metric geometry paper."""

import math
from collections.abc import Callable
from itertools import combinations, product

import numpy as np

from mechanisms.reproduction.boedihardjo_2024.metric_space import FiniteSpace, Floats
from mechanisms.space.grid import morton_decode


def ball(dimensions: int, *, a_side: int, order: float = 2) -> FiniteSpace:
    """Returns the space of Theorem 6.1: the points of a grid of 2·`a_side` + 1 a side that lie in the unit
    ball of a norm.
    """
    axis = np.arange(-a_side, a_side + 1) / a_side
    points = np.array(list(product(axis, repeat=dimensions)))
    inside = np.linalg.norm(points, ord=order, axis=1) <= 1 + 1e-12
    return FiniteSpace.of_points(points[inside], order=order)


def circle(points: int) -> FiniteSpace:
    """Returns points evenly on a circle of circumference 1, by the shorter arc."""
    steps = np.abs(np.subtract.outer(np.arange(points), np.arange(points)))
    return FiniteSpace.of(np.minimum(steps, points - steps) / points)


def measures(atoms: int, *, places: int) -> FiniteSpace:
    """Returns the space of Theorem 6.2, d = 1: probability measures of `atoms` equal parts on even places of
    [0, 1], W₁.

    On a line W₁ is the integral of the difference of the distribution functions.
    """
    bars = np.array(list(combinations(range(atoms + places - 1), places - 1))).reshape(-1, places - 1)
    sums = (bars - np.arange(places - 1)) / atoms
    return FiniteSpace.of(np.abs(sums[:, np.newaxis] - sums).sum(axis=-1) / (places - 1))


def slopes(steps: int) -> FiniteSpace:
    """Returns the space of Theorem 6.3, d = 1: functions on [0, 1] with f(0) = 0 and slope ±1 on each of
    `steps` parts, ℓ∞.
    """
    moves = np.array(list(product((-1, 1), repeat=steps))) / steps
    return FiniteSpace.of_points(moves.cumsum(axis=1), order=math.inf)


def sequences(
    length: int, first: Callable[[int], float], second: Callable[[int], float] | None = None
) -> FiniteSpace:
    """Returns the space of Theorem 6.4: zeros and ones of this length; f and g of the first place, from 1,
    where two differ.
    """
    split = _split_levels(length)
    return FiniteSpace(first=_at(split, first), second=_at(split, second or first))


def quadtree(level: int) -> FiniteSpace:
    """Returns the 4^level cells of the unit square: straight lines between their centres, and the side of the
    smallest cell of the quadtree that holds both, an ultrametric."""
    codes = np.arange(4**level, dtype=np.int64)
    x, y = morton_decode(codes, level)
    straight = np.hypot(np.subtract.outer(x, x), np.subtract.outer(y, y)) / 2**level
    apart = np.bitwise_xor.outer(codes, codes)
    levels = np.ceil(np.log2(apart + 1) / 2)
    return FiniteSpace(first=straight, second=np.where(apart > 0, 2.0 ** (levels - level), 0.0))


def _split_levels(length: int) -> Floats:
    """Returns for each pair of sequences the first place where they differ; infinity for a pair of equals."""
    numbers = np.arange(2**length)
    apart = np.bitwise_xor.outer(numbers, numbers)
    with np.errstate(divide="ignore"):
        return np.where(apart > 0, length - np.floor(np.log2(apart)), np.inf)


def _at(split: Floats, value: Callable[[int], float]) -> Floats:
    return np.array([[value(int(k)) if np.isfinite(k) else 0.0 for k in row] for row in split])
