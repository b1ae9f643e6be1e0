"""The law of the number of ones among bits that were each flipped with one probability.

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
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import ParameterError, in_range

_LOG_BEYOND: Final = 60.0  # what a table leaves out is below 2·exp(−60), nothing beside any δ in use
LARGEST_BITS: Final = 10**11
WIDEST: Final = 4_000_000  # entries of a table


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Window:
    """Log probabilities of consecutive integers from `first` on, and a bound on the mass elsewhere."""

    first: int
    log_probabilities: NDArray[np.float64] = field(repr=False)
    mass_beyond: float


@lru_cache(maxsize=512)
def flipped_bits(bits: int, ones: int, flip: float, covering: tuple[int, int] | None = None) -> Window:
    """The law of Y on a window around its mean, and on `covering` (first, last); log entries good to 1e-11.

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
    """Bernstein: P(|Y − mean| ≥ s) ≤ 2·exp(−s²/(2·variance + 2s/3)), solved for the mass left out."""
    third = _LOG_BEYOND / 3
    return third + math.sqrt(third**2 + 2 * _LOG_BEYOND * variance) + 1


def _ratios(bits: int, ones: int, flip: float, low: int, high: int) -> NDArray[np.float64]:
    """P(y)/P(y − 1) for y = low + 1 … high."""
    turn = (ones * (1 - flip) ** 2 + (bits - ones) * flip**2) / (flip**2 + (1 - flip) ** 2)
    middle = min(max(math.floor(turn), low - 1), high - 1)  # below it upwards, above it downwards
    settling = 60 + math.ceil(3 * math.sqrt(bits * flip * (1 - flip)))
    up = _upwards(bits, ones, flip, max(0, low - settling), middle + 1)
    down = _downwards(bits, ones, flip, min(bits, high + settling), middle + 2)
    return np.array(up[len(up) - (middle + 1 - low) :] + down[::-1][: high - middle - 1])


def _upwards(bits: int, ones: int, flip: float, start: int, last: int) -> list[float]:
    """Ratios of y = start + 1 … last, where last − 1 ≤ m/C; exact at start 0."""
    if last <= start:
        return []
    a, c = flip * (1 - flip), flip**2 + (1 - flip) ** 2
    m = ones * (1 - flip) ** 2 + (bits - ones) * flip**2
    lead, free = a * (start + 1), m - c * start
    ratio = free / lead
    if start:  # the ratio that would stay as it is
        ratio = (free + math.sqrt(free**2 + 4 * lead * a * (bits - start + 1))) / (2 * lead)
    ratios, steps = [ratio], np.arange(start + 1, last, dtype=np.float64)
    own, others, following = m - c * steps, a * (bits - steps + 1), a * (steps + 1)
    for free, other, lead in zip(own.tolist(), others.tolist(), following.tolist(), strict=True):
        ratio = (free + other / ratio) / lead
        ratios.append(ratio)
    return ratios


def _downwards(bits: int, ones: int, flip: float, start: int, last: int) -> list[float]:
    """Ratios of y = start … last, falling, where last ≥ m/C; exact at start = bits."""
    a, c = flip * (1 - flip), flip**2 + (1 - flip) ** 2
    m = ones * (1 - flip) ** 2 + (bits - ones) * flip**2
    if start < last:
        return []
    lead, free, rest = a * (start + 1), c * start - m, a * (bits - start + 1)
    ratio = rest / free
    if start < bits:
        ratio = 2 * rest / (free + math.sqrt(free**2 + 4 * lead * rest))
    ratios, steps = [ratio], np.arange(start - 1, last - 1, -1, dtype=np.float64)
    own, others, following = c * steps - m, a * (bits - steps + 1), a * (steps + 1)
    for free, other, lead in zip(own.tolist(), others.tolist(), following.tolist(), strict=True):
        ratio = other / (lead * ratio + free)
        ratios.append(ratio)
    return ratios
