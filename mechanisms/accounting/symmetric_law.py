"""Holds a symmetric law on the integers as log probabilities, with a bound on what it leaves out."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SymmetricLaw:
    """Holds P(Y = y) for |y| ≤ radius, and how much mass lies beyond.

    Logarithms keep their relative accuracy where probabilities themselves would underflow.
    """

    log_probabilities: NDArray[np.float64] = field(repr=False)  # (radius + 1,) of y = 0 … radius
    mass_beyond: float  # upper bound on P(|Y| > radius)

    def __post_init__(self) -> None:
        table = self.log_probabilities
        if table.ndim != 1 or table.size == 0 or np.isnan(table).any() or (table > 0).any():
            raise ValueError("log_probabilities are logarithms of numbers from 0 to 1, for y = 0, 1, 2, …")
        if not 0 <= self.mass_beyond <= 1:
            raise ValueError("mass_beyond is a probability")

    @property
    def radius(self) -> int:
        return self.log_probabilities.size - 1

    def two_sided(self) -> NDArray[np.float64]:
        """Returns `(2·radius + 1,)` log probabilities of y = −radius … radius."""
        return np.concatenate([self.log_probabilities[:0:-1], self.log_probabilities])

    def mean_absolute(self) -> float:
        """Returns E|Y| within the table, in the law's own steps."""
        steps = np.arange(self.radius + 1)
        return float(2 * (steps * np.exp(self.log_probabilities)).sum())
