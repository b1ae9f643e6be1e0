"""Computes how much privacy the cut of noise to a padding can cost, for one person and for sums.

N_1 … N_n are independent SGDL(β, p) draws, A the event that all |N_i| ≤ c, τ = P(not A), S their sum. With
conditioned noise the analyst sees S given A (law Q); with clamped noise each x_i + N_i + c is moved into its
range; P is the law of S itself. For a shift of d at loss ℓ write δ_P, δ_Q, δ_K for the three.

- Conditioned, upper side: (1 − τ)·Q(E) = P(S ∈ E and A) lies between P(E) − τ and P(E) for every event E, so
  (1 − τ)·(Q(E − d) − e^ℓ·Q(E)) ≤ P(E − d) − e^ℓ·P(E) + e^ℓ·τ and δ_Q ≤ (δ_P + e^ℓ·τ)/(1 − τ).
- Conditioned, lower side: P(E − d) − e^ℓ·P(E) ≤ (1 − τ)·Q(E − d) + τ − e^ℓ·(1 − τ)·Q(E), so
  δ_Q ≥ (δ_P − τ)/(1 − τ): a padding beyond this gains nothing.
- Clamped: on A nobody's value is moved, whatever the data, so that the released sum is within total variation
  τ of x + S and δ_K ≤ δ_P + (1 + e^ℓ)·τ.

Which path when: `smallest_padding` makes τ so small that e^ℓ·τ is a part of δ that is set aside, and the
bound is used; the term does not fall with d when ℓ = ε·d, so that d = D decides. `conditioned_sum` is the
exact law Q, by sums of positive products alone; it costs the square of the window and serves for few persons,
for paddings given from outside, and to check the bound. Athanasiou et al. 2025 (Proposition 3, Lemma C.1)
take δ_P + τ for either, without e^ℓ; that does not follow and is not so.
"""

import math
import sys
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from mechanisms.accounting.sgdl import sgdl
from mechanisms.accounting.symmetric_law import SymmetricLaw
from mechanisms.check import ParameterError, in_range, positive

LARGEST_PADDING: Final = 1_000_000
_MOST_PRODUCTS: Final = 4 * 10**9  # of a convolution
SLACK: Final = 1e-9  # relative, as in hockey_stick.py


def log_truncation(*, persons: int, beta: float, epsilon: float, padding: int) -> float:
    """Returns the log of τ = P(some |N_i| > padding),
    rounded up by less than SLACK; −inf is never returned.
    """
    return _log_any(_log_tails(beta, epsilon, padding)[padding], persons)


def smallest_padding(*, persons: int, beta: float, epsilon: float, log_probability: float) -> int:
    """Returns the smallest c with P(some |N_i| > c) at most the probability, given as its logarithm.

    beta: at most 1, so that noise is no wider than geometric noise, of which |N| > c has at most p^c.
    Errors: ValueError for values out of range; `ParameterError` when more than a million would be needed.
    """
    positive(persons=persons, beta=beta, epsilon=epsilon)
    in_range(0, 1, beta=beta)
    in_range(-100_000, 0, log_probability=log_probability)
    enough = math.ceil((math.log(2 * persons) - log_probability) / epsilon)
    if enough > LARGEST_PADDING:
        raise ParameterError("epsilon", epsilon, f"larger: the padding would be above {LARGEST_PADDING}")
    tails = _log_tails(beta, epsilon, enough)
    low, high = 0, enough
    while low < high:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if _log_any(tails[middle], persons) <= log_probability else (middle + 1, high)
        )
    return low


def charge_of_conditioning(*, log_truncation: float, loss: float) -> tuple[float, float]:
    """Returns (factor, addend) with δ_Q ≤ factor · δ_P + addend."""
    factor = 1 / -math.expm1(min(log_truncation, -1e-300))
    return factor, math.exp(min(loss + log_truncation, 0.0)) * factor


def charge_of_clamping(*, log_truncation: float, loss: float) -> tuple[float, float]:
    """Returns (1, addend) with δ_K ≤ δ_P + addend."""
    return 1.0, math.exp(min(loss + log_truncation, 0.0)) + math.exp(log_truncation)


def conditioned(law: SymmetricLaw, padding: int) -> SymmetricLaw:
    """Returns the law given |Y| ≤ padding, which the table must reach."""
    in_range(0, law.radius, padding=padding)
    logs = law.log_probabilities[: padding + 1]
    inside = 2 * float(np.exp(logs).sum()) - math.exp(logs[0])
    return SymmetricLaw(log_probabilities=np.minimum(logs - math.log(inside), 0.0), mass_beyond=0.0)


def conditioned_sum(law: SymmetricLaw, *, persons: int, radius: int) -> SymmetricLaw:
    """Returns the sum of independent draws of a law without mass beyond its table, on −radius … radius.

    Squares and products of tables, each a direct convolution of positive numbers, cut to the window: entries
    are exact or too small, and what was cut is at most (2n + 64) · P(|S| > radius), bounded by Chernoff.
    Errors: `ParameterError` when that would take too long.
    """
    positive(persons=persons)
    radius = min(radius, persons * law.radius)
    if (2 * radius) ** 2 * 2 * persons.bit_length() > _MOST_PRODUCTS:
        raise ParameterError(
            "persons", persons, "fewer, or a narrower table: the exact sum would take too long"
        )
    base = np.exp(law.two_sided())
    total = np.ones(1)
    for bit in bin(persons)[2:]:
        total = _cut(np.convolve(total, total), radius)
        if bit == "1":
            total = _cut(np.convolve(total, base), radius)
    middle = total.size // 2
    entries = total[middle:]
    entries = entries[: np.count_nonzero(entries > sys.float_info.min)]  # what underflows is below 1e-300
    whole = radius == persons * law.radius
    beyond = 1e-300 if whole else min(1.0, (2 * persons + 64) * _chernoff(law, persons, radius))
    return SymmetricLaw(log_probabilities=np.minimum(np.log(entries), 0.0), mass_beyond=beyond)


def _cut(table: NDArray[np.float64], radius: int) -> NDArray[np.float64]:
    surplus = max(0, table.size // 2 - radius)
    return table[surplus : table.size - surplus]


def _chernoff(law: SymmetricLaw, persons: int, radius: int) -> float:
    """Returns min over t of 2·E[e^(tY)]^n·e^(−t·radius) ≥ P(|S| > radius).

    S is whole, so that there is e^t to spare for rounding.
    """
    steps = np.arange(-law.radius, law.radius + 1)
    logs = law.two_sided()

    def log_bound(t: float) -> float:
        terms = logs + t * steps
        largest = float(terms.max())
        return persons * (largest + math.log(float(np.exp(terms - largest).sum()))) - t * radius

    best = minimize_scalar(log_bound, bounds=(0.0, 50.0), method="bounded")
    return min(1.0, 2 * math.exp(min(0.0, float(best.fun))))


def _log_tails(beta: float, epsilon: float, last: int) -> NDArray[np.float64]:
    """Returns `(last + 1,)` log P(|Y| > c) for c = 0 … last, rounded up."""
    reach = last + math.ceil(60 / epsilon)
    law = sgdl(beta, epsilon, radius=reach)
    logs = law.log_probabilities[:0:-1]  # of reach … 1
    beyond = math.log(law.mass_beyond) - math.log(2)
    tails = np.logaddexp.accumulate(np.concatenate([[beyond], logs]))[::-1]
    return tails[: last + 1] + math.log(2) + SLACK / 2


def _log_any(log_tail: float, persons: int) -> float:
    """Returns log(1 − (1 − t)^n)."""
    if log_tail >= 0:
        return 0.0
    none = persons * math.log1p(-math.exp(log_tail))
    exact = math.log(-math.expm1(none)) if none < -1e-290 else math.log(persons) + log_tail
    return min(0.0, exact)
