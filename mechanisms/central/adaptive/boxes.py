"""Holds rectangles of a guide's tree where a walk stands, and what people weigh in them."""

from dataclasses import dataclass, field, replace
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.central.adaptive.guide_tree import GuideTree, is_divisible
from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.records.mass_map import MassMap
from mechanisms.space.grid import morton_decode

Integers = NDArray[np.int64]

LEAST_FIT: Final = 0.35  # of a guide to the first look; chosen on places of the even half


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """Holds mass units by cell of a guide's grid."""

    columns: Integers = field(repr=False)  # (m,)
    rows: Integers = field(repr=False)  # (m,) from the south
    masses: Integers = field(repr=False)  # (m,)

    @classmethod
    def of(cls, masses: MassMap, *, side: int) -> Self:
        level = side.bit_length() - 1
        cells = masses.cells >> 2 * (masses.level - level)  # ascending, as the finer ones are
        starts = np.flatnonzero(np.diff(cells, prepend=-1))
        columns, rows = morton_decode(cells[starts], level)
        sums = np.add.reduceat(masses.masses, starts) if starts.size else masses.masses
        return cls(columns=columns, rows=rows, masses=sums)

    def within(self, boxes: Integers, places: Integers) -> Integers:
        """Returns (k,) exact sums over disjoint rectangles. places: (m,) in which of them each cell lies."""
        sums = np.zeros(len(boxes), np.int64)
        np.add.at(sums, places, self.masses)
        return sums


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rectangles:
    """Leaves of a guide's tree, in order."""

    tree: GuideTree
    nodes: Nodes

    @property
    def boxes(self) -> Integers:
        """Returns (k, 2, 2) rectangles."""
        return self.tree.rectangles(self.nodes.depths, self.nodes.codes)

    def masses(self, masses: MassMap) -> Integers:
        """Returns (k,) true mass units."""
        sums = np.zeros(self.nodes.codes.size, np.int64)
        np.add.at(sums, self.holding(masses.cells, level=masses.level), masses.masses)
        return sums

    def holding(self, cells: Integers, *, level: int) -> Integers:
        """Returns which of them hold these quadtree cells of a level at least as fine as the tree's grid."""
        columns, rows = morton_decode(cells, level)
        up = level - (self.tree.side.bit_length() - 1)
        places: Integers = painted(self.boxes, side=self.tree.side)[rows >> up, columns >> up]
        return places


def painted(boxes: Integers, *, side: int) -> Integers:
    """Returns (side, side) the number of the rectangle that holds each cell; row 0 south."""
    numbers = np.empty((side, side), np.int64)
    for number, ((west, east), (south, north)) in enumerate(boxes.tolist()):
        numbers[south:north, west:east] = number
    return numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Boxes:
    """Holds rectangles as a frontier; each splits into two. A first look may find that the guide is wrong."""

    tree: GuideTree
    weights: Weights = field(repr=False)
    places: Integers = field(repr=False)  # (m,) the rectangle of each of the weights
    nodes: Nodes
    boxes: Integers = field(repr=False)  # (k, 2, 2)
    is_first: bool = False  # nobody has looked yet, and the guide may be wrong

    @classmethod
    def first(cls, masses: MassMap, tree: GuideTree, *, depth: int, is_doubted: bool) -> Self:
        """Returns all rectangles of a depth, and coarser ones that are a single cell.

        is_doubted: a first look decides whether the guide is right.
        """
        weights, zero = Weights.of(masses, side=tree.side), np.zeros(1, np.int64)
        places = np.zeros(weights.masses.size, np.int64)
        frontier = cls(
            tree=tree,
            weights=weights,
            places=places,
            nodes=Nodes(depths=zero, codes=zero),
            boxes=tree.root,
        )
        for _ in range(depth):
            frontier = frontier._divided(frontier.is_divisible)
        return replace(frontier, is_first=is_doubted)

    @property
    def masses(self) -> Integers:
        return self.weights.within(self.boxes, self.places)

    @property
    def is_divisible(self) -> NDArray[np.bool_]:
        return is_divisible(self.boxes)

    def split(self, is_split: NDArray[np.bool_], looks: Integers) -> Self:
        """Splits as `Frontier.split` does; below a first look that does not fit the guide,
        halves have equal sides.
        """
        if self.is_first:
            return self._after_first_look(looks)._divided(is_split)
        return self._divided(is_split)

    def _after_first_look(self, looks: Integers) -> Self:
        tree = self.tree
        if tree.fit(self.boxes, looks) < LEAST_FIT:
            tree = replace(tree, plain_from=int(self.nodes.depths.max()))
        return replace(self, tree=tree, is_first=False)

    def _divided(self, is_split: NDArray[np.bool_]) -> Self:
        depths, codes, boxes = self.nodes.depths, self.nodes.codes, self.boxes
        first, second = boxes[is_split].copy(), boxes[is_split].copy()
        for depth in np.unique(depths[is_split]).tolist():
            here = depths[is_split] == depth
            first[here], second[here] = self.tree.halves(boxes[is_split][here], depth=depth)
        unsplit = int((~is_split).sum())
        new = np.empty(is_split.size, np.int64)  # where each rectangle, or its first half, stands now
        new[~is_split] = np.arange(unsplit)
        new[is_split] = unsplit + 2 * np.arange(len(first))
        beyond = self._is_beyond(first, is_split)
        nodes = Nodes(
            depths=np.concatenate((depths[~is_split], np.repeat(depths[is_split] + 1, 2))),
            codes=np.concatenate((codes[~is_split], np.add.outer(2 * codes[is_split], np.arange(2)).ravel())),
        )
        halves = np.stack((first, second), axis=1).reshape(-1, 2, 2)
        return replace(
            self,
            places=new[self.places] + beyond,
            nodes=nodes,
            boxes=np.concatenate((boxes[~is_split], halves)),
        )

    def _is_beyond(self, first: Integers, is_split: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Returns (m,) whether each lies in the second half of a rectangle that is split."""
        number = np.cumsum(is_split) - 1
        half = first[number[self.places]] if len(first) else np.zeros((self.places.size, 2, 2), np.int64)
        inside = (self.weights.columns < half[:, 0, 1]) & (self.weights.rows < half[:, 1, 1])
        beyond: NDArray[np.bool_] = is_split[self.places] & ~inside
        return beyond
