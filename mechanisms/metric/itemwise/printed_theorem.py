"""Computes other accounts of shuffled item-wise releases, for comparison only; no guarantee uses them.

The printed closed forms, and the numeric account with the plain clones that they are made of.

Units of the paper: the greatest distance is 1, α and α_0 are losses at it. `items` are shuffled together
(m in the local model, m·n in the central one), `moved` = m of them belong to one person.
"""

import math

from scipy.optimize import brentq

from mechanisms.check import in_range, positive
from mechanisms.metric.itemwise.group import largest_cap


def step_sum(items: int, moved: int, distance: float, alpha_0: float, log_delta: float) -> float:
    """Returns h(items; m, m·w) of Theorem 4.4 for the theorem's inner δ, given as its logarithm."""
    root = 8 * math.sqrt(math.exp(alpha_0) * (math.log(4 * moved) - log_delta) / items)
    inside = math.tanh(alpha_0 * distance / 2) * (root + 8 * math.exp(alpha_0) / items)
    return moved * math.log1p(inside)


def theorem_alpha(items: int, moved: int, alpha_0: float, delta: float) -> float:
    """Returns α of Theorem 4.4: sup over w ∈
    (0, 1] of h/w; h is concave in w, so that the supremum is at w → 0.
    """
    _check(items, moved, alpha_0, delta)
    log_delta = _inner(items, moved, alpha_0, delta)
    smallest = 1e-9  # h/w is below its limit there by less than 1e-8 relative
    return step_sum(items, moved, smallest, alpha_0, log_delta) / smallest


def shortcut_alpha(items: int, moved: int, alpha_0: float, delta: float) -> float:
    """Returns h at w = 1 alone, as in the example "α_0 ≈ 3.0": less than the supremum, so no guarantee."""
    _check(items, moved, alpha_0, delta)
    return step_sum(items, moved, 1.0, alpha_0, _inner(items, moved, alpha_0, delta))


def theorem_alpha_0(items: int, moved: int, alpha: float, delta: float) -> float:
    """Returns the α_0 that Theorem 4.4, taken literally, allows for α."""
    positive(alpha=alpha)
    return float(brentq(lambda at: theorem_alpha(items, moved, at, delta) - alpha, 1e-9, 40.0, xtol=1e-12))


def shortcut_alpha_0(items: int, moved: int, alpha: float, delta: float) -> float:
    """Returns the α_0 that w = 1 alone would allow: a planted fault for audits."""
    positive(alpha=alpha)
    return float(brentq(lambda at: shortcut_alpha(items, moved, at, delta) - alpha, 1e-9, 40.0, xtol=1e-12))


def equation_alpha_0(persons: int, moved: int, alpha: float, delta: float) -> float:
    """Returns α_0 of equation (7), and with one person equation (6).
    Errors: ValueError beyond its range α < m.
    """
    positive(persons=persons, alpha=alpha, delta=delta)
    scaled = alpha * math.sqrt(persons)
    root = math.sqrt(moved * (math.log(4 * moved) + alpha - math.log(delta)))
    if scaled <= 32 * root:
        return scaled / (32 * root)
    in_range(0, moved, alpha=alpha)
    return 2 * math.log(scaled / (16 * root))


def plain_alpha_0(items: int, moved: int, alpha: float, delta: float) -> float:
    """Returns α_0 by `group.py`, but with coins of probability e^−cap
    for every step (Lemma B.1): sound, and less.
    """
    return largest_cap(items, moved, delta, alpha, plain=True)


def _inner(items: int, moved: int, alpha_0: float, delta: float) -> float:
    """Returns the log of the inner δ with δ' = δ·e^h(m; m, m)."""

    def excess(log_delta: float) -> float:
        return log_delta + step_sum(items, moved, 1.0, alpha_0, log_delta) - math.log(delta)

    lowest = -1.0
    while excess(lowest) > 0:
        lowest *= 2
    return float(brentq(excess, lowest, 0.0, xtol=1e-12))


def _check(items: int, moved: int, alpha_0: float, delta: float) -> None:
    in_range(1, items, moved=moved)
    positive(alpha_0=alpha_0, delta=delta)
