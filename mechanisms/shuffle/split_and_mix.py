"""Splits numbers into shares that are random by themselves, and shuffles every share on its own.

Among those of everybody else only their sum is left. Numbers are modulo a power of two.
Source: Ishai, Kushilevitz, Ostrovsky, Sahai 2006; Balle, Bell, Gascón, Nissim 2020.
"""

import math
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from mechanisms.check import ParameterError, in_range, power_of_two
from mechanisms.randomness import RandomSource

Words: TypeAlias = NDArray[np.uint64]

MOST_SHARES: Final = 200
_PERSONS_COUNTED: Final = 1000  # further honest ones only add to the security
_SLACK: Final = 1e-6  # of logarithms of sums of factorials


def split(values: Words, rng: RandomSource, *, modulus: int, shares: int) -> Words:
    """Returns `(n, m, shares)`: all but the last share of each value are uniform,
    together they are the value.

    values: (n, m) below the modulus.
    """
    power_of_two(2, 2**62, modulus=modulus)
    in_range(2, MOST_SHARES, shares=shares)
    mask = np.uint64(modulus - 1)
    free = rng.words(values.size * (shares - 1)).reshape(*values.shape, shares - 1) & mask
    last = (values - free.sum(axis=-1, dtype=np.uint64)) & mask  # wraps at 2^64, which the modulus divides
    return np.concatenate((free, last[..., np.newaxis]), axis=-1)


def shuffle_shares(shares: Words, rng: RandomSource) -> Words:
    """Returns `(m, n · r)` from `(n, m, r)`: all shares of a coordinate, in one uniformly random order.

    Shares are ordered by random keys. Equal keys, once in about 2^40 coordinates, are drawn again, so that
    all orders are equally likely.
    """
    columns = shares.transpose(1, 0, 2).reshape(shares.shape[1], -1)
    order = np.empty(columns.shape, dtype=np.int64)
    missing = np.arange(columns.shape[0])
    while missing.size:
        keys = rng.words(missing.size * columns.shape[1]).reshape(missing.size, -1)
        order[missing] = np.argsort(keys, axis=1)
        ordered = np.take_along_axis(keys, order[missing], axis=1)
        missing = missing[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]
    return np.take_along_axis(columns, order, axis=1)


def sums(shuffled: Words, *, modulus: int) -> Words:
    """Returns `(m,)` sums modulo the modulus."""
    sums: Words = shuffled.sum(axis=1, dtype=np.uint64) & np.uint64(modulus - 1)
    return sums


def least_shares(*, persons: int, modulus: int, distance: float) -> int:
    """Returns the fewest shares for which `view_distance` is at most that. Errors: `ParameterError`."""
    in_range(2, 10**9, persons=persons)
    for shares in range(3, MOST_SHARES + 1):
        if view_distance(persons=persons, modulus=modulus, shares=shares) <= distance:
            return shares
    raise ParameterError("persons", persons, f"more, for shares up to {MOST_SHARES}")


@lru_cache(maxsize=512)
def view_distance(*, persons: int, modulus: int, shares: int) -> float:
    """Returns a bound on the total variation between what the shuffler shows of any two inputs of one sum.

    1. Take one of the r shares of each person away from the shuffler and show it with its owner: no less
       is seen. What is left is a split of x − u in r' = r − 1 shares with u uniform, so that two inputs are
       no farther apart than 2 E_X TV(V(X), V̄), V̄ what is seen of a random input of that sum.
    2. A random input and its view: all shares y are uniform, who has which is a random assignment π, and
       the input is h_π(y). So E_X TV(V(X), V̄) is the distance of h_π(y) from uniform among inputs of the
       sum of y, and at most ½ √(q^(n−1) P(h_π(y) = h_π'(y)) − 1) (leftover hash). Let C be the components of
       the graph of persons i → j for a share that is i's by π and j's by π'. For any q, q^(C−n) of all y
       solve h_π(y) = h_π'(y). What is left is F = E[q^(C−1)] − 1, and the bound is √F.
    3. Person 1's component has s persons with probability at most (n−1 over s−1) / (n r' over s r'): these
       persons' shares must be the same set by both. So
       E_n ≤ 1 + Σ_{s<n} q (n−1 over s−1) / (n r' over s r') E_(n−s), E_1 = 1.

    More honest persons only add shares that are independent of all inputs looked at.
    """
    counted = min(persons, _PERSONS_COUNTED)
    parts = shares - 1
    log_excess = np.full(counted + 1, -np.inf)  # of E_n − 1
    for n in range(2, counted + 1):
        s = np.arange(1, n)
        log_chance = _log_binomial(n - 1, s - 1) - _log_binomial(n * parts, s * parts)
        log_excess[n] = logsumexp(math.log(modulus) + log_chance + np.logaddexp(0.0, log_excess[n - s]))
    return min(1.0, math.exp(min(0.0, float(log_excess[counted]) / 2 + _SLACK)))


def printed_shares(*, persons: int, epsilon: float, delta: float, coordinates: int, modulus: int) -> int:
    """Returns r of Ghazi et al. 2022, Appendix F: ⌈(2 ln(e^ε + 1) + 2 ln(m/δ) + ln q) / ln n + 1⌉."""
    log_odds = 2 * (epsilon + math.log1p(math.exp(-epsilon)))
    total = log_odds + 2 * math.log(coordinates / delta) + math.log(modulus)
    return math.ceil(total / math.log(persons) + 1)


def communication_bits(*, shares: int, coordinates: int, modulus: int) -> int:
    """Returns bits that each participant sends: r·m messages of ⌈log2(m·q)⌉ bits (Appendix F there)."""
    return shares * coordinates * (coordinates * modulus - 1).bit_length()


def _log_binomial(n: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
    logs: NDArray[np.float64] = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return logs
