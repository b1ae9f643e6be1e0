"""Learns how often each of k items occurs by Hadamard response, the usual way without any metric."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hadamard

from mechanisms.check import ParameterError
from mechanisms.metric.frequency.gkrr import Floats, Integers, log_up
from mechanisms.randomness import RandomSource
from mechanisms.samplers.uniform import uniform_below

MOST_ITEMS: Final = 1023
_TOTAL_BITS: Final = 60


@dataclass(frozen=True, kw_only=True)
class Hadamard:
    """Reports item x as a column y of a Hadamard matrix, likelier where its row x + 1 has a plus.

    Acharya, Sun, Zhang 2019, section 4: a row has as many pluses as minuses, two rows agree in half of the
    columns, so that shares of items are linear in shares of reports. Weights are integers.
    """

    items: int  # k
    plus: int
    minus: int

    def __post_init__(self) -> None:
        if not 1 <= self.items <= MOST_ITEMS:
            raise ParameterError("items", self.items, f"from 1 to {MOST_ITEMS}")
        if not 1 <= self.minus < self.plus or self.total >= 2**63:
            raise ParameterError("weights", f"{self.plus}, {self.minus}", "falling, at least 1, below 2^63")

    @classmethod
    def of(cls, *, items: int, loss: float) -> "Hadamard":
        """Returns the weights nearest to a loss, in nats; what they cost is read off the integers."""
        columns = 1 << items.bit_length()
        minus = max(1, int(2.0**_TOTAL_BITS / (columns * (2 + math.expm1(loss)))))
        return cls(items=items, plus=minus + max(1, int(math.expm1(loss) * minus)), minus=minus)

    @property
    def columns(self) -> int:
        """Returns reports there are: the power of two above the number of items."""
        return 1 << self.items.bit_length()

    @property
    def total(self) -> int:
        return self.columns // 2 * (self.plus + self.minus)

    @property
    def loss(self) -> Fraction:
        """Returns the loss between any two items, rounded up."""
        return log_up(Fraction(self.plus, self.minus))

    def matrix(self) -> Floats:
        """Returns `(k, columns)` probabilities of reports by item."""
        return np.asarray(np.where(self._signs() > 0, self.plus, self.minus) / self.total)

    def report(self, items: Integers, rng: RandomSource) -> Integers:
        """Returns `(m,)` reports of as many items, each by one exact uniform integer."""
        half = self.columns // 2
        numbers = uniform_below(rng, self.total, items.size).astype(np.int64)
        likely = numbers < half * self.plus
        rank = np.where(likely, numbers // self.plus, (numbers - half * self.plus) // self.minus)
        order = np.argsort(-self._signs(), axis=1, kind="stable")  # pluses first
        reports: Integers = order[items, np.where(likely, rank, half + rank)]
        return reports

    def estimate(self, reports: Floats) -> Floats:
        """Returns `(k,)` unbiased shares of items from shares of reports with sum 1."""
        difference = (self.plus + self.minus) / (self.plus - self.minus)
        return np.asarray(difference * (self._signs() @ reports))

    def _signs(self) -> NDArray[np.int64]:
        return np.asarray(hadamard(self.columns)[1 : self.items + 1], dtype=np.int64)
