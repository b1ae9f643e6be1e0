"""Bounds how little one report changes a shuffled heap of reports: "hiding among the clones".

One report is randomised from x or from x', by laws R and R' with 1/p ≤ ρ = R/R' ≤ p = e^s; N − 1 others from
anything, every loss at most `cap`. With t = (p − 1)/(p + 1) = tanh(s/2) it is enough to tell

    P = (1 − β)·X + β·Y  from  Q = β·X + (1 − β)·Y,   β = 1/(1 + e^s),
    X = (A + 1, C − A),  Y = (A, C − A + 1),  C ~ Bin(N − 1, (1 + t)·e^−cap),  A ~ Bin(C, 1/2).

Proof.

1. Any other's law is at least e^−cap·W with W = max(R, R'), so that each of the others is drawn from
   w = W/W(1) with the same probability γ = e^−cap·W(1), else from a law of its own. The heap is made from the
   number C of such others, the values y of these and of the changed report, in no order, and who these others
   are, which is uniform and tells nothing. For such values P/w^(C+1) is the mean of R(y_i)/w(y_i), so that

       δ ≤ E_C E (Σ_(i ≤ C+1) (R − e^ε·R')(y_i)/w(y_i))_+ / (C + 1) = E (Z_1 + … + Z_N)_+ / N,

   where the Z_i are independent, 0 with probability 1 − γ, else e^cap·(R − e^ε·R')/W at a draw from w
   (the privacy blanket: Balle, Bell, Gascón, Nissim 2019, Lemma 5.3).
2. (·)_+ is convex: δ can only grow when each Z_i is replaced by another of the same mean and larger in the
   convex order. For convex f with f(0) = 0, E f(Z) is the mean of g(ρ) under R', where g(ρ) = b·f(a/b) with
   a = ρ − e^ε, b = e^−cap·max(ρ, 1): the perspective of f at a line, so that g is convex below 1 and above.
   The mean of ρ is 1, hence E f(Z) is largest when ρ is 1/p, 1 or p alone. Then it is a line in the mass of
   ρ ≠ 1, and largest at an end: either R = R', or ρ is never 1, which is P and Q above.
3. The latter is larger where ε < s (else δ = 0). For f = (z − k)_+ with k ≥ 0 the former is 0. For
   f = (e^cap·k − z)_+ with k < 0 the former is (k − 1 + e^ε)_+, the latter at least
   p/(p + 1)·(k − 1/p + e^ε)_+. From k = 1 − e^ε, where the former is 0, to k = 0, where the latter is larger
   by (p − e^ε)/(p + 1), both are lines. Every convex f is a mixture of these and of lines.

Two counts alone do not prove it: a report from what R and R' share has to hide as well, among the others.
The probability (1 + t)·e^−cap is that of Wang et al. ("Privacy amplification via shuffling: unified,
simplified, and tightened", 2024); for s = cap it is 2/(e^cap + 1), of "stronger clones" (Feldman, McMillan,
Talwar 2023). The plain clones of Lemma B.1 (Imola, Roy Chowdhury, Chaudhuri 2024, after Feldman, McMillan,
Talwar 2021) are coins with probability e^−cap for every s.

With e^loss = 1 + t·a the hockey stick is t·Σ max(0, u·X − v·Y), where u = 1 − a(1 − t)/2 and
v = 1 + a(1 + t)/2. Given C the ratio of X to Y rises with A: each sum is a tail. Coins only help, so that C
is rounded down to the lower end of a bin.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, xlog1py

from mechanisms.check import in_range, positive

_BINS: Final = 300
_FAR_BINS: Final = 40  # below the window, with Chernoff's bound
_LOG_BEYOND: Final = 60.0  # what the window of C leaves out is below 2·exp(−60)
_UNDERFLOW: Final = 1e-290
_SLIGHT: Final = 1e-200  # a loss
_TAIL_ERROR: Final = 1e-8  # relative, of a binomial tail; up to `MOST_ITEMS` it is 1e-15 · √items
_TERM_ERROR: Final = 1e-8  # relative, of a binomial probability; tested against exact ones
MOST_ITEMS: Final = 10**12

Floats = NDArray[np.float64]


class Coins(NamedTuple):
    """Holds the law of C in bins: their lower ends, and bounds on their probabilities."""

    counts: Floats
    probabilities: Floats

    def gap(self, x_weight: float, y_weight: float) -> float:
        """Returns an upper bound on E Σ max(0, x_weight · X − y_weight · Y)."""
        if x_weight <= 0:
            return 0.0
        first = np.floor((self.counts + 1) * (y_weight / (x_weight + y_weight))) + 1  # X wins from here on
        y_tail, term = _tail(self.counts, first), binomial(self.counts, first - 1, 0.5, 0.5)
        gaps = np.maximum(x_weight * term - (y_weight - x_weight) * y_tail, 0.0)
        # Where the tail's part is larger than the term's, there is no gap but for errors of either.
        error = (_TERM_ERROR + _TAIL_ERROR) * x_weight * term
        return float((self.probabilities * (gaps + error)).sum()) + _UNDERFLOW


@dataclass(frozen=True, slots=True, kw_only=True)
class Clones:
    """Accounts for `items` shuffled reports, each of loss at most `cap`. Errors: ValueError out of range.

    `plain` are those of the paper, for comparison: probability e^−cap whatever the loss that is hidden.
    """

    items: int
    cap: float
    plain: bool = False

    def __post_init__(self) -> None:
        in_range(1, MOST_ITEMS, items=self.items)
        positive(cap=self.cap)

    def hockey_stick(self, item_loss: float, loss: float) -> float:
        """Returns an upper bound on δ at `loss` when one report changes at `item_loss`; both above 0."""
        if item_loss < _SLIGHT:
            return item_loss + _UNDERFLOW  # δ is at most tanh(s/2); what follows divides by it
        t = math.tanh(item_loss / 2)
        a = math.expm1(loss) / t
        return t * self._coins(t).gap(1 - a * (1 - t) / 2, 1 + a * (1 + t) / 2)

    def at_most(self, low: float, high: float, rate: float) -> float:
        """Returns an upper bound on δ at rate · s when one report changes at s,
        for all low ≤ s ≤ high, s > 0.
        """
        least_t, most_t = math.tanh(low / 2), math.tanh(high / 2)
        least_a = math.expm1(rate * low) / least_t if low else 2 * rate
        gap = self._coins(least_t).gap(1 - least_a * (1 - most_t) / 2, 1 + least_a * (1 + least_t) / 2)
        return most_t * gap

    def _coins(self, t: float) -> Coins:
        """Returns the coins at t; their probability rises with it, which is at most tanh(cap/2) for losses up
        to the cap.

        Bins are the same for all t: what is found is smooth in the loss.
        """
        chance, rest = math.exp(-self.cap), -math.expm1(-self.cap)
        most = 0.0 if self.plain else math.tanh(self.cap / 2)
        widest = _reach(self.items - 1, chance * (1 + most), rest - chance * most)
        more = chance * min(t, most)
        return coins(self.items - 1, chance + more, rest - more, width=1 + int(2 * widest / _BINS))


@lru_cache(maxsize=128)
def coins(trials: int, chance: float, rest: float, *, width: int = 1) -> Coins:
    """Returns Bin(trials, chance) in bins of `width` counts;
    rest = 1 − chance, given since it may be small.
    """
    if trials * chance < _UNDERFLOW:
        return Coins(np.zeros(1), np.ones(1))
    reach = _reach(trials, chance, rest)
    low, high = max(0, math.floor(trials * chance - reach)), min(trials, math.ceil(trials * chance + reach))
    low -= low % width
    edges = np.arange(low, high + 1, width, dtype=np.float64)
    inside = _bins(trials, edges, width, chance, rest)
    inside[-1] += math.exp(-_LOG_BEYOND)  # above the window: at least as many coins
    ends = np.unique(np.floor(np.linspace(0, low, _FAR_BINS + 1)))
    return Coins(
        counts=np.concatenate([ends[:-1], edges]),
        probabilities=np.concatenate([_below(trials, ends[1:], chance, rest), inside]),
    )


def _reach(trials: int, chance: float, rest: float) -> float:
    """Returns C's distance from its mean but with probability 2·exp(−`_LOG_BEYOND`), by Bernstein."""
    third = _LOG_BEYOND / 3
    return third + math.sqrt(third**2 + 2 * _LOG_BEYOND * trials * chance * rest) + 1


def binomial(trials: Floats, count: Floats, chance: float, rest: float) -> Floats:
    """Returns binomial probabilities, at most `_TERM_ERROR` too small: exp(−trials · KL(count/trials ‖
    chance)) with Stirling's series, cut off above for `trials` and below for the others; 0 beyond
    `trials`."""
    left = np.maximum(trials - count, 0.0)
    logs = -_divergence(count, trials * chance) - _divergence(left, trials * rest)
    inner = (count > 0) & (left > 0)
    few, many = np.where(inner, count, 1.0), np.where(inner, left, 1.0)
    stirling = 1 / (12 * np.maximum(trials, 1.0)) - _least_series(few) - _least_series(many)
    inside = 0.5 * np.log(np.maximum(trials, 1.0) / (2 * math.pi * few * many)) + stirling
    return np.where(count > trials, 0.0, np.exp(logs + np.where(inner, inside, 0.0)))


def _least_series(count: Floats) -> Floats:
    return np.asarray(1 / (12 * count) - 1 / (360 * count**3))


def _divergence(count: Floats, mean: Floats | float) -> Floats:
    """Returns count · log(count/mean) − count + mean."""
    safe = np.maximum(mean, 1e-300)
    part = (count - mean) / safe
    return np.asarray(safe * (xlog1py(1 + part, part) - part))


def _bins(trials: int, edges: Floats, width: int, chance: float, rest: float) -> Floats:
    """Returns bounds on the probabilities of `width` counts from each edge on.

    Ratios of neighbouring probabilities fall: log p(k) ≤ log p(m) + λ(k − m), where λ is the logarithm
    of the ratio behind m. The mean of e^(λ(k − m)) over a bin with centre c is at most
    e^(λ(c − m) + (λ · width)²/24).
    """
    centre = edges + (width - 1) / 2
    at = np.minimum(np.floor(centre), trials - 1)
    slope = np.log((trials - at) / (at + 1)) + math.log(chance / rest)
    tangent = slope * (centre - at) + (slope * width) ** 2 / 24 * (width > 1)
    of_all = np.full(edges.size, float(trials))
    return np.asarray(width * binomial(of_all, at, chance, rest) * np.exp(tangent) * (1 + _TERM_ERROR))


def _below(trials: int, ends: Floats, chance: float, rest: float) -> Floats:
    """Bounds by Chernoff: P(C < end) ≤ exp(−trials · KL(end/trials ‖ chance)) for ends below the mean."""
    return np.asarray(np.exp(-_divergence(ends, trials * chance) - _divergence(trials - ends, trials * rest)))


def _tail(counts: Floats, first: Floats) -> Floats:
    """Returns P(A ≥ first) for A ~ Bin(counts, 1/2)."""
    inside = np.clip(first, 1, np.maximum(counts, 1))
    tail = betainc(inside, np.maximum(counts, inside) - inside + 1, 0.5)
    return np.where(first <= 0, 1.0, np.where(first > counts, 0.0, tail))
