"""Finds the noise of shuffled item-wise releases for a target by a formula, then certifies it."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr

from mechanisms.check import ParameterError
from mechanisms.guarantee import Exact
from mechanisms.local.geo_local import GeoLocal
from mechanisms.local.lattice import Lattice
from mechanisms.metric.itemwise.group import MOST_LOSS, holds
from mechanisms.metric.itemwise.reports import ItemWise

SMALLEST_EPSILON: Final = Fraction(1, 10**6)
_PARTS: Final = np.geomspace(0.02, 1, 12)  # of the largest loss of a report, where the worst step is sought
_TRIES: Final = (0.985, 0.97, 0.94, 0.9, 0.8, 0.6, 0.4)  # of what the formula gives
_SHRINK: Final = (0.0, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)  # integers of a table move its loss by millionths
_MOST_DECAYS: Final = 40.0  # along the shorter side of a cell: no report is moved any more
_DOWN: Final = 1 - 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """Holds public facts that fix the noise: ε is the loss when a record moves by `radius_m`."""

    lattice: Lattice
    persons: int
    samples: int
    epsilon: Fraction
    delta: Fraction
    radius_m: Fraction

    @property
    def sides_m(self) -> float:
        """Returns the width and height together, as far as reports can move."""
        lattice = self.lattice
        return float((lattice.columns - 1) * lattice.column_m + (lattice.rows - 1) * lattice.row_m)

    def noise_cap(self, decay_per_m: float) -> float:
        """Returns the loss of one report; one in a million is uniform on an axis, which bounds it there."""
        most = 2 * math.log(2.0**20 * max(self.lattice.columns, self.lattice.rows, 2))
        return min(decay_per_m * self.sides_m, most)

    @property
    def most_decay(self) -> float:
        """Returns the largest decay per metre; above, reports are exact already."""
        return _MOST_DECAYS / float(min(self.lattice.column_m, self.lattice.row_m))

    def release(self, decay_per_m: Fraction) -> ItemWise:
        """Returns the release with that noise. Errors: `ParameterError`."""
        return ItemWise(
            item=GeoLocal(lattice=self.lattice, decay_per_m=decay_per_m),
            persons=self.persons,
            samples=self.samples,
            delta=self.delta,
            radius_m=self.radius_m,
        )


class Fitted(NamedTuple):
    """Certifies `rate`: a change of reports at losses s_i costs at most rate · Σ s_i (`group.py`)."""

    decay_per_m: Fraction
    rate: Fraction


@lru_cache(maxsize=256)
def fit(requirement: Requirement) -> Fitted:
    """Returns the least noise found whose loss at the radius is at most ε, and nearly that.

    Any loss is in proportion to the rate, so that the rate may be what uses all of ε; whether it holds for
    reports of that noise is then proved once. Errors: `ParameterError` naming `epsilon`.
    """
    composed = _alone(requirement)
    guess = guessed_decay(requirement)
    for part in _TRIES:
        decay = _rounded(guess * part)
        if decay <= composed:
            break
        rate = Fraction(requirement.epsilon) / Fraction(_loss(requirement, decay))
        if rate >= 1 or _holds(requirement, decay, rate := _cut(rate)):
            return Fitted(decay, min(rate, Fraction(1)))
    return Fitted(composed, Fraction(1))


def _alone(requirement: Requirement) -> Fraction:
    """Returns a decay whose loss is at most ε, and nearly that,
    when every report of the person is seen apart.
    """
    decay = _composed(requirement)
    for shrink in _SHRINK:
        decay *= 1 - shrink
        loss = _loss(requirement, _rounded(decay))
        if loss <= requirement.epsilon:
            return _rounded(decay)
        decay *= float(requirement.epsilon) / float(loss)
    raise ParameterError("epsilon", float(requirement.epsilon), "more, or a larger radius or smaller cells")


def guessed_decay(requirement: Requirement) -> float:
    """Returns the decay per metre by the formula: within a few percent of what is found, and quick."""
    low, high = _composed(requirement), requirement.most_decay
    if low >= high or _excess(requirement, math.log(high)) <= 0:
        return high
    start = math.log(low * (1 + 1e-6))
    if _excess(requirement, start) > 0:
        return low
    return math.exp(float(brentq(lambda at: _excess(requirement, at), start, math.log(high), xtol=1e-4)))


def _excess(requirement: Requirement, log_decay: float) -> float:
    """Returns the largest log(D(s) / δψ) of `group.py` over a few s, at the rate that uses all of ε.

    C ~ Bin(N - 1, (1 + tanh(s/2)) e^-cap) is taken at its mean, and the two coins of a step as normal
    (A - C/2 has the deviation √C / 2, so that they are 2 tanh(s/2) / √C deviations apart).
    """
    decay = math.exp(log_decay)
    cap, half = requirement.noise_cap(decay), math.log(float(requirement.delta) / 2)
    rate = float(requirement.epsilon) / _approximate_loss(requirement, decay)
    if rate >= 1:
        return -math.inf
    if requirement.samples * rate * cap > MOST_LOSS:
        return math.inf
    steps = cap * _PARTS
    t, other_reports = np.tanh(steps / 2), requirement.persons * requirement.samples - 1
    coins = np.maximum(other_reports * math.exp(-cap) * (1 + t), 1e-9)
    apart, loss = 2 * t / np.sqrt(coins), rate * steps
    first, second = log_ndtr(apart / 2 - loss / apart), loss + log_ndtr(-apart / 2 - loss / apart)
    gap = first + np.log1p(-np.exp(np.minimum(second - first, -1e-12)))
    whole = requirement.samples * loss
    share = np.log(np.expm1(loss)) - whole - np.log(-np.expm1(-whole))
    return float((gap - half - share).max())


def _approximate_loss(requirement: Requirement, decay: float) -> float:
    """Computes `_loss` before the table is rounded."""
    reach_m = _reach_m(requirement)
    return requirement.samples * min(requirement.noise_cap(decay), math.sqrt(2) * decay * reach_m)


def _composed(requirement: Requirement) -> float:
    """Returns a decay for which ε is used up without any other person's reports."""
    reach_m = max(math.sqrt(2) * _reach_m(requirement), 1e-9)
    least_m = min(reach_m, requirement.sides_m) if requirement.sides_m else reach_m
    return min(float(requirement.epsilon) / requirement.samples / least_m, requirement.most_decay)


@lru_cache(maxsize=64)
def _reach_m(requirement: Requirement) -> float:
    """Returns the metres that reports move by, on average, when a record moves by the radius.

    They follow from Algorithm 3 and snapping.
    """
    release = requirement.release(Fraction(1))
    snap_m = float(release.item.costs.snap_m)
    return float(release.sampling.reach(requirement.radius_m * requirement.lattice.stretch)) + snap_m


def _loss(requirement: Requirement, decay_per_m: Fraction) -> Exact:
    """Returns the loss at the radius when every report of the person is seen apart."""
    return requirement.release(decay_per_m).guarantee_at(Fraction(1)).loss(requirement.radius_m)


def _holds(requirement: Requirement, decay_per_m: Fraction, rate: Fraction) -> bool:
    release = requirement.release(decay_per_m)
    cap, half = float(release.item.costs.cap), float(requirement.delta / 2)
    return holds(release.heap, requirement.samples, cap * (2 - _DOWN), half * _DOWN, float(rate) * _DOWN)


def _rounded(decay: float) -> Fraction:
    if not decay > 0 or not math.isfinite(decay):
        raise ParameterError("epsilon", decay, "another with this radius and number of persons")
    return Fraction(f"{decay:.5e}")


def _cut(rate: Fraction) -> Fraction:
    """Rounds down to twelve digits after the first."""
    digits = 10**12 * 10 ** len(str(int(1 / rate)))
    return Fraction(int(rate * digits), digits)
