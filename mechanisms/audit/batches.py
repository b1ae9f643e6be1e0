"""Audits published sums from whole arrays of runs, and tails that no plain run ever reaches.

As in `audit/lower_bound.py`, an event is chosen on one half of the runs and bounded on the other half
(Clopper, Pearson 1934). Events are tails {y ≥ t} or {y ≤ t}: a move shifts the law of a sum, and for
log-concave noise tails are the best events. At a far move the loss is so large that its rare side is never
seen: there runs are drawn from a tilted law e^(θy)·P(y)/M(θ) instead, and each counts as M(θ)·e^(−θy), at
most W = M(θ)·e^(−θt) on the tail. A run is then kept with probability weight/W, so that what is counted is
again a number of coins, and the bounds hold without any assumption.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from mechanisms.check import in_range, positive
from mechanisms.randomness import RandomSource
from mechanisms.samplers.negative_binomial import negative_binomial

_QUANTILES: Final = np.concatenate(
    [np.geomspace(1e-5, 0.01, 20), np.linspace(0.01, 0.99, 99), 1 - np.geomspace(1e-5, 0.01, 20)]
)
CONFIDENCE: Final = 0.999
Interval: TypeAlias = tuple[float, float]
Gain: TypeAlias = Callable[[Interval, Interval], float]  # of (likely, rare)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Runs:
    """Holds numbers published in independent runs on one input, or on it tilted by θ."""

    values: NDArray[np.int64] = field(repr=False)  # (draws,)
    tilt: float = 0.0  # θ
    log_moment: float = 0.0  # log M(θ) = log E e^(θY)

    def moved(self, steps: int) -> "Runs":
        """Returns the same noise on an input whose sum is larger by `steps`."""
        return Runs(
            values=self.values + steps, tilt=self.tilt, log_moment=self.log_moment + self.tilt * steps
        )


@dataclass(frozen=True, slots=True)
class _Half:
    """Counts how often each number was published in one half of the runs."""

    support: NDArray[np.int64]
    counts: NDArray[np.int64]
    tilt: float
    log_moment: float
    risk: float  # of each bound

    def bounds(self, tail: "_Tail", rng: np.random.Generator) -> Interval:
        """Returns (lower, upper) bound on a tail's probability."""
        sign = 1 if tail.above else -1
        # A tilt that points away from the tail leaves its weights without a bound: nothing is said then.
        if self.tilt * sign < 0:
            return 0.0, 1.0
        beyond = sign * (self.support - tail.threshold)
        inside = beyond >= 0
        counts = self.counts[inside]
        if self.tilt:
            counts = rng.binomial(counts, np.exp(-abs(self.tilt) * beyond[inside]))
        hits, trials = int(counts.sum()), int(self.counts.sum())
        low = float(beta.ppf(self.risk, hits, trials - hits + 1)) if hits else 0.0
        high = float(beta.isf(self.risk, hits + 1, trials - hits)) if hits < trials else 1.0
        scale = self.log_moment - self.tilt * tail.threshold
        return _scaled(low, scale), min(1.0, _scaled(high, scale))


@dataclass(frozen=True, slots=True)
class _Tail:
    """Selects {y ≥ threshold} or {y ≤ threshold}; `swapped`: more likely on the other input."""

    threshold: int
    above: bool
    swapped: bool

    def gain(self, halves: tuple[_Half, _Half], gain: Gain, rng: np.random.Generator) -> float:
        likely, rare = halves[::-1] if self.swapped else halves
        return gain(likely.bounds(self, rng), rare.bounds(self, rng))


def least_delta(
    first: Runs, second: Runs, *, loss: float, seed: int, confidence: float = CONFIDENCE
) -> float:
    """Returns a lower bound on δ at a loss between two neighbouring inputs,
    at that confidence; 0 if none is found.

    first, second: runs of either input (at least 100). seed: of the coins that weigh tilted runs.
    """

    def gain(likely: Interval, rare: Interval) -> float:
        return likely[0] - _scaled(rare[1], loss)

    return max(0.0, _held_out(first, second, gain, seed, confidence))


def least_loss(
    first: Runs, second: Runs, *, delta: float = 0.0, seed: int, confidence: float = CONFIDENCE
) -> float:
    """Returns a lower bound on the loss at δ between two neighbouring inputs; as `least_delta`."""

    def gain(likely: Interval, rare: Interval) -> float:
        left = likely[0] - delta
        return math.log(left) - math.log(rare[1]) if left > 0 and rare[1] > 0 else -math.inf

    return max(0.0, _held_out(first, second, gain, seed, confidence))


def tilted_geometric_sum(
    rng: RandomSource, *, persons: int, epsilon_geo: Fraction, mean: int, draws: int
) -> Runs:
    """Returns runs of the sum of n two-sided geometric noises, tilted so that their mean is about `mean`.

    e^(θy)·SGDL(n, p) is the law of NB(n, 1 − p·e^θ) − NB(n, 1 − p·e^−θ), from integer tables.
    """
    positive(persons=persons, epsilon_geo=epsilon_geo)
    in_range(100, 10**8, draws=draws)
    theta = _tilt_for(persons, float(epsilon_geo), mean)
    up, down = (
        negative_binomial(rng, shape=Fraction(persons), epsilon=epsilon_geo - side, size=draws)
        for side in (theta, -theta)
    )
    p, t = math.exp(-float(epsilon_geo)), float(theta)
    log_moment = persons * (2 * math.log1p(-p) - math.log1p(-p * math.exp(t)) - math.log1p(-p * math.exp(-t)))
    return Runs(values=up - down, tilt=t, log_moment=log_moment)


def _held_out(first: Runs, second: Runs, gain: Gain, seed: int, confidence: float) -> float:
    """Returns the gain, on the second halves, of the tail that is best on the first ones."""
    in_range(0.5, 1 - 1e-12, confidence=confidence)
    for runs in (first, second):
        in_range(100, 10**9, draws=runs.values.size)
    rng, risk = np.random.default_rng(seed), (1 - confidence) / 2  # two bounds must hold at once
    (learn_one, test_one), (learn_other, test_other) = (_halves(runs, risk) for runs in (first, second))
    learned = learn_one, learn_other
    best = max(_tails(*learned), key=lambda tail: tail.gain(learned, gain, rng))
    return best.gain((test_one, test_other), gain, rng)


def _halves(runs: Runs, risk: float) -> tuple[_Half, _Half]:
    middle = runs.values.size // 2
    first, second = (
        _Half(*np.unique(part, return_counts=True), runs.tilt, runs.log_moment, risk)
        for part in (runs.values[:middle], runs.values[middle:])
    )
    return first, second


def _tails(first: _Half, second: _Half) -> Iterator[_Tail]:
    thresholds = np.concatenate([_quantiles(half) for half in (first, second)])
    for threshold in np.unique(thresholds).tolist():
        for above in (True, False):
            for swapped in (True, False):
                yield _Tail(threshold, above, swapped)


def _quantiles(half: _Half) -> NDArray[np.int64]:
    reached = np.searchsorted(np.cumsum(half.counts), _QUANTILES * half.counts.sum())
    thresholds: NDArray[np.int64] = half.support[np.minimum(reached, half.support.size - 1)]
    return thresholds


def _scaled(bound: float, log_factor: float) -> float:
    return math.exp(min(700.0, math.log(bound) + log_factor)) if bound > 0 else 0.0


def _tilt_for(persons: int, epsilon_geo: float, mean: int) -> Fraction:
    """Returns θ from 0 to ε_geo by bisection, to 1/1024 of it."""
    low, high = 0, 1024
    while high - low > 1:
        middle = (low + high) // 2
        up, down = (math.exp(-epsilon_geo * (1 - sign * middle / 1024)) for sign in (1, -1))
        low, high = (middle, high) if persons * (up / (1 - up) - down / (1 - down)) < mean else (low, middle)
    return Fraction(low, 1024) * Fraction(epsilon_geo)
