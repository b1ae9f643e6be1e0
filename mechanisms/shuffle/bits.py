"""The shuffler: the bits of all participants in one uniformly random order."""

from typing import Final

import numpy as np

from mechanisms.check import in_range
from mechanisms.interface import RandomSource
from mechanisms.samplers.uniform import uniform_below
from mechanisms.shuffle.unary import Packed, count_ones

MOST_BITS: Final = 1 << 33
_AT_A_TIME: Final = 1 << 22


def shuffle_bits(rng: RandomSource, packed: Packed, places: int) -> Packed:
    """`(⌈n·places / 8⌉,)` packed bits: those of all rows, every one moved to a place of its own.

    packed: (n, ⌈places / 8⌉) as `encode` makes them. All orders are equally likely, and bits are alike, so
    that a random order is a random set of places for the ones (or for the zeros, if those are fewer): places
    are drawn until enough different ones are found. Packets are taken apart: nothing says which bits were
    sent together. Errors: ValueError for rows of another length.
    """
    in_range(1, MOST_BITS, bits=max(1, packed.shape[0] * places))
    if packed.ndim != 2 or packed.shape[1] != -(-places // 8):
        raise ValueError("every participant sends the same number of bits")
    total, ones = packed.shape[0] * places, count_ones(packed)
    few_are_ones = 2 * ones <= total
    chosen = np.zeros(total, dtype=np.bool_)
    left = ones if few_are_ones else total - ones
    wanted = left
    while left:
        chosen[uniform_below(rng, total, min(left, _AT_A_TIME))] = True  # never more than are still wanted
        left = wanted - int(np.count_nonzero(chosen))
    return np.packbits(chosen if few_are_ones else ~chosen)
