"""How little one report changes a shuffled heap of reports: the hockey stick of "hiding among the clones".

One report is randomised from x or from x', at a loss s; N − 1 others from anything, every loss at most
`cap`. By the decomposition in the proof of Lemma B.1 (Imola, Roy Chowdhury, Chaudhuri 2024, after Feldman,
McMillan, Talwar 2021) each of the others is a coin with probability e^−cap, and it is enough to tell

    P = (1 − β)·X + β·Y  from  Q = β·X + (1 − β)·Y,   β = 1/(1 + e^s),
    X = (A + 1, C − A),  Y = (A, C − A + 1),  C ~ Bin(N − 1, e^−cap),  A ~ Bin(C, 1/2).

With t = 1 − 2β = tanh(s/2) and e^loss = 1 + t·a the hockey stick is t·Σ max(0, u·X − v·Y), where
u = 1 − a(1 − t)/2 and v = 1 + a(1 + t)/2. Given C the ratio of X to Y rises with A: each sum is a tail.
Coins only help, so that C is rounded down to the lower end of a bin.
"""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from mechanisms.check import in_range, positive

_BINS: Final = 300
_FAR_BINS: Final = 40  # below the window, with Chernoff's bound
_LOG_BEYOND: Final = 60.0  # what the window of C leaves out is below 2·exp(−60)
_UNDERFLOW: Final = 1e-290
_TAIL_ERROR: Final = 1e-11  # relative, of a binomial tail; tested against sums
MOST_ITEMS: Final = 10**12

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clones:
    """The law of C in bins: their lower ends, and bounds on their probabilities."""

    counts: Floats = field(repr=False)
    probabilities: Floats = field(repr=False)

    def gap(self, x_weight: float, y_weight: float) -> float:
        """An upper bound on E Σ max(0, x_weight · X − y_weight · Y)."""
        if x_weight <= 0:
            return 0.0
        first = np.floor((self.counts + 1) * (y_weight / (x_weight + y_weight))) + 1  # X wins from here on
        y_tail, x_tail = _tail(self.counts, first), _tail(self.counts, first - 1)
        gaps = np.maximum(x_weight * x_tail - y_weight * y_tail, 0.0)
        error = _TAIL_ERROR * (x_weight * x_tail + y_weight * y_tail)
        return float((self.probabilities * (gaps + error)).sum()) + _UNDERFLOW

    def hockey_stick(self, item_loss: float, loss: float) -> float:
        """An upper bound on δ at `loss` when one report changes at `item_loss`; both above 0."""
        t = math.tanh(item_loss / 2)
        a = math.expm1(loss) / t
        return t * self.gap(1 - a * (1 - t) / 2, 1 + a * (1 + t) / 2)


@lru_cache(maxsize=32)
def clones(items: int, cap: float) -> Clones:
    """The coins among `items` − 1 reports, each of loss at most `cap`. Errors: ValueError out of range."""
    in_range(1, MOST_ITEMS, items=items)
    positive(cap=cap)
    trials, chance = items - 1, math.exp(-cap)
    variance, third = trials * chance * -math.expm1(-cap), _LOG_BEYOND / 3
    reach = third + math.sqrt(third**2 + 2 * _LOG_BEYOND * variance) + 1  # Bernstein
    low = max(0, math.floor(trials * chance - reach))
    high = min(trials, math.ceil(trials * chance + reach))
    width = -(-(high - low + 1) // _BINS)
    edges = np.arange(low, high + 1, width, dtype=np.float64)
    starts = np.arange(0, high - low + 1, width)
    inside = np.add.reduceat(_binomial(trials, cap, low, high), starts)
    inside[-1] += math.exp(-_LOG_BEYOND)  # above the window: at least as many coins
    ends = np.unique(np.floor(np.linspace(0, low, _FAR_BINS + 1)))
    return Clones(
        counts=np.concatenate([ends[:-1], edges]),
        probabilities=np.concatenate([_below(trials, cap, ends[1:]), inside]),
    )


def _binomial(trials: int, cap: float, low: int, high: int) -> Floats:
    """`(high − low + 1,)` probabilities of low … high, divided by their sum: nothing is too small."""
    y = np.arange(low + 1, high + 1, dtype=np.float64)
    log_odds = -cap - math.log(-math.expm1(-cap))
    logs = np.concatenate([[0.0], np.cumsum(np.log((trials - y + 1) / y) + log_odds)])
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _below(trials: int, cap: float, ends: Floats) -> Floats:
    """Chernoff: P(C < end) ≤ exp(−trials · KL(end/trials ‖ e^−cap)) for ends below the mean."""
    part, chance = ends / trials, math.exp(-cap)
    divergence = part * np.log(part / chance) + (1 - part) * np.log((1 - part) / -math.expm1(-cap))
    return np.asarray(np.exp(-trials * divergence))


def _tail(counts: Floats, first: Floats) -> Floats:
    """P(A ≥ first) for A ~ Bin(counts, 1/2)."""
    inside = np.clip(first, 1, np.maximum(counts, 1))
    found = betainc(inside, np.maximum(counts, inside) - inside + 1, 0.5)
    return np.where(first <= 0, 1.0, np.where(first > counts, 0.0, found))
