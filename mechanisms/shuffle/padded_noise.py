"""Keeps one axis of Geo- and SGDL-Shuffle in range: integer noise from each person, and a padding."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting.conditioned import (
    charge_of_clamping,
    charge_of_conditioning,
    log_truncation,
    smallest_padding,
)
from mechanisms.accounting.sgdl import sgdl
from mechanisms.check import ParameterError, in_range, positive
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Term, Trust
from mechanisms.randomness import RandomSource
from mechanisms.samplers.two_sided import conditioned_noise, sgdl_noise, total_variation
from mechanisms.shuffle.protocol import LARGEST_DOMAIN, check_target, check_values, sum_guarantee
from mechanisms.shuffle.unary import Packed, encode

HIGHEST_LOSS: Final = 250.0  # at the radius: e^loss has to be small beside what samplers leave out


class Variant(StrEnum):
    """Names the treatment of noise beyond the padding."""

    CONDITIONED = (
        "conditioned"  # drawn again: unbiased, but what is sent has an edge that depends on the value
    )
    CLAMPED = "clamped"  # moved to the edge: biased by next to nothing, no edge of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class PaddedNoise:
    """Sends x + N + c in unary, N from SGDL(shape, e^−epsilon), between 0 and domain + 2c."""

    shape: Fraction  # β of one person's noise: 1 for Geo-Shuffle, 1/n for SGDL-Shuffle
    epsilon: Fraction  # of the noise, a step
    padding: int  # c
    domain: int  # k
    variant: Variant = Variant.CONDITIONED

    def __post_init__(self) -> None:
        positive(shape=self.shape, epsilon=self.epsilon)
        in_range(1, LARGEST_DOMAIN, domain=self.domain)
        in_range(1, 10**6, padding=self.padding)
        object.__setattr__(self, "variant", Variant(self.variant))

    @property
    def places(self) -> int:
        return self.domain + 2 * self.padding

    def randomise(self, values: NDArray[np.int64], rng: RandomSource) -> Packed:
        check_values(values, self.domain)
        noisy = values + self.noise(rng, values.size) + self.padding
        return encode(np.clip(noisy, 0, self.places), self.places)

    def noise(self, rng: RandomSource, size: int) -> NDArray[np.int64]:
        """Returns `(size,)` draws: within ±padding if conditioned, else unbounded."""
        if self.variant is Variant.CLAMPED:
            return sgdl_noise(rng, shape=self.shape, epsilon=self.epsilon, size=size)
        return conditioned_noise(rng, shape=self.shape, epsilon=self.epsilon, padding=self.padding, size=size)

    def analyse(self, ones: int, participants: int) -> Fraction:
        return Fraction(ones - participants * self.padding)

    def spent(self, delta_of_sum: float, *, draws: int, loss: float) -> float:
        """Returns δ of what is published, from δ of the sum of noise
        that is neither cut nor rounded, at a loss.

        draws: noise values that must all stay within the padding (persons, times two for two axes).
        """
        if loss > HIGHEST_LOSS:
            raise ParameterError("epsilon", loss, f"a loss of at most {HIGHEST_LOSS:g} at the radius")
        cut = log_truncation(
            persons=draws, beta=float(self.shape), epsilon=float(self.epsilon), padding=self.padding
        )
        charge = charge_of_conditioning if self.variant is Variant.CONDITIONED else charge_of_clamping
        factor, addend = charge(log_truncation=cut, loss=loss)
        return delta_of_sum * factor + addend + _sampler_charge(self.shape, self.epsilon, draws, loss)

    def local_edge(self, radius: int) -> float:
        """Returns P(noise is nearer than `radius` to one edge): what a value `radius` away can never send.

        0 for clamped noise, which is unbounded. Rounded up.
        """
        if self.variant is Variant.CLAMPED:
            return 0.0
        law = sgdl(float(self.shape), float(self.epsilon), radius=self.padding)
        table = np.exp(law.log_probabilities)
        inside = 2 * table.sum() - table[0]
        lowest = self.padding - radius + 1
        edge = table[max(lowest, 0) :].sum() + (table[1 : 1 - lowest].sum() if lowest < 0 else 0.0)
        return min(1.0, float(edge / inside) * (1 + 1e-9))


@dataclass(frozen=True, slots=True, kw_only=True)
class PaddedSum(ABC):
    """Sums n values with padded noise from everybody: the base of Geo- and SGDL-Shuffle."""

    name: ClassVar[str]
    persons: int  # n, the least number of honest participants
    epsilon: Fraction  # a step
    delta: Fraction
    radius: int  # D, steps
    noise: PaddedNoise

    def __post_init__(self) -> None:
        check_target(self.persons, self.epsilon, self.delta, self.radius, self.domain)

    @property
    def guarantee(self) -> Guarantee:
        """Returns the guarantee with a step counted as a metre."""
        edge = self.noise.local_edge(self.radius)
        alone = Guarantee(
            relation=Relation.REPLACE,
            trust=Trust.LOCAL,
            delta=Fraction(edge),
            max_distance_m=Fraction(self.radius) if edge else INFINITY,
            terms=(self._alone(edge),),
        )
        return sum_guarantee(epsilon=self.epsilon, delta=self.delta, radius=self.radius, alone=alone)

    @property
    def domain(self) -> int:
        return self.noise.domain

    @property
    def places(self) -> int:
        return self.noise.places

    def randomise(self, values: NDArray[np.int64], rng: RandomSource) -> Packed:
        return self.noise.randomise(values, rng)

    def analyse(self, ones: int, participants: int) -> Fraction:
        return self.noise.analyse(ones, participants)

    @abstractmethod
    def _alone(self, edge: float) -> Term:
        """Returns the guarantee without the shuffler; `edge` is the δ of the padding's edge."""

    def _check_spent(self, delta_of_sum: float) -> None:
        loss = float(self.epsilon) * self.radius
        spent = self.noise.spent(delta_of_sum, draws=self.persons, loss=loss)
        if spent > self.delta:
            allowed = f"at least {spent:.6g} with this noise and padding"
            raise ParameterError("delta", float(self.delta), allowed)


def padding_for(*, draws: int, shape: Fraction, epsilon: Fraction, part: float, loss: float) -> int:
    """Returns the smallest c for which what the cut costs, at a loss,
    is at most `part` of δ (either variant).
    """
    return max(
        1,
        smallest_padding(
            persons=draws,
            beta=float(shape),
            epsilon=float(epsilon),
            # (1 + e^loss)·τ and e^loss·τ/(1 − τ) are both at most `part` then.
            log_probability=math.log(part) - np.logaddexp(0.0, loss) - part,
        ),
    )


def _sampler_charge(shape: Fraction, epsilon: Fraction, draws: int, loss: float) -> float:
    """Returns draws · (1 + e^loss) · total variation, rounded up."""
    off = total_variation(shape=shape, epsilon=epsilon)
    if not off:
        return 0.0
    log_off = (off.numerator.bit_length() - off.denominator.bit_length() + 1) * math.log(2)
    return math.exp(min(0.0, log_off + math.log(draws) + float(np.logaddexp(0.0, loss))))
