"""Holds nodes of a binary tree by depth and code."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nodes:
    """Holds disjoint nodes of a binary tree that together are its root, in order."""

    depths: Integers = field(repr=False)  # (k,)
    codes: Integers = field(repr=False)  # (k,) of `depths` bits

    @classmethod
    def sorted(cls, depths: Integers, codes: Integers) -> tuple[Self, Integers]:
        """Returns the nodes, given in any order, and that order."""
        order = np.argsort(codes << int(depths.max()) - depths, kind="stable")
        return cls(depths=depths[order], codes=codes[order]), order

    def starts(self, depth: int) -> Integers:
        """Returns (k,) the first node of `depth` inside each; `depth` is at least that of all of them."""
        starts: Integers = self.codes << depth - self.depths
        return starts
