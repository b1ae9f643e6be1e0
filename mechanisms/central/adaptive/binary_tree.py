"""The binary tree of measured quadtree cells: squares split into halves, halves into squares.

A node of depth d is the first d bits of Morton codes; squares have even depth. Children stand in order
below their parents: those of the i-th inner node are 2i and 2i + 1 of the next depth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.central.adaptive.quadtree_cut import Cut

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_VARIANCE: Final = 2.0  # of Laplace noise of scale 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """Noisy masses of the cells of a cut."""

    cut: Cut
    noisy: Floats = field(repr=False)  # (k,) noise scales


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Depth:
    """The nodes of one depth. `seen` has (places among the nodes, noisy masses) for each measured cut."""

    codes: Integers = field(repr=False)  # (k,)
    inner: NDArray[np.bool_] = field(repr=False)  # (k,) has children
    seen: tuple[tuple[Integers, Floats], ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate:
    """Linear estimates of the nodes of one depth, from what was measured in and below them."""

    mean: Floats = field(repr=False)  # (k,) noise scales
    variance: Floats = field(repr=False)  # (k,)


def binary_tree(measured: Sequence[Measured]) -> list[Depth]:
    """From the root to the finest measured cells; every leaf lies in a measured cell of each cut."""
    deepest = 2 * max(int(part.cut.levels.max()) for part in measured)
    starts = [part.cut.starts(deepest // 2) for part in measured]
    codes, depths = np.zeros(1, np.int64), []
    for depth in range(deepest + 1):
        inner, seen = np.zeros(codes.size, np.bool_), []
        for part, start in zip(measured, starts, strict=True):
            cell = np.searchsorted(start, codes << (deepest - depth), side="right") - 1
            inner |= 2 * part.cut.levels[cell] > depth
            places = np.flatnonzero(2 * part.cut.levels[cell] == depth)
            seen.append((places, part.noisy[cell[places]]))
        depths.append(Depth(codes=codes, inner=inner, seen=tuple(seen)))
        codes = (2 * codes[inner][:, np.newaxis] + np.arange(2)).ravel()
    return depths


def bounds(depths: Sequence[Depth], *, reach: float) -> list[Floats]:
    """Masses that nodes do not exceed unless noise exceeds `reach` noise scales."""
    result: list[Floats] = []
    for depth in reversed(depths):
        bound = np.full(depth.codes.size, np.inf)
        for places, noisy in depth.seen:
            bound[places] = np.minimum(bound[places], np.maximum(noisy, 0) + reach)
        if result:
            bound[depth.inner] = np.minimum(bound[depth.inner], result[-1][0::2] + result[-1][1::2])
        result.append(bound)
    return result[::-1]


def linear_estimates(depths: Sequence[Depth]) -> list[Estimate]:
    """Inverse-variance means of a node's own measurements and the sum of its children's estimates."""
    result: list[Estimate] = []
    for depth in reversed(depths):
        precision, total = np.zeros(depth.codes.size), np.zeros(depth.codes.size)
        for places, noisy in depth.seen:
            precision[places] += 1 / _VARIANCE
            total[places] += noisy / _VARIANCE
        if result:
            below = 1 / (result[-1].variance[0::2] + result[-1].variance[1::2])
            precision[depth.inner] += below
            total[depth.inner] += below * (result[-1].mean[0::2] + result[-1].mean[1::2])
        result.append(Estimate(mean=total / precision, variance=1 / precision))
    return result[::-1]
