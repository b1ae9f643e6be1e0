"""Accounts exactly for randomised response on shuffled bits: the supremum over everybody else's bits.

One person's value moves from x to x + d: d of the N = n·k bits turn from 0 to 1, and T of the other N − d
bits are ones. The analyst sees Y, the number of ones after each bit was flipped with probability f; write P_T
for its law (`flipped_bits`). What is accounted is the largest

    δ(T, d) = Σ_y max(0, P_T(y) − e^(εd)·P_(T+d)(y))      over 1 ≤ d ≤ D and 0 ≤ T ≤ N − d.

Both directions are in it: flipping every bit maps (T, T + d) to (N − T, N − T − d), so that the other
direction at T is this one at N − T − d.

d = D decides for T ≤ N − D. P_T(y) is log-concave in T: with V the law of all bits but two, and a, b, c its
values at y, y − 1, y − 2, P_T² − P_(T−1)·P_(T+1) = (1 − 2f)²·(b² − ac) ≥ 0, since V, a sum of independent
bits, is log-concave. At the best threshold t (the likelihood ratio falls with y) the d steps of
log P_T(t)/P_(T+d)(t) are on average at least ε, so the next step is; the ratio of distribution functions is
no smaller than that of the densities at t; so one step more does not lower δ.

For N − D < T ≤ N − d and d < D, the lighter end: for all d in [a, b], P_(T−(b−d)) is stochastically below P_T
and ε·a ≤ ε·d, so that δ(T, d) is at most the excess of P_(T−(b−d)) over e^(εa)·P_(T+d), which are b apart.

Over T: δ is not monotone (thresholds are whole numbers). For T in [a, b] give away the b − a bits in which
these datasets differ: what is left has N − (b − a) bits with a ones, and the given bits are post-processing.
Intervals (of T, and of d at the lighter end) are split until their bounds are below what was found at single
T. Where δ hardly depends on T that would take very many: calibration then flips a little more often than T =
0 asks for, at most `_MARGINS`, so that few intervals suffice. It never claims more than was certified.
"""

import heapq
import math
import sys
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
from scipy.optimize import brentq

from mechanisms.accounting.flipped_bits import LARGEST_BITS, flipped_bits
from mechanisms.check import ParameterError, in_range, positive

SLACK: Final = 1e-9  # relative; as in hockey_stick.py
_LOSS_SLACK: Final = 2e-10  # twice what log probabilities may be off by
_MOST_INTERVALS: Final = 400
_FEW_INTERVALS: Final = 300
_PARTS: Final = 24  # of the range of T, to begin with
_MARGINS: Final = (1 / 64, 1 / 16, 1 / 4, 1.0)  # relative, of the flips


def ones_delta(*, bits: int, ones: int, flip: float, distance: int, loss: float) -> float:
    """Returns δ(T, d) at a loss, rounded up, for T = `ones` of the other bits."""
    in_range(1, bits, distance=distance)
    in_range(0, bits - distance, ones=ones)
    here = flipped_bits(bits, ones, flip)
    logs, last = here.log_probabilities, here.first + here.log_probabilities.size - 1
    there = flipped_bits(bits, ones + distance, flip, (here.first, last))
    logs_there = there.log_probabilities[here.first - there.first :][: logs.size]
    excess = logs - logs_there - (loss - _LOSS_SLACK)
    above = excess > 0
    total = float((np.exp(logs[above]) * -np.expm1(-excess[above])).sum())
    return min(1.0, total * (1 + SLACK) + here.mass_beyond)


@lru_cache(maxsize=64)
def largest_ones_delta(
    *, bits: int, flip: float, radius: int, epsilon: float, target: float | None = None
) -> float:
    """Returns an upper bound on the supremum over d ≤ radius, all T and both directions; SLACK above it at
    most where the supremum is reached with d = radius.

    With a `target`, any number up to it may be returned when the supremum is not above it.
    Errors: ValueError for a radius out of range.
    """
    positive(epsilon=epsilon)
    in_range(1, bits, radius=radius)
    search = _DeltaSearch(bits, flip, radius, epsilon)
    last = bits - radius
    largest = max(search.over_ones(0, 0), search.over_ones(last, last))
    edges = np.unique(np.linspace(0, last + 1, _PARTS + 1).astype(np.int64)).tolist()
    waiting = [(-1.0, False, low, high - 1) for low, high in pairwise(edges)]
    if radius > 1:
        waiting.append((-1.0, True, 1, radius - 1))
    for _ in range(_MOST_INTERVALS if target is None else _FEW_INTERVALS):
        bound, lighter_end, low, high = heapq.heappop(waiting)
        if -bound <= max(largest * (1 + SLACK), target or 0.0):
            return max(largest, -bound)
        middle = (low + high) // 2
        for part in {(low, middle), (min(middle + 1, high), high)}:
            value = search.over_distances(*part) if lighter_end else search.over_ones(*part)
            if part[0] == part[1]:
                largest = max(largest, value)
            else:
                heapq.heappush(waiting, (-value, lighter_end, *part))
        if not waiting:
            return largest
    return -min(waiting)[0]


def calibrate_flip(*, bits: int, epsilon: float, delta: float, radius: int, chances: int = 1 << 52) -> float:
    """Returns a probability of flipping whose δ up to the radius is certified, nearly the smallest.

    chances: it is a multiple of 1/chances, a power of two.

    Errors: ValueError for values out of range; `ParameterError` when no probability suffices.
    """
    smallest = flip_without_ones(bits=bits, epsilon=epsilon, delta=delta, radius=radius)
    for margin in _MARGINS:
        flip = min(0.5, math.ceil(smallest * (1 + margin) * chances) / chances)
        spent = largest_ones_delta(bits=bits, flip=flip, radius=radius, epsilon=epsilon, target=delta)
        if spent <= delta:
            return flip
    raise ParameterError("delta", delta, "larger: no certificate was found")


def flip_without_ones(*, bits: int, epsilon: float, delta: float, radius: int) -> float:
    """Returns the probability of flipping that meets δ exactly (from above, to 1e-10) if T = 0 at d = radius
    is the worst case, as it nearly is. Errors as `calibrate_flip`.
    """
    positive(epsilon=epsilon, delta=delta, radius=radius)
    in_range(radius, LARGEST_BITS, bits=bits)

    def excess(log_flip: float) -> float:
        """Returns the excess.

        It falls through 0 where δ is met with nobody else's bit set, nearly the worst case.
        """
        flip = min(0.5, math.exp(log_flip))
        spent = ones_delta(bits=bits, ones=0, flip=flip, distance=radius, loss=epsilon * radius)
        return math.log(max(spent, sys.float_info.min)) - math.log(delta)

    half = math.log(0.5)
    if excess(half) > 0:
        raise ParameterError("delta", delta, "larger: bits that are all random already exceed it")
    # The search begins at a standard deviation of about 3/ε.
    low = high = min(half, math.log(min(0.4, 9 / (epsilon**2 * bits))))
    while excess(high) > 0:
        low, high = high, min(half, high + 0.5)
    while excess(low) <= 0:
        low, high = low - 0.5, low
    return min(0.5, math.exp(float(brentq(excess, low, high, xtol=1e-11)) + 1e-11))


@dataclass(frozen=True, slots=True)
class _DeltaSearch:
    """Bounds over intervals, exact for single values of T."""

    bits: int
    flip: float
    radius: int
    epsilon: float

    def over_ones(self, low: int, high: int) -> float:
        """Returns δ(T, radius) for T from low to high."""
        return ones_delta(
            bits=self.bits - (high - low),
            ones=low,
            flip=self.flip,
            distance=self.radius,
            loss=self.epsilon * self.radius,
        )

    def over_distances(self, low: int, high: int) -> float:
        """Returns δ(T, d) for d from low to high and T from N − radius + 1 to N − d."""
        first = self.bits - self.radius + 1 - (high - low)  # T − (high − d) goes from here to N − high
        if first < 0:
            return 1.0
        return ones_delta(
            bits=first + high, ones=first, flip=self.flip, distance=high, loss=self.epsilon * low
        )
