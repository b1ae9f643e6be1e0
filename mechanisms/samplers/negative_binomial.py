"""Draws negative binomial numbers with a real shape (the Pólya law), and differences of two of them.

P(K = k) = (β)_k / k! · p^k · (1 − p)^β with p = e^−ε, the number of failures; β = 1 is the geometric law. One
uniform integer below the total of an integer table is one draw. The table stops where what is missing is
nothing beside any δ in use: how far it is from the law in total variation is proved here and enters δ.
"""

import math
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import ParameterError, positive, printable
from mechanisms.randomness import RandomSource
from mechanisms.samplers.uniform import integer_below

BITS: Final = 640  # of the first table entry's scale
_LOG2_MISSING: Final = 400  # mass left out at the end is below 2^-400
LONGEST_TABLE: Final = 400_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawTable:
    """Tabulates a law on 0, 1, 2, … as running sums of integers, and its distance from the exact law."""

    ends: tuple[int, ...] = field(repr=False)  # running sums; the last is the total, a power of two
    firsts: NDArray[np.uint64] = field(repr=False)  # the first 64 bits of each end but the last
    total_variation: Fraction

    def draw(self, rng: RandomSource, size: int) -> NDArray[np.int64]:
        """Returns `(size,)` independent draws, exact for the table."""
        words = rng.words(size)
        draws = np.searchsorted(self.firsts, words, side="right").astype(np.int64)
        # A word equal to the first word of a sum is decided by the bits that follow; all others are decided.
        near = np.searchsorted(self.firsts, words, side="left")
        bits = self.ends[-1].bit_length() - 1 - 64
        for place in np.flatnonzero(near < draws).tolist():
            value = (int(words[place]) << bits) | integer_below(rng, 1 << bits)
            draws[place] = _first_above(self.ends, value)
        return draws


def negative_binomial(
    rng: RandomSource, *, shape: Fraction, epsilon: Fraction, size: int
) -> NDArray[np.int64]:
    """Returns `(size,)` draws of NB(shape, 1 − e^−ε), within `table(…).total_variation` each.

    Errors: `ParameterError` for a shape or ε not above 0, or an ε so small that the table would be too long.
    """
    return table(shape, epsilon).draw(rng, size)


@lru_cache(maxsize=16)
def table(shape: Fraction, epsilon: Fraction) -> DrawTable:
    """Returns the integer table of one law.

    Entries are relative to that of 0. Each step multiplies by p·(β + k)/(k + 1) in integers rounded down, p
    to `BITS` bits: off by less than 4 units, which later steps multiply by at most g, the largest entry over
    the first one (ratios fall through 1 once at most): entry k is too small by less than 4(k + 1)·g units.
    The entries past the last have ratios of at most r = p·max(1, (β + k)/(k + 1)) < 1: all of them together
    are at most the last one times r/(1 − r). What p lacks there is nothing beside what its last entry lacks.
    No entry is too large; so, divided by their sums, none is larger by more than the part of the exact sum
    that is missing, which is the total variation.
    """
    positive(shape=shape, epsilon=epsilon)
    if shape > 1000:
        raise ParameterError("shape", printable(shape), "at most 1000")
    least = (_LOG2_MISSING + 40) * math.log(2) / LONGEST_TABLE
    if epsilon < least:
        raise ParameterError("epsilon", float(epsilon), f"at least {least:.3g} a step for shared noise")
    p = exp_minus(epsilon, BITS)
    weights = _weights(shape, p)
    k = len(weights) - 1
    ratio = Fraction(p, 1 << BITS) * max(Fraction(1), (shape + k) / (k + 1))
    units = 4 * (k + 1) * ((max(weights) >> BITS) + 1)
    missing = (weights[-1] + units) * ratio / (1 - ratio)
    off = (missing + (k + 1) * units) / sum(weights)
    return table_of(weights, off)


def exp_minus(epsilon: Fraction, bits: int) -> int:
    """Returns ⌊e^−ε · 2^bits⌋, at most one too small. Decimal's exponential is correctly rounded."""
    context = Context(prec=bits // 3 + 30, Emin=-999_999, Emax=999_999)
    quotient = context.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    power = context.exp(context.minus(quotient))  # a plain minus would round to the default precision
    scaled = context.multiply(power, Decimal(1 << bits))
    return max(0, int(scaled.to_integral_value(rounding=ROUND_CEILING)) - 1)


def _weights(shape: Fraction, p: int) -> list[int]:
    b, s = shape.numerator, shape.denominator
    weights, total = [1 << BITS], 1 << BITS
    while True:
        k = len(weights) - 1
        if k >= 2 * LONGEST_TABLE:
            raise ParameterError("epsilon", "too small", f"a law of at most {2 * LONGEST_TABLE} entries")
        following = (weights[-1] * p * (b + k * s) // (s * (k + 1))) >> BITS
        weights.append(following)
        total += following
        # Ratios fall through 1 once at most, so that entries only fall from here on, at worst geometrically:
        # stop when even 2^40 times the last entry is missing mass too small.
        if following << (_LOG2_MISSING + 40) < total:
            return weights


def table_of(weights: list[int], total_variation: Fraction) -> DrawTable:
    """Returns the table, scaled to a power of two; what rounding leaves goes to the largest entry."""
    total = sum(weights)
    scale = 64 * (-(-total.bit_length() // 64) + 1)
    scaled = [(weight << scale) // total for weight in weights]
    left = (1 << scale) - sum(scaled)
    scaled[max(range(len(scaled)), key=scaled.__getitem__)] += left
    ends, running = [], 0
    for weight in scaled:
        running += weight
        ends.append(running)
    firsts = np.array([end >> (scale - 64) for end in ends[:-1]], dtype=np.uint64)
    return DrawTable(
        ends=tuple(ends),
        firsts=firsts,
        total_variation=total_variation + Fraction(left, 1 << scale),
    )


def _first_above(ends: tuple[int, ...], value: int) -> int:
    low, high = 0, len(ends) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if ends[middle] > value else (middle + 1, high)
    return low
