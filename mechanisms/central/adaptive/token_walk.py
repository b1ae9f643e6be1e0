"""Finds cells of a tree that are worth it and measures them, where looking costs nothing beyond that.

Every first cell gets independent discrete Laplace draws, its tokens. Looking at a cell reveals its mass plus
the sum of its tokens. A cell that looks worth it hands its tokens on to its children, the same number to
each; another one keeps as many as a child would have got, and drops the others. A cell with one token left is
a leaf, and what is measured there is its mass plus that token.

Claim: all that is revealed together is `reach / scale`-differentially private, the cost of one measurement of
one cut, for any change of the masses by at most `reach` in L1.

Proof. Let x be the finest masses. (1) After every look, the next step depends on revealed values alone. So
there are only as many ways through the walk as there are sequences of revealed values, and for each such
sequence it is fixed which cells are leaves, which token each leaf keeps and which tokens every cell dropped.
(2) Let y_j = x(j) + t_j of the leaves j, t_j the token kept, and d_i the sum of the tokens that were dropped
in step i. Masses are integers that add up exactly, and tokens are handed on whole; so by induction from the
leaves upwards each revealed value is the sum of the y_j of the leaves below its cell and of the d_i of the
drops below it: the revealed values are a function of (y, d), the same for every x. (3) Conversely (y, d) is
itself revealed: y_j is the last look at a leaf, and d_i the difference of two looks, before and after a drop.
Hence the probability of a sequence of revealed values is that of its (y, d). All kept and dropped tokens are
different draws, therefore independent, so this probability is

    prod_j P(t = y_j - x(j)) · prod_i P(d_i),

where the second factor is without x. (4) Leaves are disjoint: between neighbours sum_j |x(j) - x'(j)| is at
most `reach`, and P(t - a) <= exp(|a| / scale) P(t) for every integer a. The quotient of the first factors is
at most exp(reach / scale). ∎

It needs: one token at least in every leaf, no token in two of the d_i and y_j, rules and trees from public
numbers and revealed values, parents that are exactly the sums of their children, and no second read of the
data that differs from the first. Sums of tokens may wrap around at 64 bits without harm to the claim (all
sums above hold modulo 2^64); leaves do not wrap.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from mechanisms.central.adaptive.nodes import Nodes
from mechanisms.randomness import RandomSource
from mechanisms.records.interval_sums import IntervalSums
from mechanisms.records.mass_map import MassMap
from mechanisms.samplers.discrete_laplace import discrete_laplace

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
# Whether cells are worth it: from the cells, what a look at them showed in mass units, and the tokens in
# each.
Rule: TypeAlias = Callable[[Nodes, Integers, int], Booleans]


class Frontier(Protocol):
    """Holds the state of a walk: disjoint cells that together are the region, in any order."""

    @property
    def nodes(self) -> Nodes: ...

    @property
    def masses(self) -> Integers:
        """Returns (k,) true mass units."""
        ...

    @property
    def is_divisible(self) -> Booleans:
        """Returns (k,) whether each can be split, from public facts."""
        ...

    def split(self, is_split: Booleans, looks: Integers) -> Self:
        """Returns first the cells that are not split, in order, then the children of each that is.

        looks: (k,) what was revealed of the cells. The tree below them may follow from it.
        """
        ...


AnyFrontier = TypeVar("AnyFrontier", bound=Frontier)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SquareFrontier:
    """Holds quadtree cells as a frontier; each splits into four."""

    sums: IntervalSums = field(repr=False)
    levels: Integers = field(repr=False)  # (k,)
    prefixes: Integers = field(repr=False)  # (k,)

    @classmethod
    def first(cls, masses: MassMap, *, level: int) -> Self:
        """Returns all cells of a level."""
        prefixes = np.arange(4**level, dtype=np.int64)
        return cls(sums=masses.interval_sums(), levels=np.full(4**level, level, np.int64), prefixes=prefixes)

    @property
    def nodes(self) -> Nodes:
        return Nodes(depths=2 * self.levels, codes=self.prefixes)

    @property
    def masses(self) -> Integers:
        return self.sums.within(self.levels, self.prefixes)

    @property
    def is_divisible(self) -> Booleans:
        return self.levels < self.sums.level

    def split(self, is_split: Booleans, looks: Integers) -> Self:
        del looks
        fours = np.add.outer(4 * self.prefixes[is_split], np.arange(4)).ravel()
        levels = np.concatenate((self.levels[~is_split], np.repeat(self.levels[is_split] + 1, 4)))
        prefixes = np.concatenate((self.prefixes[~is_split], fours))
        return type(self)(sums=self.sums, levels=levels, prefixes=prefixes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """Decides that a cell is worth it from so many mass units on; more where more tokens hide it."""

    scales: float  # noise scales, with as many tokens as the cell has children
    growth: float  # of that by the number of tokens; the looks' noise grows by the power 0.5
    branches: int
    scale: Fraction  # mass units

    def least(self, tokens: float | NDArray[np.float64]) -> NDArray[np.int64]:
        """Returns the least look that is worth a split, in whole mass units."""
        worth = self.scales * (np.asarray(tokens) / self.branches) ** self.growth * float(self.scale)
        return np.ceil(worth).astype(np.int64)

    def __call__(self, nodes: Nodes, looks: Integers, tokens: int) -> Booleans:
        del nodes
        is_split: Booleans = looks >= self.least(tokens)
        return is_split


def walked(
    frontier: AnyFrontier, tokens: Integers, *, branches: int, rule: Rule
) -> tuple[AnyFrontier, Integers]:
    """Returns the leaves and what is measured there, in mass units.

    tokens: the same number for each cell of the frontier, a power of `branches`, which is how many children
    a cell has.
    """
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(tokens)))
    masses = frontier.masses
    count = tokens.size // masses.size
    starts = np.arange(masses.size, dtype=np.int64) * count  # the first token of each cell
    while count > 1:
        looks = masses + before[starts + count] - before[starts]
        is_split = rule(frontier.nodes, looks, count) & frontier.is_divisible
        frontier = frontier.split(is_split, looks)
        count //= branches
        handed = np.add.outer(starts[is_split], np.arange(branches) * count).ravel()
        starts = np.concatenate((starts[~is_split], handed))
        masses = frontier.masses
    return frontier, masses + tokens[starts]


def token_walk(
    frontier: AnyFrontier, *, each: int, scale: Fraction, branches: int, rule: Rule, rng: RandomSource
) -> tuple[AnyFrontier, Integers]:
    """Walks as `walked` does, with `each` tokens drawn for every first cell."""
    tokens = discrete_laplace(rng, scale=scale, size=frontier.nodes.codes.size * each)
    return walked(frontier, tokens, branches=branches, rule=rule)
