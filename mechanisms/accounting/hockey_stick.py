"""Computes δ as a function of the loss for a law and its shift, and the noise that a target needs.

δ(d; ε') = Σ_y max(0, P(y − d) − e^ε'·P(y)). For a symmetric P the other direction has the same value.
Rounded up: floating-point sums of positive terms are off by less than `SLACK` relative, log probabilities by
less than half of `LOSS_SLACK`, by which the loss is lowered; the table's missing mass is added on top.
"""

import math
import sys
from typing import Final

import numpy as np
from scipy.optimize import brentq

from mechanisms.accounting.sgdl import sgdl
from mechanisms.accounting.symmetric_law import SymmetricLaw
from mechanisms.check import in_range, positive

SLACK: Final = 1e-9  # relative
LOSS_SLACK: Final = 1e-11  # the entries' logarithms are good to about 1e-12
_BELOW: Final = 1 - 1e-15  # a loss may have been rounded to a double


def hockey_stick(law: SymmetricLaw, *, distance: int, loss: float) -> float:
    """Returns an upper bound on δ for a shift of `distance` steps at `loss`, as near as both slacks allow.

    Errors: ValueError for a distance that the table does not reach (it would silently give 0).
    """
    in_range(0, law.radius, distance=distance)
    in_range(0, math.inf, loss=loss)
    if distance == 0:
        return 0.0
    logs = law.two_sided()
    here, shifted = logs[distance:], logs[:-distance]
    excess = shifted - here - (loss - LOSS_SLACK)
    above = excess > 0
    inside = float((np.exp(shifted[above]) * -np.expm1(-excess[above])).sum())
    # Where P(y) is not in the table, all of P(y − d) counts; P(y − d) beyond it is mass_beyond.
    uncovered = float(np.exp(logs[logs.size - distance :]).sum())
    return min(1.0, (inside + uncovered) * (1 + SLACK) + law.mass_beyond)


def largest_hockey_stick(law: SymmetricLaw, *, radius: int, epsilon: float, log_concave: bool) -> float:
    """Returns the largest δ(d; ε·d) over 1 ≤ d ≤ radius.

    For log-concave noise δ(d; ε·d) does not fall with d, so that d = radius decides: the likelihood ratio is
    monotone, δ is the mass of a tail, and each further step moves its threshold by at most one step.
    Theorem 4.1 of Athanasiou et al. 2025 takes d = 1, the weakest test.
    """
    distances = [radius] if log_concave else range(1, radius + 1)
    return max(hockey_stick(law, distance=d, loss=epsilon * d) for d in distances)


def geo_sum_delta(*, persons: int, epsilon_geo: float, radius: int, epsilon: float) -> float:
    """Returns δ within `radius` of the sum of n geometric noises,
    none of them truncated: SGDL(n, e^−ε_geo).
    """
    if epsilon_geo <= epsilon * _BELOW:
        return 0.0  # one person's noise suffices alone, whatever the others do
    law = sgdl(persons, epsilon_geo, radius=_table_radius(persons, epsilon_geo, radius))
    return largest_hockey_stick(law, radius=radius, epsilon=epsilon, log_concave=True)


def calibrate_geo_sum(*, persons: int, epsilon: float, delta: float, radius: int) -> float:
    """Returns the largest ε_geo (from below, to 1e-10 relative)
    whose sum of n noises is within δ up to the radius.

    Errors: ValueError for anything not above 0.
    """
    positive(persons=persons, epsilon=epsilon, delta=delta, radius=radius)
    if delta >= 1:
        raise ValueError(f"delta is {delta}, allowed: above 0 and below 1")

    def excess(log_epsilon_geo: float) -> float:
        """Returns the excess, which rises through 0 where δ is met."""
        spent = geo_sum_delta(
            persons=persons, epsilon_geo=math.exp(log_epsilon_geo), radius=radius, epsilon=epsilon
        )
        return math.log(max(spent, sys.float_info.min)) - math.log(delta)

    # The search begins where the sum has a standard deviation of about 5/ε.
    start = math.log(2 * math.asinh(math.sqrt(2 * persons) * epsilon / 10))
    low = high = max(math.log(epsilon), start)
    while excess(high) < 0:
        low, high = high, high + 0.5
    while low > math.log(epsilon) and excess(low) >= 0:
        low, high = max(low - 0.5, math.log(epsilon)), low
    if excess(low) >= 0:
        return epsilon * _BELOW
    root = float(brentq(excess, low, high, xtol=1e-11, rtol=1e-15))
    while excess(root) > 0:
        root -= 1e-11
    return math.exp(root)


def _table_radius(persons: int, epsilon_geo: float, distance: int) -> int:
    """Returns the shift and noise far enough out that what is missing is nothing beside any δ in use."""
    deviation = math.sqrt(2 * persons * math.exp(-epsilon_geo)) / -math.expm1(-epsilon_geo)
    return distance + math.ceil(15 * deviation + 80 / epsilon_geo)
