"""Adds two-sided geometric noise from every person, together more than enough for the sum: Geo-Shuffle."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Self

from mechanisms.accounting.hockey_stick import calibrate_geo_sum, geo_sum_delta
from mechanisms.check import ParameterError
from mechanisms.guarantee import INFINITY, Term
from mechanisms.shuffle.padded_noise import (
    PaddedNoise,
    PaddedSum,
    Variant,
    padding_for,
)
from mechanisms.shuffle.protocol import check_target, rounded_down

CUT_PART: Final = 1e-3  # of δ, for what the padding cuts off
_SUM_PART: Final = 0.998  # of δ, for the noise


@dataclass(frozen=True, slots=True, kw_only=True)
class GeoSum(PaddedSum):
    """Sums n values with noise N_i ~ P(x) ∝ e^(−ε_geo|x|) from everybody.

    Guarantee: loss ε a step up to `radius` steps of one person's value, nothing beyond, δ under REPLACE. The
    published bits say no more than their sum (Proposition 1: every bit is shuffled with all others), which is
    Σ x_i + Σ N_i + n·c; Σ N_i ~ SGDL(n, e^−ε_geo) is log-concave, so that δ at d = radius decides
    (`hockey_stick.py`), and what the padding cuts off is charged as in `conditioned.py`. Athanasiou et al.
    2025 take d = 1 (Theorem 4.1) and charge the cut without e^(εd) (Proposition 3); neither holds.
    Without the shuffler a person has loss ε_geo a step: exactly and at any distance if clamped; if
    conditioned up to the radius, with a δ of its own, the probability of noise near the padding's edge.
    Edge cases: fewer than `persons` participants publish nothing; more are at least as private
    (`protocol.py`).
    Error: `standard_error`.
    References: Athanasiou, Chatzikokolakis, Palamidessi, PoPETs 2025, Algorithm 3.
    """

    name: ClassVar[str] = "geo-shuffle"
    epsilon_geo: Fraction

    def __post_init__(self) -> None:
        PaddedSum.__post_init__(self)  # super() knows the class only as it was before slots were added
        if self.noise.shape != 1 or self.noise.epsilon != self.epsilon_geo:
            raise ParameterError("noise", "of another law", "geometric with epsilon_geo")
        self._check_spent(
            geo_sum_delta(
                persons=self.persons,
                epsilon_geo=float(self.epsilon_geo),
                radius=self.radius,
                epsilon=float(self.epsilon),
            )
        )

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
        """Returns the least noise and padding within the target. Errors: `ParameterError`."""
        check_target(persons, epsilon, delta, radius, domain)
        largest = calibrate_geo_sum(
            persons=persons, epsilon=float(epsilon), delta=_SUM_PART * float(delta), radius=radius
        )
        epsilon_geo = rounded_down(largest)
        padding = padding_for(
            draws=persons,
            shape=Fraction(1),
            epsilon=epsilon_geo,
            part=CUT_PART * float(delta),
            loss=float(epsilon) * radius,
        )
        noise = PaddedNoise(
            shape=Fraction(1), epsilon=epsilon_geo, padding=padding, domain=domain, variant=variant
        )
        return cls(
            persons=persons,
            epsilon=Fraction(epsilon),
            delta=Fraction(delta),
            radius=radius,
            epsilon_geo=epsilon_geo,
            noise=noise,
        )

    def standard_error(self, participants: int) -> float:
        """Returns the standard error of the sum, in steps."""
        p = math.exp(-float(self.epsilon_geo))
        return math.sqrt(2 * participants * p) / (1 - p)

    def _alone(self, edge: float) -> Term:  # noqa: ARG002 - the same with and without an edge
        return Term(cap=INFINITY, alpha_per_m=self.epsilon_geo)
