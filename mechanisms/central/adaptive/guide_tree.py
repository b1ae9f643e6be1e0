"""Cuts the region into rectangles that a guide takes for equally full, by a tree of halves.

Rectangles are half-open, with sides on the lines of a grid: an array (k, 2, 2) of the first cell and the
first beyond, of columns from the west and of rows from the south. A node of depth d is the first d bits of
its code; the first half of a node lies west or south of the second.
"""

from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.guide import SIDE, WHOLE, Guide

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

FINEST_LEVEL: Final = 7  # of the grid whose lines are cut along
UNIFORM: Final = 0.15  # part of the density that is spread evenly: a guide may not know every place
_LEAST_PART: Final = 8  # a half has at least this part of its parent's side


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GuideTree:
    """Splits a density over a grid of the region; from depth `plain_from` on halves have equal sides."""

    running: Floats = field(repr=False)  # (side + 1, side + 1) density south and west of each grid point
    plain_from: int | None = None

    @classmethod
    def of(cls, guide: Guide, *, level: int, plain_from: int | None = None) -> Self:
        """Returns the tree for a map of that level."""
        side = 1 << grid_level(level)
        own = guide.shares.reshape(SIDE, SIDE)[::-1].astype(np.float64) / WHOLE
        if side < SIDE:
            own = own.reshape(side, SIDE // side, side, SIDE // side).sum(axis=(1, 3))
        else:
            own = np.kron(own, np.full((side // SIDE, side // SIDE), (side / SIDE) ** -2))
        density = UNIFORM / side**2 + (1 - UNIFORM) * own / own.sum()
        running = np.zeros((side + 1, side + 1))
        running[1:, 1:] = density.cumsum(axis=0).cumsum(axis=1)
        return cls(running=running, plain_from=plain_from)

    @property
    def side(self) -> int:
        """Returns cells of the grid, a side."""
        return len(self.running) - 1

    @property
    def root(self) -> Integers:
        return np.array([[[0, self.side], [0, self.side]]], np.int64)

    def density(self, boxes: Integers) -> Floats:
        """Returns (k,) densities of rectangles; that of the whole region is 1."""
        west, east, south, north = boxes.reshape(-1, 4).T
        run = self.running
        density: Floats = run[north, east] - run[south, east] - run[north, west] + run[south, west]
        return density

    def fit(self, boxes: Integers, masses: Integers | Floats) -> float:
        """Returns the part of what was found in rectangles that is where the density says;
        0 where nothing was.

        masses: (k,) in any unit; those below 0 are noise.
        """
        weights = np.maximum(masses, 0)
        shares = weights / (weights.sum() or 1)
        return float(np.minimum(shares, self.density(boxes)).sum())

    def halves(self, boxes: Integers, *, depth: int) -> tuple[Integers, Integers]:
        """Returns first and second halves of divisible rectangles of that depth."""
        sides = boxes[:, :, 1] - boxes[:, :, 0]
        axis = np.where(sides[:, 0] >= sides[:, 1], 0, 1)
        rows = np.arange(len(boxes))
        low, high = boxes[rows, axis, 0], boxes[rows, axis, 1]
        if self.plain_from is not None and depth >= self.plain_from:
            return _cut(boxes, axis, (low + high) // 2)
        least = np.maximum((high - low) // _LEAST_PART, 1)
        return _cut(boxes, axis, self._median(boxes, axis, low + least, high - least))

    def rectangles(self, depths: Integers, codes: Integers) -> Integers:
        """Returns the (k, 2, 2) rectangles of any nodes."""
        boxes = np.repeat(self.root, depths.size, axis=0)
        for depth in range(int(depths.max(initial=0))):
            deeper = np.flatnonzero(depths > depth)
            first, second = self.halves(boxes[deeper], depth=depth)
            bit = codes[deeper] >> (depths[deeper] - depth - 1) & 1
            boxes[deeper] = np.where(bit[:, np.newaxis, np.newaxis] == 0, first, second)
        return boxes

    def _median(self, boxes: Integers, axis: Integers, first: Integers, last: Integers) -> Integers:
        """Returns the line from `first` to `last` on whose sides densities differ least."""
        half, least = self.density(boxes) / 2, first
        while (first < last).any():
            middle = (first + last) // 2
            enough = self.density(_cut(boxes, axis, middle)[0]) >= half
            first, last = (
                np.where(enough, first, np.minimum(middle + 1, last)),
                np.where(enough, middle, last),
            )
        below = np.maximum(first - 1, least)
        over, under = (self.density(_cut(boxes, axis, line)[0]) - half for line in (first, below))
        return np.where(np.abs(under) < np.abs(over), below, first)


def grid_level(level: int) -> int:
    """Returns the level of the grid of a tree for maps of that level."""
    return min(level, FINEST_LEVEL)


def is_divisible(boxes: Integers) -> NDArray[np.bool_]:
    """Returns (k,) whether each has more than one cell."""
    sides = boxes[:, :, 1] - boxes[:, :, 0]
    divisible: NDArray[np.bool_] = np.maximum(sides[:, 0], sides[:, 1]) > 1
    return divisible


def _cut(boxes: Integers, axis: Integers, line: Integers) -> tuple[Integers, Integers]:
    first, second, rows = boxes.copy(), boxes.copy(), np.arange(len(boxes))
    first[rows, axis, 1] = line
    second[rows, axis, 0] = line
    return first, second
