"""Draws very many coins of one bias, exactly and packed: about eight random bits a coin."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import in_range
from mechanisms.randomness import RandomSource

CHANCE_BITS: Final = 32
_WORDS: Final = 1 << 18  # at a time: they stay near the processor


def coins(rng: RandomSource, count: int, *, chance: int) -> NDArray[np.uint8]:
    """Returns `(⌈count / 8⌉,)` packed independent bits, each a one with probability chance / 2^32, exactly.

    Every coin compares a uniform number with `chance` from the highest bit down and stops at the first that
    differs; 64 coins go on together until all of them have. Places that fill up the last byte are zeros.
    """
    in_range(0, 1 << CHANCE_BITS, chance=chance)
    words = np.empty(-(-count // 64), np.uint64)
    for start in range(0, words.size, _WORDS):
        words[start : start + _WORDS] = _tossed(rng, words[start : start + _WORDS].size, chance)
    return emptied(words.view(np.uint8)[: -(-count // 8)], count)


def emptied(packed: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """Returns the same array, without ones in the places after the first `count` of its last axis."""
    if packed.size and count % 8:
        packed[..., -1] &= (0xFF00 >> (count % 8)) & 0xFF
    return packed


def _tossed(rng: RandomSource, words: int, chance: int) -> NDArray[np.uint64]:
    if chance >> CHANCE_BITS:
        return np.full(words, ~np.uint64(0))
    below, where = np.zeros(words, np.uint64), np.arange(words)
    equal = np.full(words, ~np.uint64(0))
    lowest = (chance & -chance).bit_length() - 1  # an equal number is not below where only zeros follow
    for place in range(CHANCE_BITS - 1, lowest - 1 if chance else CHANCE_BITS, -1):
        bits = rng.words(where.size)
        if chance >> place & 1:
            below[where] |= equal & ~bits
            equal = equal & bits
        else:
            equal = equal & ~bits
        left = equal != 0
        if 2 * np.count_nonzero(left) < left.size:
            where, equal = where[left], equal[left]
    return below
