"""Tosses coins that show heads with probability exp(-p) for rational p, by integer comparisons alone."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.randomness import RandomSource
from mechanisms.samplers.uniform import uniform_below


def bernoulli_exp(rng: RandomSource, numerators: NDArray[np.uint64], denominator: int) -> NDArray[np.bool_]:
    """Returns `(size,)` independent coins, true with probability exp(-numerators / denominator), exactly.

    Every numerator is at most the denominator, the denominator at most 2^64.
    Canonne, Kamath, Steinke 2020, Algorithm 1 (case γ ≤ 1): with K the first k at which a coin of
    probability p/k fails, P(K odd) = 1 - p + p²/2! - … = exp(-p).
    """
    heads = np.zeros(numerators.size, dtype=np.bool_)
    running = np.arange(numerators.size)
    k = 1
    while running.size:
        goes_on = uniform_below(rng, denominator, running.size) < numerators[running]
        goes_on &= uniform_below(rng, k, running.size) == 0  # p/k = p · 1/k
        heads[running[~goes_on]] = k % 2 == 1
        running = running[goes_on]
        k += 1
    return heads


def geometric_exp(rng: RandomSource, size: int) -> NDArray[np.int64]:
    """Returns `(size,)` numbers of heads before the first tail of coins with probability exp(-1)."""
    counts = np.zeros(size, dtype=np.int64)
    running = np.arange(size)
    while running.size:
        running = running[_heads_exp_minus_one(rng, running.size)]
        counts[running] += 1
    return counts


# 20!/k! for k = 20, 19, …, 1: one uniform integer below 20! decides on twenty coins of probability 1/k.
_FACTORIAL: Final = math.factorial(20)
_BOUNDS: Final = np.array([_FACTORIAL // math.factorial(k) for k in range(20, 0, -1)], dtype=np.uint64)


def _heads_exp_minus_one(rng: RandomSource, size: int) -> NDArray[np.bool_]:
    """Draws as `bernoulli_exp` does for p = 1, with one word a coin: K > k exactly when U < 20!/k!."""
    u = uniform_below(rng, _FACTORIAL, size)
    first_failure = 21 - np.searchsorted(_BOUNDS, u, side="right")
    for place in np.flatnonzero(u == 0).tolist():  # K > 20, once in 2·10^18 coins
        while uniform_below(rng, int(first_failure[place]), 1)[0] == 0:
            first_failure[place] += 1
    heads: NDArray[np.bool_] = first_failure % 2 == 1
    return heads
