"""Writes laws as running sums of integers of equal length, as devices read them."""

from collections.abc import Iterable
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray


def eight_bytes(ends: NDArray[np.uint64]) -> bytes:
    """Returns running sums, 8 bytes each, big-endian."""
    return ends.astype(">u8").tobytes()


def running_sums(weights: Iterable[int], number_bytes: int) -> bytes:
    """Returns the running sums of weights with the sum 2^(8 · number_bytes),
    big-endian; the last sum is left out.
    """
    sums = list(accumulate(weights))
    if sums[-1] != 1 << 8 * number_bytes:
        raise ValueError("the weights of a law must sum to the largest number and one")
    return b"".join(end.to_bytes(number_bytes, "big") for end in sums[:-1])
