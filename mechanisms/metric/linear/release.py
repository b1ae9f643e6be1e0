"""Releases any linear query: noise on an integer lattice, once for everybody or on each device."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, Self, TypeAlias

import numpy as np

from mechanisms.check import ParameterError, in_range, positive
from mechanisms.guarantee import Guarantee, Relation, Term, Trust
from mechanisms.mechanism import Target
from mechanisms.metric.linear.gaussian import smallest_deviation
from mechanisms.metric.linear.noise import Integers, discrete_gaussian, k_norm
from mechanisms.metric.linear.queries import Floats, LinearQuery
from mechanisms.randomness import RandomSource

Noise: TypeAlias = Literal["k-norm", "gaussian"]
SCALE_STEPS: Final = 2**20  # lattice steps in the noise's scale: what rounding costs is a millionth of it
_MOST_STEPS: Final = 2.0**45  # in an answer: floats are right to a part of a step up to here


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearRelease:
    """Sums persons' answers on a lattice and adds noise: Algorithm 1 of Imola et al. 2024.

    Guarantee: under REPLACE. One person whose record moves by d in the earth mover's distance moves their
    answer by at most ℓ·d (Theorem 4.1), its rounding to lattice steps by at most √dimensions steps more, with
    as much again for the floating point of f. `k-norm`: a shift by D steps costs (D + 1)/`SCALE_STEPS`
    (`k_norm`), δ = 0. `gaussian`: δ at `radius_m` and `epsilon`, certified on the lattice; nearer than that
    less is lost in proportion, as δ(α·d) does not fall with d (the noise is log-concave); farther, nothing
    is promised.
    Central: `persons` = n, one draw for the sum. Local: the same on each device, with persons = 1.
    d is that of records as read (`Guarantee`).
    Edge cases: who has no check-ins adds an answer of 0; places outside the region count at its nearest edge.
    Error: `expected_error`, in the query's own unit.
    References: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the user-level via the
    earth mover's distance", 2024, Algorithm 1, Theorem 4.1, Lemma 4.2; Hardt, Talwar, STOC 2010; Balle,
    Wang 2018.
    """

    query: LinearQuery
    persons: int
    epsilon: Fraction  # loss when one person's record moves by `radius_m`
    radius_m: Fraction
    delta: Fraction = Fraction(0)
    noise: Noise = "k-norm"
    trust: Trust = Trust.CENTRAL

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon, radius_m=self.radius_m)
        in_range(1, 2**31, persons=self.persons)
        if (self.noise == "gaussian") != (self.delta > 0):
            raise ParameterError("delta", self.delta, "above 0 for gaussian noise and 0 for k-norm noise")
        if self.trust is Trust.LOCAL and self.persons != 1:
            raise ParameterError("persons", self.persons, "1 on a device")
        if self.query.diameter / self.step > _MOST_STEPS:
            raise ParameterError("epsilon", float(self.epsilon), "less: the noise is too fine")

    @classmethod
    def calibrate(cls, target: Target, *, query: LinearQuery, persons: int, local: bool = False) -> Self:
        """Returns the mechanism, with Gaussian noise where `target.delta` is above 0."""
        if target.relation is not Relation.REPLACE:
            raise ParameterError("relation", target.relation, Relation.REPLACE)
        radius_m = target.needed_radius_m
        return cls(
            query=query,
            persons=persons,
            epsilon=target.epsilon,
            radius_m=radius_m,
            delta=target.delta,
            noise="gaussian" if target.delta else "k-norm",
            trust=Trust.LOCAL if local else Trust.CENTRAL,
        )

    @property
    def guarantee(self) -> Guarantee:
        step, lipschitz = self.step, self.query.lipschitz_per_m
        if self.noise == "gaussian":
            nearest, offset_m = min(self.radius_m, self._reach_m), self._rounding * step / lipschitz
            term = Term(cap=self.epsilon, alpha_per_m=self.epsilon / (nearest + offset_m), offset_m=offset_m)
            return self._guarantee(term, nearest if nearest < self._reach_m else math.inf)
        rounding = self._rounding + 1
        term = Term(
            cap=(self.query.diameter / step + rounding) / SCALE_STEPS,
            alpha_per_m=lipschitz / step / SCALE_STEPS,
            offset_m=rounding * step / lipschitz,
        )
        return self._guarantee(term, math.inf)

    @property
    def step(self) -> Fraction:
        """Returns the step of the lattice, in the query's unit:
        the noise's scale is `SCALE_STEPS` of them.
        """
        farthest = min(self.query.lipschitz_per_m * self.radius_m, self.query.diameter)
        if self.noise == "gaussian":
            deviations = smallest_deviation(
                float(self.epsilon), float(self.delta), dimensions=self.query.dimensions, steps=SCALE_STEPS
            )
            steps = SCALE_STEPS / Fraction(deviations) - self._rounding
        else:
            steps = self.epsilon * SCALE_STEPS - self._rounding - 1
        if steps <= 0:
            raise ParameterError("epsilon", float(self.epsilon), "larger: the noise has a million steps")
        return farthest / steps

    @property
    def scale(self) -> float:
        """Returns ω or σ of the noise on the mean, in the query's unit."""
        return float(self.step) * SCALE_STEPS / self.persons

    def release(self, answers: Floats, rng: RandomSource) -> Floats:
        """Returns `(d,)` the noisy mean. answers:
        `(k, d)` of the persons with check-ins, at most `persons`.
        """
        if len(answers) > self.persons:
            raise ParameterError("answers", "of more persons", f"of at most {self.persons}")
        total = self.on_lattice(answers).sum(axis=0) + self.draws(rng, size=1)[0]
        return np.asarray(total * (float(self.step) / self.persons))

    def on_lattice(self, answers: Floats) -> Integers:
        """Returns `(k, d)` answers in whole steps, each by its own record alone."""
        return np.rint(answers / float(self.step)).astype(np.int64)

    def draws(self, rng: RandomSource, *, size: int) -> Integers:
        """Returns `(size, d)` noise in lattice steps."""
        d = self.query.dimensions
        if self.noise == "k-norm":
            return k_norm(rng, steps=(1,) * d, scale=Fraction(SCALE_STEPS), size=size)
        return discrete_gaussian(rng, deviation=SCALE_STEPS, size=size * d).reshape(size, d)

    def expected_error(self) -> float:
        """Returns the mean Euclidean length of the noise on the mean of `persons`, in the query's unit."""
        d = self.query.dimensions
        if self.noise == "k-norm":
            return d * self.scale
        return self.scale * math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))

    @property
    def _rounding(self) -> Fraction:
        """Returns steps that rounding and floating point can add to the distance of two answers."""
        d = self.query.dimensions
        return Fraction(2 * (math.isqrt(d) + (math.isqrt(d) ** 2 < d)))

    @property
    def _reach_m(self) -> Fraction:
        """Returns the length of a move after which two answers are as far apart as any."""
        return self.query.diameter / self.query.lipschitz_per_m

    def _guarantee(self, term: Term, farthest: Fraction | float) -> Guarantee:
        return Guarantee(
            relation=Relation.REPLACE,
            delta=self.delta,
            trust=self.trust,
            max_distance_m=farthest,
            terms=(term,),
        )


def record_answers(query: LinearQuery, persons: Integers, lat: Floats, lon: Floats) -> Floats:
    """Returns `(k, d)` answers of the k persons that occur, in the order of their numbers: means of f."""
    _, number = np.unique(persons, return_inverse=True)
    values, counts = query.values(lat, lon), np.bincount(number)
    sums = [np.bincount(number, weights=values[:, column]) for column in range(query.dimensions)]
    return np.asarray(np.stack(sums, axis=1) / counts[:, np.newaxis])
