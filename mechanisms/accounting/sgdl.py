"""The symmetric generalised discrete Laplace law SGDL(β, p): the difference of two NB(β, 1 − p) draws.

It is the sum of n noises in Geo-Shuffle (β = n) and the share of one person in SGDL-Shuffle (β = 1/n)
(Athanasiou et al. 2025, sections 4 and 5). Their power series converges slowly; here is a recurrence.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting.symmetric_law import SymmetricLaw
from mechanisms.check import in_range, positive

_SETTLING_STEPS: Final = 60  # the backward recurrence forgets its start by a factor below 1 each step
LARGEST_RADIUS: Final = 50_000_000


def sgdl(beta: float, epsilon: float, *, radius: int) -> SymmetricLaw:
    """The law with p = e^−ε on −radius … radius; accurate to about 1e-12 relative in each entry.

    Errors: ValueError for β or ε that are not above 0, or a radius out of range.
    """
    positive(beta=beta, epsilon=epsilon)
    in_range(0, LARGEST_RADIUS, radius=radius)
    ratios = _ratios(beta, epsilon, radius + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(ratios[:radius]))])
    beyond = logs[-1] + _log_tail_sum(beta, epsilon, ratios[radius])
    largest = max(logs.max(), beyond)
    inside = math.exp(logs[0] - largest) + 2 * float(np.exp(logs[1:] - largest).sum())
    outside = 2 * math.exp(beyond - largest)
    # Divided by what the table holds: entries are too large by the factor 1 + mass_beyond at most.
    total = largest + math.log(inside)
    return SymmetricLaw(
        log_probabilities=np.minimum(logs - total, 0.0),
        mass_beyond=min(1.0, math.nextafter(outside / inside, math.inf)),
    )


def _ratios(beta: float, epsilon: float, count: int) -> NDArray[np.float64]:
    """a_m / a_(m−1) for m = 1 … count.

    a solves (m+1−β)·a_(m+1) − s·m·a_m + (m−1+β)·a_(m−1) = 0 with s = p + 1/p; the solution that decays is
    the one the continued fraction finds from large m downwards (Pincherle), and forwards it is unstable.
    """
    s = 2 * math.cosh(epsilon)
    last = count + _SETTLING_STEPS
    ratio = _steady_ratio(beta, s, last + 1)
    ratios = np.empty(last)
    for m in range(last, 0, -1):
        ratio = (m - 1 + beta) / (s * m - (m + 1 - beta) * ratio)
        ratios[m - 1] = ratio
    return ratios[:count]


def _steady_ratio(beta: float, s: float, m: int) -> float:
    """The ratio that would stay as it is from m on: where the backward recurrence begins."""
    leading = m + 1 - beta
    # The smaller root, in the form that does not cancel.
    return 2 * (m - 1 + beta) / (s * m + math.sqrt(max((s * m) ** 2 - 4 * leading * (m - 1 + beta), 0.0)))


def _log_tail_sum(beta: float, epsilon: float, next_ratio: float) -> float:
    """Log of an upper bound on Σ_(m > radius) a_m / a_radius: ratios fall to p, or rise to it for β < 1."""
    ratio = max(next_ratio, math.exp(-epsilon) if beta < 1 else next_ratio)
    if ratio >= 1:
        return math.inf
    return math.log(ratio) - math.log1p(-ratio)
