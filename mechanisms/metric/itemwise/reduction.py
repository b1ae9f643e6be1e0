"""Reduces records of any length to one public length: s samples with replacement, and their cost.

Two records at d = d_EM are sampled through a coupling of least cost (the mechanism itself samples each alone,
which has the same law): the s pairs are at independent distances of mean d, none above the diameter D, so
that d_EM of the samples exceeds c·D with probability at most exp(−s·KL(c‖d/D)) (Chernoff; Hoeffding 1963,
Theorem 1). A mechanism that is (α·d_EM, δ)-private on s points is therefore (α·c(d)·D, δ + δ_s)-private on
records, where c(d) solves s·KL(c‖d/D) = ln(1/δ_s). Lemma 5.2 (Imola, Roy Chowdhury, Chaudhuri 2024) takes
(1 + √2)·d/D + 3·ln(1/δ_s)/s instead (its statement prints 3/8 for 3/s).

KL is convex in both arguments, so that c is concave in d: a tangent of c lies above it everywhere and the
whole guarantee is one term with one δ, without group privacy over multiples of a radius.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from mechanisms.check import ParameterError, in_range, positive, whole
from mechanisms.guarantee import Exact, Term
from mechanisms.randomness import RandomSource

MOST_SAMPLES: Final = 10**6
_UP: Final = 1e-9  # relative, covers floating point
_SPARE: Final = Fraction(1, 10**7)  # of the reach: more than a slope that is off by 1e-8 can miss


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Draws `samples` points of a record, with replacement; `delta`: chance δ_s of an unlucky sample."""

    samples: int
    delta: Fraction
    diameter_m: Fraction

    def __post_init__(self) -> None:
        whole(1, MOST_SAMPLES, samples=self.samples)
        positive(delta=self.delta, diameter_m=self.diameter_m)
        if self.delta >= 1:
            raise ParameterError("delta", float(self.delta), "above 0 and below 1")

    def reach(self, distance_m: Exact) -> Fraction:
        """Returns c(d)·D in metres, rounded up:
        what d_EM of the samples exceeds with probability at most δ_s.
        """
        part = min(1.0, float(distance_m) / float(self.diameter_m))
        share = part if not distance_m else chernoff(part, samples=self.samples, delta=float(self.delta))
        return min(self.diameter_m, _up(share) * self.diameter_m)

    def discrete_term(self, *, alpha_per_m: Fraction, cap: Exact, radius_m: Fraction) -> Term:
        """Returns the discrete guarantee (Definition 5.1): ε = α·c(r)·D for each started multiple of r.

        c(k·r) ≤ k·c(r), since c is concave and at least 0: no δ is multiplied, as Fact 5.1 would.
        """
        positive(radius_m=radius_m)
        epsilon = alpha_per_m * self.reach(radius_m) * (1 + _SPARE)
        return Term(cap=cap, alpha_per_m=epsilon / radius_m, step_m=radius_m)

    def tangent_term(self, *, alpha_per_m: Fraction, cap: Exact, radius_m: Fraction) -> Term:
        """Returns the same loss at r, never more than the discrete term elsewhere: a line above α·c(d)·D."""
        positive(radius_m=radius_m)
        here = self.reach(radius_m)
        if here >= self.diameter_m:
            return Term(cap=min(cap, alpha_per_m * self.diameter_m))
        slope = _up(_slope(float(radius_m / self.diameter_m), float(here / self.diameter_m)) * (1 + _UP))
        offset = max(Fraction(0), here - slope * radius_m) + here * _SPARE
        return Term(cap=cap, alpha_per_m=alpha_per_m * slope, offset_m=offset / slope)


def chernoff(part: float, *, samples: int, delta: float) -> float:
    """Returns c ≥ part with samples · KL(c‖part) = ln(1/δ), rounded up; at most 1. part in (0, 1].

    c is concave in the part and at least the part: it is off by no more than what the part is, relatively.
    """
    in_range(0, 1, part=part)
    exponent = -math.log(delta) / samples
    if part <= 0:
        return 0.0
    if part >= 1 or -math.log(part) <= exponent:
        return 1.0
    return min(
        1.0, float(brentq(lambda c: divergence(c, part) - exponent, part, 1.0, xtol=1e-16)) * (1 + _UP)
    )


def lemma_5_2(part: float, *, samples: int, delta: float) -> float:
    """Returns (1 + √2)·part + 3·ln(1/δ)/s, what the paper uses for c; for comparison."""
    return (1 + math.sqrt(2)) * part - 3 * math.log(delta) / samples


def divergence(c: float, part: float) -> float:
    """Returns KL of two coins."""
    first = c * math.log(c / part) if c > 0 else 0.0
    return first + ((1 - c) * math.log((1 - c) / (1 - part)) if c < 1 else 0.0)


def sample_records(lengths: NDArray[np.int64], samples: int, rng: RandomSource) -> NDArray[np.int64]:
    """Returns `(persons, samples)` positions within each record, exactly uniform,
    independent; −1 for empty records.

    A word below the largest multiple of a record's length is used modulo the length, else drawn again.
    """
    wide = np.repeat(lengths.astype(np.uint64), samples)
    positions = np.full(wide.size, -1, dtype=np.int64)
    left = np.flatnonzero(wide)
    while left.size:
        words, length = rng.words(left.size), wide[left]
        # 2^64 mod length, without 2^64: (2^64 − length) mod length.
        surplus = (np.uint64(0) - length) % length
        good = words >= surplus
        positions[left[good]] = (words[good] % length[good]).astype(np.int64)
        left = left[~good]
    return positions.reshape(lengths.size, samples)


def _slope(part: float, c: float) -> float:
    """Returns dc/dpart on the curve KL(c‖part) = const: −∂KL/∂part / ∂KL/∂c."""
    if c >= 1:
        return 1.0
    rise = math.log(c * (1 - part) / (part * (1 - c)))
    return (c - part) / (part * (1 - part)) / rise if rise > 0 else 1.0


def _up(value: float) -> Fraction:
    return Fraction(math.ceil(Fraction(value) * 10**12), 10**12)
