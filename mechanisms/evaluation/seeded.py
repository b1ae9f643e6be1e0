"""A repeatable source of words, for tests and for `manage.py evaluate`, which releases nothing."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True)
class SeededSource:
    """Words from Philox under a seed that must be given; never a stand-in for the system's source.

    Errors: TypeError unless the seed is an int (so None can never mean "some seed or other").
    """

    seed: int
    _bits: np.random.Philox = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.seed, int) or isinstance(self.seed, bool):
            raise TypeError("seed must be an int")
        self._bits = np.random.Philox(self.seed)

    def words(self, count: int) -> NDArray[np.uint64]:
        return self._bits.random_raw(count)
