"""Computes the generalised discrete Laplace law SGDL(β, p), a difference of two NB(β, 1 − p) draws.

It is the sum of n noises in Geo-Shuffle (β = n) and the share of one person in SGDL-Shuffle (β = 1/n)
(Athanasiou et al. 2025, sections 4 and 5). Their power series converges slowly; here is a recurrence.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.accounting.symmetric_law import SymmetricLaw
from mechanisms.check import in_range, positive

LARGEST_RADIUS: Final = 50_000_000
_FORGOTTEN: Final = 40.0  # logarithm of what the start of the backward recurrence is divided by
_ROUNDED: Final = 1e-9  # relative, covers the rounding of sums
_BLOCK: Final = 1024


def sgdl(beta: float, epsilon: float, *, radius: int) -> SymmetricLaw:
    """Returns the law with p = e^−ε on −radius … radius; accurate to about 1e-12 relative in each entry.

    Errors: ValueError for β or ε that are not above 0, or a radius out of range.
    """
    positive(beta=beta, epsilon=epsilon)
    in_range(0, LARGEST_RADIUS, radius=radius)
    log_ratios = _log_ratios(beta, epsilon, radius + 1)
    logs = np.concatenate([[0.0], _running(log_ratios[:radius]) - epsilon * np.arange(1, radius + 1)])
    beyond = logs[-1] + _log_tail_sum(beta, epsilon, log_ratios[radius])
    largest = max(logs.max(), beyond)
    inside = math.exp(logs[0] - largest) + 2 * float(np.exp(logs[1:] - largest).sum())
    outside = 2 * math.exp(beyond - largest)
    # Divided by what the table holds: entries are too large by the factor 1 + mass_beyond at most.
    total = largest + math.log(inside)
    return SymmetricLaw(
        log_probabilities=np.minimum(logs - total, 0.0),
        mass_beyond=min(1.0, outside / inside * (1 + _ROUNDED) + math.ulp(0.0)),
    )


def _log_ratios(beta: float, epsilon: float, count: int) -> NDArray[np.float64]:
    """Returns log a_m / (p · a_(m−1)) for m = 1 … count.

    a solves (m+1−β)·a_(m+1) − s·m·a_m + (m−1+β)·a_(m−1) = 0 with s = p + 1/p; the solution that decays is
    the one the continued fraction finds from large m downwards (Pincherle), and forwards it is unstable.
    Each step divides what the start was off by e^(2ε) at least, and below β by (β + m)/(β − m). While
    m + 1 < β, ratios are found as they are; above, as 1 − w: s is near 2, and what it differs by is lost in
    rounding. With q = p² both are sums of terms of one sign.
    """
    settling = math.ceil(_FORGOTTEN / 2 / epsilon + math.sqrt(_FORGOTTEN * beta)) + 60
    last, p = count + min(settling, LARGEST_RADIUS), math.exp(-epsilon)
    s, q, rest = 2 * math.cosh(epsilon), math.exp(-2 * epsilon), (1 - beta) * -math.expm1(-2 * epsilon)
    w = 1 - _steady_ratio(beta, s, last + 1) / p
    below = np.zeros(last)
    for m in range(last, 0, -1):
        if m + 1 < beta:
            w = 1 - (m - 1 + beta) / (s * m - (m + 1 - beta) * p * (1 - w)) / p
        else:
            term = rest + (m + 1 - beta) * q * w
            w = term / (m - 1 + beta + term)
        below[m - 1] = w
    return np.log1p(-below[:count])


def _running(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns running sums, block by block: rounding adds up over a block and over blocks,
    not over all values.
    """
    blocks = np.zeros(-(-values.size // _BLOCK) * _BLOCK)
    blocks[: values.size] = values
    within = blocks.reshape(-1, _BLOCK).cumsum(axis=1)
    before = np.concatenate([[0.0], within[:, -1].cumsum()])[:-1]
    sums: NDArray[np.float64] = (within + before[:, np.newaxis]).ravel()[: values.size]
    return sums


def _steady_ratio(beta: float, s: float, m: int) -> float:
    """Returns the ratio that would stay as it is from m on: where the backward recurrence begins."""
    leading = m + 1 - beta
    # The smaller root, in the form that does not cancel.
    return 2 * (m - 1 + beta) / (s * m + math.sqrt(max((s * m) ** 2 - 4 * leading * (m - 1 + beta), 0.0)))


def _log_tail_sum(beta: float, epsilon: float, next_log_ratio: float) -> float:
    """Returns the log of an upper bound on Σ_(m > radius) a_m / a_radius: ratios fall to p, or rise to it for
    β < 1.
    """
    log_ratio = (0.0 if beta < 1 else next_log_ratio) - epsilon
    if log_ratio >= 0:
        return math.inf
    return log_ratio - math.log(-math.expm1(log_ratio))
