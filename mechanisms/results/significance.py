"""Tests which squares of a released map are distinguishable from empty ones, and at what rate that errs."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.space.grid import FINEST_LEVEL

RATE: Final = Fraction(1, 20)  # of the coloured squares, on average, at most so many are empty

_LOW_TAIL: Final = 0.025

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SignificantSquares:
    """Holds squares of every level at which the map may be drawn; a square may lie in another.

    Made from noisy values and public facts alone, so it is part of a release at no cost. A map that is drawn
    in squares of one level takes the squares of that level, and whole those of coarser released regions.
    Errors: ValueError for squares outside the grid.
    """

    levels: NDArray[np.uint8] = field(repr=False)  # (k,)
    prefixes: Integers = field(repr=False)  # (k,) Morton codes at their own level

    def __post_init__(self) -> None:
        levels, prefixes = self.levels.astype(np.int64), self.prefixes
        if levels.shape != prefixes.shape or levels.ndim != 1 or (levels > FINEST_LEVEL).any():
            raise ValueError("told squares have a level and a prefix each")
        if (prefixes < 0).any() or (prefixes >> 2 * levels).any():
            raise ValueError("told squares must lie in the grid")
        numbers = np.unique(numbered(levels, prefixes))
        object.__setattr__(self, "levels", _levels(numbers))
        object.__setattr__(self, "prefixes", numbers - (np.int64(1) << 2 * self.levels.astype(np.int64)))
        for array in (self.levels, self.prefixes):
            array.flags.writeable = False

    @classmethod
    def of_levels(cls, by_level: dict[int, Integers]) -> Self:
        """Returns the squares with the prefixes of each level."""
        sizes = [prefixes.size for prefixes in by_level.values()]
        return cls(
            levels=np.repeat(np.array(list(by_level), np.uint8), sizes),
            prefixes=np.concatenate([np.zeros(0, np.int64), *by_level.values()]),
        )

    @classmethod
    def with_parents(cls, levels: Integers, prefixes: Integers) -> Self:
        """Returns squares, and every coarser one that holds one of them: it is no emptier than its part."""
        by_level = {}
        for level in range(int(levels.max(initial=0)) + 1):
            finer = levels >= level
            by_level[level] = np.unique(prefixes[finer] >> 2 * (levels[finer] - level))
        return cls.of_levels(by_level)

    def has(self, levels: NDArray[np.uint8], prefixes: Integers) -> NDArray[np.bool_]:
        """Returns `(k,)` whether each of these squares is one of those told apart."""
        numbers = numbered(levels.astype(np.int64), prefixes)
        is_member: NDArray[np.bool_] = np.isin(numbers, numbered(self.levels.astype(np.int64), self.prefixes))
        return is_member

    def at(self, level: int) -> Integers:
        """Returns the prefixes of one level, ascending."""
        prefixes: Integers = self.prefixes[self.levels == level]
        return prefixes


def numbered(levels: Integers, prefixes: Integers) -> Integers:
    """Returns one number for each square of the quadtree: a leading 1 and the bits of its prefix."""
    numbers: Integers = (np.int64(1) << 2 * levels) + prefixes
    return numbers


def low_ends(values: Floats, *, floor: float | Floats, scale: Floats) -> Floats:
    """Returns `(k,)` values that the truth is above in 97.5 of 100, of what was told for being above `floor`.

    For a truth t, Laplace noise of this scale exceeds y - t with a known probability, given that the sum is
    above the floor, and t is the low end where this is 2.5 % (Weinstein, Fithian, Benjamini 2013). In scales
    above the floor, z of the value and d of the end: exp(d - z)/2 = .025 (1 - exp(-d)/2), a quadratic in
    exp(d); for t below the floor the probability is exp(-z), whatever t is, so that 0 is the low end.
    """
    beyond = np.exp(-np.maximum(values - floor, 0) / scale)
    root = np.sqrt(np.maximum(_LOW_TAIL**2 - _LOW_TAIL * beyond, 0))
    with np.errstate(divide="ignore"):  # far above the floor: exp(-z) is 0, and the end the unconditional one
        far = floor + scale * np.log((_LOW_TAIL + root) / beyond)
    usual = values + scale * math.log(2 * _LOW_TAIL)
    ends: Floats = np.where(beyond < _LOW_TAIL, np.clip(np.minimum(far, usual), 0, None), 0.0)
    return ends


def _levels(numbers: Integers) -> NDArray[np.uint8]:
    starts = np.int64(1) << 2 * np.arange(FINEST_LEVEL + 1, dtype=np.int64)
    levels: NDArray[np.uint8] = (np.searchsorted(starts, numbers, side="right") - 1).astype(np.uint8)
    return levels
