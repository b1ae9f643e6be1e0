"""Sums privately in three separate pieces: randomise on the device, shuffle every bit, analyse."""

from fractions import Fraction
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from mechanisms.calibration import checked_epsilon
from mechanisms.check import exact_decimal, whole
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Term, Trust
from mechanisms.randomness import RandomSource
from mechanisms.shuffle.bits import shuffle_bits
from mechanisms.shuffle.unary import Packed

MOST_PERSONS: Final = 10**6
LARGEST_DOMAIN: Final = 10**4
STEPS: Final = 2.0**40  # exact rationals that floating-point results are rounded to


class ShuffledSum(Protocol):
    """Sums whole numbers from 0 to `domain`, one a person.

    `persons` is the least number of honest participants for which the guarantee was computed. Fewer: nothing
    is published. More: what the others send is independent of any one person's bits and is added to them, so
    that the published number of ones is post-processing of that of `persons` honest ones; the guarantee
    stays.
    """

    @property
    def persons(self) -> int: ...

    @property
    def domain(self) -> int: ...

    @property
    def places(self) -> int:
        """Returns bits that every participant sends."""
        ...

    @property
    def guarantee(self) -> Guarantee: ...

    def randomise(self, values: NDArray[np.int64], rng: RandomSource) -> Packed:
        """Returns `(n, ⌈places / 8⌉)`: what the device of each person sends."""
        ...

    def analyse(self, ones: int, participants: int) -> Fraction:
        """Returns the unbiased estimate of the sum from the number of ones among the shuffled bits."""
        ...


def shuffled(
    protocol: ShuffledSum, reports: Packed, rng: RandomSource, *, honest: int | None = None
) -> Packed | None:
    """Returns the bits of the reports as the shuffler publishes them, or nothing.

    honest: how many of the participants are known not to collude; by default all. Nothing is published when
    they are fewer than the protocol's declared minimum.
    """
    if (reports.shape[0] if honest is None else min(honest, reports.shape[0])) < protocol.persons:
        return None
    return shuffle_bits(rng, reports, protocol.places)


def check_target(persons: int, epsilon: Fraction, delta: Fraction, radius: int, domain: int) -> None:
    """Refuses a target out of range. Errors: `ParameterError` naming the value that is out of range."""
    checked_epsilon(epsilon)
    exact_decimal("delta", Fraction(delta), low=0, low_open=True, high=Fraction(1, 2))
    whole(1, MOST_PERSONS, persons=persons)
    whole(1, LARGEST_DOMAIN, domain=domain)
    whole(1, domain, radius=radius)


def sum_guarantee(*, epsilon: Fraction, delta: Fraction, radius: int, alone: Guarantee) -> Guarantee:
    """Returns ε a step (counted as a metre) up to the radius;
    `alone` is what is left without the shuffler.
    """
    return Guarantee(
        relation=Relation.REPLACE,
        trust=Trust.SHUFFLE,
        delta=delta,
        max_distance_m=Fraction(radius),
        terms=(Term(cap=INFINITY, alpha_per_m=epsilon),),
        if_shuffler_fails=alone,
    )


def check_values(values: NDArray[np.int64], domain: int) -> None:
    """Refuses values out of range. Errors: ValueError, without a value, for numbers outside 0 … domain."""
    if values.ndim != 1 or (values.size and (values.min() < 0 or values.max() > domain)):
        raise ValueError("values must be whole numbers from 0 to the domain's largest")


def rounded_down(number: float) -> Fraction:
    """Returns the multiple of 2^−40 below a number, or the number itself where that would be 0."""
    whole = int(number * STEPS)
    return Fraction(whole, int(STEPS)) if whole > 2**20 else Fraction(number)


def rounded_up(number: float) -> Fraction:
    """Returns the multiple of 2^−40 above a number, and above what rounding may have cost it."""
    return Fraction(int(number * (1 + 1e-11) * STEPS) + 1, int(STEPS))
