"""Adds from every person a share of the noise that one trusted curator would add: SGDL-Shuffle."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Self

from mechanisms.accounting.sgdl import sgdl
from mechanisms.accounting.symmetric_law import SymmetricLaw
from mechanisms.check import ParameterError
from mechanisms.guarantee import INFINITY, Term
from mechanisms.shuffle.padded_noise import PaddedNoise, PaddedSum, Variant, padding_for
from mechanisms.shuffle.protocol import check_target, rounded_down, rounded_up

_CUT_PART: Final = 0.999  # of δ


@dataclass(frozen=True, slots=True, kw_only=True)
class SgdlSum(PaddedSum):
    """Sums n values with noise N_i ~ SGDL(1/n, e^−ε) from everybody, which sums to geometric noise.

    Guarantee: loss ε a step up to `radius` steps, nothing beyond, δ under REPLACE. Noise that is not cut is
    worth ε a step with δ = 0 (infinite divisibility of the geometric law); all of δ is what the cut at the
    padding costs, (1 + e^(εD))·τ or e^(εD)·τ/(1 − τ) (`conditioned.py`), which grows with d. The padding is
    therefore above the radius, and far above the printed one (Athanasiou et al. 2025, Lemma C.1, mistakes the
    mean n/p of a number of trials for n·p).
    Without the shuffler next to nothing is left: most persons send their exact value (`sends_exact_value`),
    which is deniability in name only. log a_0/a_d is the exact loss of unbounded noise at d steps (Theorem
    7.2), at most d times that of one step.
    Edge cases: as `GeoSum`.
    Error: `standard_error`.
    References: Athanasiou, Chatzikokolakis, Palamidessi, PoPETs 2025, Algorithm 4.
    """

    name: ClassVar[str] = "sgdl-shuffle"

    def __post_init__(self) -> None:
        PaddedSum.__post_init__(self)  # super() knows the class only as it was before slots were added
        if self.noise.shape * self.persons != 1 or self.noise.epsilon > self.epsilon:
            raise ParameterError("noise", "of another law", "an n-th of geometric noise with epsilon")
        self._check_spent(0.0)

    @classmethod
    def calibrate(
        cls,
        *,
        persons: int,
        epsilon: Fraction,
        delta: Fraction,
        radius: int,
        domain: int,
        variant: Variant = Variant.CONDITIONED,
    ) -> Self:
        """Returns the least padding within the target. Errors: `ParameterError`."""
        check_target(persons, epsilon, delta, radius, domain)
        shape, exact = Fraction(1, persons), rounded_down(float(epsilon) * (1 - 1e-15))
        padding = padding_for(
            draws=persons,
            shape=shape,
            epsilon=exact,
            part=_CUT_PART * float(delta),
            loss=float(epsilon) * radius,
        )
        noise = PaddedNoise(shape=shape, epsilon=exact, padding=padding, domain=domain, variant=variant)
        return cls(
            persons=persons, epsilon=Fraction(epsilon), delta=Fraction(delta), radius=radius, noise=noise
        )

    @property
    def sends_exact_value(self) -> float:
        """Returns the probability that a person's noise is 0."""
        return math.exp(float(self._law(0).log_probabilities[0]))

    def local_loss(self, distance: int) -> float:
        """Returns log a_0/a_d: the loss between two values of one person's report, where both can be sent.

        For β < 1 log a is convex on both sides of its peak at 0, so the ratio of two entries d apart is
        largest when one of them is the peak.
        """
        logs = self._law(distance).log_probabilities
        return float(logs[0] - logs[distance])

    def standard_error(self, participants: int) -> float:
        """Returns the standard error of the sum, in steps."""
        p = math.exp(-float(self.noise.epsilon))
        return math.sqrt(2 * p * participants / self.persons) / (1 - p)

    def _alone(self, edge: float) -> Term:
        cap = rounded_up(self.local_loss(self.radius)) if edge else INFINITY
        return Term(cap=cap, alpha_per_m=rounded_up(self.local_loss(1)))

    def _law(self, radius: int) -> SymmetricLaw:
        return sgdl(float(self.noise.shape), float(self.noise.epsilon), radius=max(radius, 1000))
