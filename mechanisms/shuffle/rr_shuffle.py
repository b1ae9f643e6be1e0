"""Sends every person's value in unary, every bit flipped with one probability: RR-Shuffle."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting.randomised_response import calibrate_flip, largest_ones_delta
from mechanisms.check import ParameterError, in_range
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Term, Trust
from mechanisms.randomness import RandomSource
from mechanisms.samplers.coins import CHANCE_BITS, coins, emptied
from mechanisms.shuffle.protocol import check_target, check_values, rounded_up, sum_guarantee
from mechanisms.shuffle.unary import Packed, encode

CHANCES: Final = 1 << CHANCE_BITS  # a bit is flipped with probability flips / CHANCES
MOST_BITS: Final = 10**10
_BITS_AT_A_TIME: Final = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class RrSum:
    """Sums n values from 0 to k, each as k bits, of which each is flipped with probability f.

    Guarantee: loss ε a step up to `radius` steps, nothing beyond, δ under REPLACE: exact for the number of
    ones, with the supremum over all other bits and both directions (`randomised_response.py`). The paper's
    Theorem 3.1 has a constant that is too small for far moves (printed bound violated at ε = 0.5) and several
    times too large for near ones. Its p, the probability of answering at random, is 2f.
    Without the shuffler every bit of a person is seen in its place: log((1 − f)/f) a step, at any distance.
    Edge cases: as `GeoSum`. Nothing is cut, what is sent is always in range.
    Error: `standard_error`.
    References: Athanasiou, Chatzikokolakis, Palamidessi, PoPETs 2025, Algorithm 2; Warner 1965.
    """

    name: ClassVar[str] = "rr-shuffle"
    persons: int  # n, the least number of honest participants
    epsilon: Fraction  # a step
    delta: Fraction
    radius: int  # D, steps
    domain: int  # k
    flips: int  # of 2^32: how often a bit is flipped

    def __post_init__(self) -> None:
        check_target(self.persons, self.epsilon, self.delta, self.radius, self.domain)
        in_range(1, MOST_BITS, bits=self.persons * self.domain)
        in_range(1, CHANCES // 2 - 1, flips=self.flips)
        spent = _spent(self.persons * self.domain, self.flips, self.radius, self.epsilon, float(self.delta))
        if spent > self.delta:
            raise ParameterError("delta", float(self.delta), f"at least {spent:.6g} with these flips")

    @classmethod
    def calibrate(cls, *, persons: int, epsilon: Fraction, delta: Fraction, radius: int, domain: int) -> Self:
        """Returns nearly the fewest flips within the target. Errors: `ParameterError`."""
        check_target(persons, epsilon, delta, radius, domain)
        in_range(1, MOST_BITS, bits=persons * domain)
        flip = calibrate_flip(
            bits=persons * domain,
            epsilon=float(epsilon),
            delta=float(delta),
            radius=radius,
            chances=CHANCES,
        )
        flips = int(flip * CHANCES)
        if flips >= CHANCES // 2:
            raise ParameterError("persons", persons, "more: bits that are all random say nothing")
        return cls(
            persons=persons,
            epsilon=Fraction(epsilon),
            delta=Fraction(delta),
            radius=radius,
            domain=domain,
            flips=flips,
        )

    @property
    def guarantee(self) -> Guarantee:
        """Returns the guarantee with a step counted as a metre."""
        alone = Guarantee(
            relation=Relation.REPLACE,
            trust=Trust.LOCAL,
            terms=(Term(cap=INFINITY, alpha_per_m=rounded_up(self.local_loss)),),
        )
        return sum_guarantee(epsilon=self.epsilon, delta=self.delta, radius=self.radius, alone=alone)

    @property
    def flip(self) -> float:
        """Returns f."""
        return self.flips / CHANCES

    @property
    def local_loss(self) -> float:
        """Returns the loss of one step, without the shuffler."""
        return math.log((CHANCES - self.flips) / self.flips)

    @property
    def places(self) -> int:
        return self.domain

    def randomise(self, values: NDArray[np.int64], rng: RandomSource) -> Packed:
        check_values(values, self.domain)
        packed = encode(values, self.domain)
        rows = max(1, _BITS_AT_A_TIME // self.domain)
        for first in range(0, values.size, rows):
            part = packed[first : first + rows]
            part ^= self._flipped(rng, part.shape[0])
        return packed

    def analyse(self, ones: int, participants: int) -> Fraction:
        bits = participants * self.domain
        return (ones - Fraction(bits * self.flips, CHANCES)) / (1 - Fraction(2 * self.flips, CHANCES))

    def standard_error(self, participants: int) -> float:
        """Returns the standard error of the sum, in steps."""
        return math.sqrt(participants * self.domain * self.flip * (1 - self.flip)) / (1 - 2 * self.flip)

    def _flipped(self, rng: RandomSource, rows: int) -> Packed:
        """Returns `(rows, ⌈k / 8⌉)` packed, a one where a bit is flipped."""
        flipped = coins(rng, 8 * rows * -(-self.domain // 8), chance=self.flips)
        return emptied(flipped.reshape(rows, -1), self.domain)


@lru_cache(maxsize=64)
def _spent(bits: int, flips: int, radius: int, epsilon: Fraction, delta: float) -> float:
    return largest_ones_delta(
        bits=bits, flip=flips / CHANCES, radius=radius, epsilon=float(epsilon), target=delta
    )
