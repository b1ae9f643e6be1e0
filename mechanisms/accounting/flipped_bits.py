"""Computes the law of the number of ones among bits that were each flipped with one probability.

Y = Bin(T, 1 − f) + Bin(N − T, f) for N bits, T of them ones. Its law depends on T: variance is N·f·(1 − f)
whatever T, skewness is not. Summing products of binomials would cost the square of the window; with
A = f(1 − f), C = f² + (1 − f)² and m = T(1 − f)² + (N − T)f² the generating function gives

    A(y + 1)·P(y + 1) = (m − C·y)·P(y) + A(N − y + 1)·P(y − 1).

For the ratios r_y = P(y)/P(y − 1) that is a recurrence of positive terms upwards while y ≤ m/C and, solved
for the other end, downwards while y ≥ m/C: nothing cancels, each step adds a few units in the last place, and
what the start was off by shrinks with every step.
"""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgttrf

from mechanisms.check import ParameterError, in_range

_LOG_BEYOND: Final = 60.0  # what a table leaves out is below 2·exp(−60), nothing beside any δ in use
LARGEST_BITS: Final = 10**10
WIDEST: Final = 4_000_000  # entries of a table
_FEWEST_STEPS: Final = 32  # that are worth a call

Ratios: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Window:
    """Holds log probabilities of consecutive integers from `first` on, and a bound on the mass elsewhere."""

    first: int
    log_probabilities: NDArray[np.float64] = field(repr=False)
    mass_beyond: float


@lru_cache(maxsize=32)  # tables are large
def flipped_bits(bits: int, ones: int, flip: float, covering: tuple[int, int] | None = None) -> Window:
    """Returns the law of Y on a window around its mean, and on `covering` (first, last);
    log entries good to 1e-10.

    Errors: `ParameterError` for ones out of range, a probability not inside (0, 1/2] or a window too wide.
    """
    in_range(0, LARGEST_BITS, bits=bits)
    in_range(0, bits, ones=ones)
    if not 0 < flip <= 0.5:
        raise ParameterError("flip", flip, "above 0 and at most 1/2")
    mean = ones * (1 - flip) + (bits - ones) * flip
    reach = _reach(bits * flip * (1 - flip))
    low, high = max(0, math.floor(mean - reach)), min(bits, math.ceil(mean + reach))
    if covering is not None:
        low, high = min(low, max(0, covering[0])), max(high, min(bits, covering[1]))
    if high - low > WIDEST:
        raise ParameterError("bits", bits, "fewer, or less noise: the table would be too large")
    logs = np.concatenate([[0.0], np.cumsum(np.log(_ratios(bits, ones, flip, low, high)))])
    logs -= logs.max()
    # Divided by what the window holds: entries are too large by the factor 1 + mass_beyond at most.
    logs -= math.log(float(np.exp(logs).sum()))
    whole = low == 0 and high == bits
    return Window(
        first=low,
        log_probabilities=np.minimum(logs, 0.0),
        mass_beyond=0.0 if whole else 2 * math.exp(-_LOG_BEYOND),
    )


def _reach(variance: float) -> float:
    """Solves Bernstein's bound for the mass left out: P(|Y − mean| ≥ s) ≤ 2·exp(−s²/(2·variance + 2s/3))."""
    third = _LOG_BEYOND / 3
    return third + math.sqrt(third**2 + 2 * _LOG_BEYOND * variance) + 1


def _ratios(bits: int, ones: int, flip: float, low: int, high: int) -> Ratios:
    """Returns P(y)/P(y − 1) for y = low + 1 … high."""
    turn = (ones * (1 - flip) ** 2 + (bits - ones) * flip**2) / (flip**2 + (1 - flip) ** 2)
    middle = min(max(math.floor(turn), low - 1), high - 1)  # below it upwards, above it downwards
    settling = 60 + math.ceil(3 * math.sqrt(bits * flip * (1 - flip)))
    up = _upwards(bits, ones, flip, max(0, low - settling), middle + 1)
    down = _downwards(bits, ones, flip, min(bits, high + settling), middle + 2)
    return np.concatenate((up[up.size - (middle + 1 - low) :], down[::-1][: high - middle - 1]))


def _upwards(bits: int, ones: int, flip: float, start: int, last: int) -> Ratios:
    """Returns ratios of y = start + 1 … last, where last − 1 ≤ m/C; exact at start 0."""
    if last <= start:
        return np.empty(0)
    a, c = flip * (1 - flip), flip**2 + (1 - flip) ** 2
    m = ones * (1 - flip) ** 2 + (bits - ones) * flip**2
    lead, free = a * (start + 1), m - c * start
    first = free
    if start:  # the ratio that would stay as it is
        first = (free + math.sqrt(free**2 + 4 * lead * a * (bits - start + 1))) / 2
    steps = np.arange(start + 1, last, dtype=np.float64)
    pivots = _pivots(first, m - c * steps, a * (bits - steps + 1) * (a * steps))
    return pivots / (a * np.arange(start + 1, last + 1))


def _downwards(bits: int, ones: int, flip: float, start: int, last: int) -> Ratios:
    """Returns ratios of y = start … last, falling, where last ≥ m/C; exact at start = bits."""
    a, c = flip * (1 - flip), flip**2 + (1 - flip) ** 2
    m = ones * (1 - flip) ** 2 + (bits - ones) * flip**2
    if start < last:
        return np.empty(0)
    lead, free, rest = a * (start + 1), c * start - m, a * (bits - start + 1)
    first = free
    if start < bits:
        first = (free + math.sqrt(free**2 + 4 * lead * rest)) / 2
    steps = np.arange(start - 1, last - 1, -1, dtype=np.float64)
    pivots = _pivots(first, c * steps - m, a * (steps + 1) * (a * (bits - steps)))
    return a * (bits - np.arange(start, last - 1, -1) + 1) / pivots


def _pivots(first: float, own: Ratios, products: Ratios) -> Ratios:
    """Returns d₀ = first, d_i = own_i + products_i / d_(i−1), all above 0.

    They are the pivots of the tridiagonal matrix with `own` on its diagonal and ±√products beside it, so
    that the recurrence runs as compiled elimination, up to where rows would be exchanged there: a pivot is
    smaller than the entry below it, as where both are nearly equal. Some steps are then made here.
    """
    beside = np.sqrt(products)
    pivots, steps = np.array([first]), _FEWEST_STEPS
    while pivots.size <= own.size:
        done = pivots.size - 1
        pivots = np.concatenate((pivots[:-1], _eliminated(pivots[-1:], own[done:], beside[done:])))
        done = pivots.size - 1
        ahead, pivot, here = slice(done, done + steps), float(pivots[-1]), []
        for free, product in zip(own[ahead].tolist(), products[ahead].tolist(), strict=True):
            pivot = free + product / pivot
            here.append(pivot)
        pivots, steps = np.concatenate((pivots, here)), 2 * steps
    return pivots


def _eliminated(first: Ratios, own: Ratios, beside: Ratios) -> Ratios:
    """Returns `first` and the pivots that follow it without an exchange of rows."""
    if own.size < _FEWEST_STEPS:
        return first
    _, pivots, _, _, rows, _ = dgttrf(-beside, np.concatenate((first, own)), beside)
    exchanged = np.flatnonzero(rows != np.arange(1, rows.size + 1))
    prefix: Ratios = pivots[: exchanged[0]] if exchanged.size else pivots
    return prefix if prefix.size else first
