"""Draws how many of many coins show heads, exactly, from about two random bits a coin."""

from typing import Final

import numpy as np

from mechanisms.check import in_range
from mechanisms.randomness import RandomSource

CHANCE_BITS: Final = 32
_WORDS: Final = 1 << 20  # at a time


def binomial(rng: RandomSource, *, trials: int, chance: int) -> int:
    """Returns one draw of Bin(trials, chance / 2^32).

    Every coin compares a uniform 32-bit number with `chance` from the highest bit down. Only how many are
    still undecided matters: of m of them, Bin(m, 1/2) have a 1 in the next place, counted in m random bits.
    """
    in_range(0, 2**40, trials=trials)
    in_range(0, 1 << CHANCE_BITS, chance=chance)
    if chance == 1 << CHANCE_BITS:
        return trials
    below, undecided = 0, trials
    for place in range(CHANCE_BITS - 1, -1, -1):
        ones = _ones(rng, undecided)
        if chance >> place & 1:
            below += undecided - ones
            undecided = ones
        else:
            undecided -= ones
    return below


def _ones(rng: RandomSource, count: int) -> int:
    """Returns Bin(count, 1/2)."""
    ones, left = 0, count
    while left > 0:
        words = rng.words(min(_WORDS, -(-left // 64)))
        surplus = 64 * words.size - left
        if surplus > 0:
            words = words.copy()
            words[-1] >>= np.uint64(surplus)
        ones += int(np.bitwise_count(words).sum(dtype=np.int64))
        left -= 64 * words.size
    return ones
