"""Counts how many points can be farther than a given distance from each other.

N(B, s) is the largest number of points of B that are pairwise more than s apart: a largest independent set
of the graph that joins points at most s apart. Sets of points are bits of a Python integer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mechanisms.reproduction.boedihardjo_2024.metric_space import Floats, within

Bits: TypeAlias = int
MOST_STEPS: Final = 20_000  # of branch and bound, for one number


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """Bounds a number that is known to lie in [low, high]."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        return self.low == self.high


def neighbourhoods(distances: Floats, separation: float) -> list[Bits]:
    """Returns for each point, those at most `separation` from it, itself included."""
    return masks(within(distances, separation))


def masks(near: NDArray[np.bool_]) -> list[Bits]:
    """Returns the rows of a matrix as integers."""
    packed = np.packbits(near, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def greedy_packing(near: Sequence[Bits], order: Sequence[int]) -> Iterator[tuple[int, bool]]:
    """Yields (point, whether it is taken): in this order,
    each that none of those taken before is joined to.
    """
    blocked = 0
    for point in order:
        free = not (blocked >> point) & 1
        if free:
            blocked |= near[point]
        yield point, free


def at_least(near: Sequence[Bits], order: Sequence[int]) -> list[int]:
    """Returns for each beginning of the order, a number of its points that are all apart."""
    numbers, count = [], 0
    for _, free in greedy_packing(near, order):
        count += free
        numbers.append(count)
    return numbers


def at_most(near: Sequence[Bits], order: Sequence[int]) -> list[int]:
    """Returns for each beginning of the order, a number of groups of points that are all joined: of each
    group one point at most can be taken."""
    groups: list[Bits] = []  # for each, the points joined to all of its own
    numbers = []
    for point in order:
        for index, fits in enumerate(groups):
            if (fits >> point) & 1:
                groups[index] = fits & near[point]
                break
        else:
            groups.append(near[point])
        numbers.append(len(groups))
    return numbers


def packing_number(
    distances: Floats,
    separation: float,
    *,
    points: Sequence[int] | None = None,
    most_steps: int = MOST_STEPS,
) -> Between:
    """Returns n of the points (None: of all),
    exact unless branch and bound would take more than `most_steps`.

    With `most_steps` 0 the bounds are the greedy ones.
    """
    near = neighbourhoods(distances, separation)
    return number_of(near, range(len(near)) if points is None else points, most_steps=most_steps)


def number_of(near: Sequence[Bits], points: Sequence[int], *, most_steps: int = MOST_STEPS) -> Between:
    """Computes `packing_number` on the graph itself."""
    if not points:
        return Between(low=0, high=0)
    # Points that few others are joined to first: larger sets are found so.
    pool = sum(1 << point for point in points)
    order = sorted(points, key=lambda point: (near[point] & pool).bit_count())
    low, high = at_least(near, order)[-1], at_most(near, order)[-1]
    if low == high or not most_steps:
        return Between(low=low, high=high)
    search = _PackingSearch(near, low, most_steps)
    search.extend(pool, 0)
    return Between(low=search.best, high=high if search.steps > most_steps else search.best)


class _PackingSearch:
    """Branches and bounds by groups of joined points (Tomita, Seki 2003, on the complement)."""

    def __init__(self, near: Sequence[Bits], best: int, most_steps: int) -> None:
        self.near, self.best, self.most_steps, self.steps = near, best, most_steps, 0

    def extend(self, pool: Bits, count: int) -> None:
        """Looks at all sets of `count` points taken before and points of the pool, apart from them."""
        self.steps += 1
        self.best = max(self.best, count)
        for point, bound in reversed(self._grouped(pool)):
            if count + bound <= self.best or self.steps > self.most_steps:
                return
            self.extend(pool & ~self.near[point], count + 1)
            pool &= ~(1 << point)

    def _grouped(self, pool: Bits) -> list[tuple[int, int]]:
        """Returns (point, number of groups up to its own)."""
        pairs, groups = [], 0
        while pool:
            groups += 1
            fits = pool
            while fits:
                point = (fits & -fits).bit_length() - 1
                pairs.append((point, groups))
                pool &= ~(1 << point)
                fits &= self.near[point] & ~(1 << point)
        return pairs
