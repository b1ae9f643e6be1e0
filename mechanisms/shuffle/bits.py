"""Shuffles the bits of all participants into one uniformly random order."""

from typing import Final

import numpy as np

from mechanisms.check import in_range
from mechanisms.randomness import RandomSource
from mechanisms.samplers.coins import CHANCE_BITS, coins, emptied
from mechanisms.samplers.uniform import uniform_below
from mechanisms.shuffle.unary import Packed, count_ones

MOST_BITS: Final = 1 << 33
_AT_A_TIME: Final = 1 << 20
_COIN_BITS: Final = 10  # of a coin's bias: about one place in 2^12 is left to be drawn by itself


def shuffle_bits(rng: RandomSource, packed: Packed, places: int) -> Packed:
    """Returns `(⌈n·places / 8⌉,)` packed bits: those of all rows, every one moved to a place of its own.

    packed: (n, ⌈places / 8⌉) as `encode` makes them. All orders are equally likely, and bits are alike, so
    that a random order is a random set of places for the ones. Packets are taken apart: nothing says which
    bits were sent together.

    The set, exactly: every place tosses a coin with about as many ones as there are to be. Given how many
    come up, all sets of so many places are equally likely; so they are still after places that are drawn
    uniformly, again where they have a one already, got the ones that are missing (or lost those that are
    too many). It takes a tenth of the randomness of drawing each one's place.
    Errors: ValueError for rows of another length.
    """
    in_range(1, MOST_BITS, bits=max(1, packed.shape[0] * places))
    if packed.ndim != 2 or packed.shape[1] != -(-places // 8):
        raise ValueError("every participant sends the same number of bits")
    total, ones = packed.shape[0] * places, count_ones(packed)
    heads = round((1 << _COIN_BITS) * ones / max(1, total))
    tossed = coins(rng, total, chance=heads << (CHANCE_BITS - _COIN_BITS))
    missing = ones - count_ones(tossed)
    if missing >= 0:
        return _more(rng, tossed, total, missing)
    return emptied(~_more(rng, emptied(~tossed, total), total, -missing), total)


def _more(rng: RandomSource, packed: Packed, total: int, missing: int) -> Packed:
    """Returns ones in so many more of the `total` places,
    all sets of the places that are free equally likely.
    """
    while missing:
        places = np.unique(uniform_below(rng, total, min(missing, _AT_A_TIME)))  # never more than are missing
        index, bit = places >> np.uint64(3), np.uint8(0x80) >> (places & np.uint64(7)).astype(np.uint8)
        free = packed[index] & bit == 0
        np.bitwise_or.at(packed, index[free], bit[free])
        missing -= int(np.count_nonzero(free))
    return packed
