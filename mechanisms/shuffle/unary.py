"""Writes whole numbers as bits of equal weight: x ones in r (Athanasiou et al. 2025, Algorithms 1 and 8)."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import in_range
from mechanisms.randomness import RandomSource
from mechanisms.samplers.uniform import uniform_below

Packed = NDArray[np.uint8]
MOST_PLACES: Final = 1 << 20


def encode(values: NDArray[np.int64], places: int) -> Packed:
    """Returns `(n, ⌈places / 8⌉)` packed bits, most significant first:
    `values` ones, then zeros, in each row.

    Errors: ValueError, without a value, for values that do not fit.
    """
    in_range(1, MOST_PLACES, places=places)
    if values.size and (values.min() < 0 or values.max() > places):
        raise ValueError("a value does not fit into its bits")
    byte = np.arange(-(-places // 8))
    ones = np.clip(values[:, np.newaxis] - 8 * byte, 0, 8)
    packed: Packed = _STARTS[ones]
    return packed


def encode_coarse(rng: RandomSource, values: NDArray[np.int64], places: int, *, granularity: int) -> Packed:
    """Encodes as `encode` does, with a bit for every `granularity` units;
    the remainder is rounded at random, unbiased.

    Algorithm 8. It must come BEFORE the noise, not after it as the paper has it: encoded so, Q units are one
    step of a coarser lattice, and a move of d units is at most ⌈d/Q⌉ steps of noise that is Q times as wide.
    After the noise the number of ones is no longer a function of the noisy sum (Proposition 1 needs that): it
    depends on everybody's own remainder, which the noise of others does not hide. δ can then be hundreds of
    times that of Q = 1 (there is a test), and with Q as large as an outlier's value and little noise the only
    one among the bits is the outlier.
    """
    in_range(1, MOST_PLACES, granularity=granularity)
    quotients, remainders = np.divmod(values, granularity)
    up = uniform_below(rng, granularity, values.size) < remainders.astype(np.uint64)
    return encode(quotients + up, places)


def count_ones(packed: Packed) -> int:
    """Returns ones in packed bits; the places that fill up a last byte are zeros."""
    return int(np.bitwise_count(packed).sum(dtype=np.int64))


_STARTS: Final = np.array([(0xFF00 >> ones) & 0xFF for ones in range(9)], dtype=np.uint8)
