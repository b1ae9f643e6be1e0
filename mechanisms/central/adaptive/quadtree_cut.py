"""Cuts of the quadtree: disjoint cells, of any levels, that together cover the region."""

from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.records.mass_map import MassMap
from mechanisms.space.grid import children

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_X_BITS: Final = np.int64(0x5555555555555555)  # of Morton codes: the lower bit of each pair


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cut:
    """Holds cells in Morton order that cover every finest cell exactly once."""

    levels: Integers = field(repr=False)  # (k,)
    prefixes: Integers = field(repr=False)  # (k,) Morton codes at their own level

    @classmethod
    def grid(cls, level: int) -> Self:
        """Returns all cells of one level."""
        count = 4**level
        return cls(levels=np.full(count, level, np.int64), prefixes=np.arange(count, dtype=np.int64))

    @classmethod
    def sorted(cls, levels: Integers, prefixes: Integers) -> Self:
        """Returns the cut of cells in any order."""
        order = np.argsort(_starts(levels, prefixes, int(levels.max())), kind="stable")
        return cls(levels=levels[order], prefixes=prefixes[order])

    @property
    def nodes(self) -> Nodes:
        """Returns squares as the nodes of even depth."""
        return Nodes(depths=2 * self.levels, codes=self.prefixes)

    @classmethod
    def of_nodes(cls, nodes: Nodes) -> Self:
        """Returns the cut of nodes that are squares."""
        return cls(levels=nodes.depths // 2, prefixes=nodes.codes)

    def holding(self, cells: Integers, *, level: int) -> Integers:
        """Returns which of them hold these cells of a level at least as fine."""
        places: Integers = np.searchsorted(self.starts(level), cells, side="right") - 1
        return places

    def starts(self, level: int) -> Integers:
        """Returns (k,) the first cell of `level` inside each; `level` is at least as fine as all of them."""
        return _starts(self.levels, self.prefixes, level)

    def turned(self) -> tuple[Self, Integers]:
        """Returns the cut with rows and columns exchanged, and where its cells stand in this one."""
        y_bits = self.prefixes >> 1 & _X_BITS
        prefixes = (self.prefixes & _X_BITS) << 1 | y_bits
        order = np.argsort(_starts(self.levels, prefixes, int(self.levels.max())), kind="stable")
        return type(self)(levels=self.levels[order], prefixes=prefixes[order]), order

    def masses(self, masses: MassMap) -> Integers:
        """Returns (k,) true mass units of the cells."""
        return cell_masses(masses, self.levels, self.prefixes)


def cell_masses(masses: MassMap, levels: Integers, prefixes: Integers) -> Integers:
    """Returns (k,) true mass units of any cells."""
    return masses.interval_sums().within(levels, prefixes)


def grid_level(mass: float, *, most: float, finest: int) -> int:
    """Returns the coarsest level whose cells hold less than `most` each of an evenly spread mass."""
    return next((level for level in range(finest) if mass / 4**level < most), finest)


def refined(cut: Cut, mass: Floats, *, most: Floats, limit: int) -> Cut:
    """Returns the cut that splits, from the root on, every cell with at least its level's `most` of mass.

    mass: (k,) the estimate for the cells of `cut`, each spread evenly. most: (finest,) from level 0 on; cells
    of the finest level are not split. It is doubled until the result has at most `limit` cells, so time and
    memory follow `limit` and never the grid.
    """
    most = np.maximum(most, float(mass.sum()) / limit)
    while True:
        result = _split(cut, mass, most=most)
        if result.levels.size <= limit:
            return result
        most = 2 * most


def _split(cut: Cut, mass: Floats, *, most: Floats) -> Cut:
    finest = most.size
    running = np.concatenate((np.zeros(1), np.cumsum(mass)))
    edges = np.append(cut.starts(finest), np.int64(1) << 2 * finest).astype(np.float64)
    cells, levels, prefixes = np.zeros(1, np.int64), [], []
    for level in range(finest + 1):
        up = 2 * (finest - level)
        # The mass along the Morton curve is linear inside a cell of the estimate.
        first, after = np.interp([cells << up, (cells + 1) << up], edges, running)
        split = after - first >= (most[level] if level < finest else np.inf)
        prefixes.append(cells[~split])
        levels.append(np.full(prefixes[-1].size, level, np.int64))
        cells = children(cells[split])
    return Cut.sorted(np.concatenate(levels), np.concatenate(prefixes))


def _starts(levels: Integers, prefixes: Integers, level: int) -> Integers:
    starts: Integers = prefixes << 2 * (level - levels)
    return starts
