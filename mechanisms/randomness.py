"""Defines the source of randomness: an argument everywhere, in production the operating system."""

import os
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class RandomSource(Protocol):
    """Draws independent uniform 64-bit words. An argument everywhere, a default nowhere."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Returns `(count,)` words."""
        ...


@dataclass(frozen=True, slots=True)
class SystemSource:
    """Draws from the operating system's cryptographic source; the only one used for anything released."""

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)
