"""Coins that show heads with probability exp(-p) for a rational p, by integer comparisons alone."""

import numpy as np
from numpy.typing import NDArray

from mechanisms.interface import RandomSource
from mechanisms.samplers.uniform import uniform_below


def bernoulli_exp(rng: RandomSource, numerators: NDArray[np.uint64], denominator: int) -> NDArray[np.bool_]:
    """`(size,)` independent coins, true with probability exp(-numerators / denominator), exactly.

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
    """`(size,)` numbers of heads before the first tail of coins with probability exp(-1)."""
    counts = np.zeros(size, dtype=np.int64)
    running = np.arange(size)
    while running.size:
        heads = bernoulli_exp(rng, np.ones(running.size, dtype=np.uint64), 1)
        running = running[heads]
        counts[running] += 1
    return counts
