"""Draws uniform integers below a bound."""

import numpy as np
from numpy.typing import NDArray

from mechanisms.randomness import RandomSource

_WORDS = 1 << 64


def uniform_below(rng: RandomSource, bound: int, size: int) -> NDArray[np.uint64]:
    """Returns `(size,)` independent uniform integers in [0, bound), exactly; bound at most 2^64.

    A word is used modulo the bound when it lies below the largest multiple of the bound, else redrawn.
    """
    if bound == 1:
        return np.zeros(size, dtype=np.uint64)
    words = rng.words(size)
    if bound & (bound - 1) == 0:
        return words & np.uint64(bound - 1)
    last_good = np.uint64(_WORDS - _WORDS % bound - 1)
    redrawn = np.flatnonzero(words > last_good)
    if redrawn.size:
        words = words.copy()  # a source may hand out read-only words
    while redrawn.size:
        words[redrawn] = rng.words(redrawn.size)
        redrawn = redrawn[words[redrawn] > last_good]
    return words % np.uint64(bound)


def integer_below(rng: RandomSource, bound: int) -> int:
    """Returns one uniform integer in [0, bound), exactly, for a bound of any size.

    As many bits as the bound has are drawn, and drawn again until they are below it: twice on average.
    """
    bits = (bound - 1).bit_length()
    if not bits:
        return 0
    while True:
        words = rng.words(-(-bits // 64))
        number = int.from_bytes(words.astype("<u8").tobytes(), "little") & ((1 << bits) - 1)
        if number < bound:
            return number
