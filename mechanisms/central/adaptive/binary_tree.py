"""Arranges measured cells in a binary tree, each of which splits into two halves.

A node of depth d is the first d bits of codes: of Morton codes in a quadtree, whose squares split into halves
and these into squares, so that squares have even depth. Children stand in order below their parents: those of
the i-th inner node are 2i and 2i + 1 of the next depth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.central.adaptive.nodes import Nodes

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_VARIANCE: Final = 2.0  # of Laplace noise of scale 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """Holds noisy masses of nodes, all with noise of the same scale."""

    nodes: Nodes
    noisy: Floats = field(repr=False)  # (k,) in the unit of all masses of the tree
    scale: float = 1.0  # of the noise, in that unit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DepthMeasurement:
    """Holds the part of one measurement of nodes that is about one depth."""

    places: Integers = field(repr=False)  # among the nodes
    noisy: Floats = field(repr=False)
    scale: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Depth:
    """Holds the nodes of one depth; `measurements` has an item for each measurement."""

    codes: Integers = field(repr=False)  # (k,)
    inner: NDArray[np.bool_] = field(repr=False)  # (k,) has children
    measurements: tuple[DepthMeasurement, ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate:
    """Holds linear estimates of the nodes of one depth, from what was measured in and below them."""

    mean: Floats = field(repr=False)  # (k,)
    variance: Floats = field(repr=False)  # (k,)


def binary_tree(measured: Sequence[Measured]) -> list[Depth]:
    """Returns the nodes of each depth, from the root to the finest measured nodes; every leaf lies in a
    measured node of each measurement.
    """
    deepest = max(int(part.nodes.depths.max()) for part in measured)
    starts = [part.nodes.starts(deepest) for part in measured]
    codes, depths = np.zeros(1, np.int64), []
    for depth in range(deepest + 1):
        inner, measurements = np.zeros(codes.size, np.bool_), []
        for part, start in zip(measured, starts, strict=True):
            cell = np.searchsorted(start, codes << (deepest - depth), side="right") - 1
            inner |= part.nodes.depths[cell] > depth
            places = np.flatnonzero(part.nodes.depths[cell] == depth)
            measurements.append(
                DepthMeasurement(places=places, noisy=part.noisy[cell[places]], scale=part.scale)
            )
        depths.append(Depth(codes=codes, inner=inner, measurements=tuple(measurements)))
        codes = (2 * codes[inner][:, np.newaxis] + np.arange(2)).ravel()
    return depths


def bounds(depths: Sequence[Depth], *, reach: float) -> list[Floats]:
    """Returns masses that nodes do not exceed unless noise exceeds `reach` of its own scales."""
    result: list[Floats] = []
    for depth in reversed(depths):
        bound = np.full(depth.codes.size, np.inf)
        for measurement in depth.measurements:
            most = np.maximum(measurement.noisy, 0) + reach * measurement.scale
            bound[measurement.places] = np.minimum(bound[measurement.places], most)
        if result:
            bound[depth.inner] = np.minimum(bound[depth.inner], result[-1][0::2] + result[-1][1::2])
        result.append(bound)
    return result[::-1]


def linear_estimates(depths: Sequence[Depth]) -> list[Estimate]:
    """Returns inverse-variance means of a node's own measurements and the sum of its children's estimates."""
    result: list[Estimate] = []
    for depth in reversed(depths):
        precision, total = np.zeros(depth.codes.size), np.zeros(depth.codes.size)
        for measurement in depth.measurements:
            variance = _VARIANCE * measurement.scale**2
            precision[measurement.places] += 1 / variance
            total[measurement.places] += measurement.noisy / variance
        if result:
            below = 1 / (result[-1].variance[0::2] + result[-1].variance[1::2])
            precision[depth.inner] += below
            total[depth.inner] += below * (result[-1].mean[0::2] + result[-1].mean[1::2])
        result.append(Estimate(mean=total / precision, variance=1 / precision))
    return result[::-1]
