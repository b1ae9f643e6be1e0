"""Certifies lower bounds: how near any private mechanism's answers on a finite space can come.

A mechanism M with P(M(x) in S) ≤ exp(α · ρ₁(x, x')) · P(M(x') in S) has at some x an expected error
E ρ₂(M(x), x) of at least each of these, wherever its answers lie: the proofs use the triangle inequality
between answers and points, and need only the points as inputs. For the same reason the bound of a part of a
space holds for the whole.
"""

from typing import Final

import numpy as np

from mechanisms.check import positive
from mechanisms.reproduction.boedihardjo_2024.metric_space import FiniteSpace
from mechanisms.reproduction.boedihardjo_2024.packing import MOST_STEPS, greedy_packing, masks
from mechanisms.reproduction.boedihardjo_2024.scales import diametric_scale, entropic_scale

# Distances have 12 digits: a private mechanism is private for α(1 + _SLACK) on the rounded ones, and errors
# differ by no more than that share. Floating point below comes to far less.
_SLACK: Final = 1e-9


def entropic_bound(space: FiniteSpace, alpha: float, *, most_steps: int = MOST_STEPS) -> float:
    """Returns s(Z, 2α) / 8 (Boedihardjo, Strohmer, Vershynin 2024, Theorem 3.1).

    The proof holds with ⌊4/3 · exp(αr)⌋ ≤ exp(2αr), since a number of points is whole; with the ceiling that
    is printed there it would not (αr = 0.1: 2 > exp(0.2)). `packing_bound` says more: the same s
    gives (1 - 1/√2) · s/2, s/6.83. It rests on the lower end of the scale.
    """
    positive(alpha=alpha)
    scale = entropic_scale(space, 2 * alpha * (1 + _SLACK), most_steps=most_steps)
    return scale.low / 8 * (1 - _SLACK)


def diametric_bound(space: FiniteSpace, alpha: float) -> float:
    """Returns s∘(Z, 2α) / 5 (Theorem 3.2 there; the proof holds).
    `pair_bound` is at least 5/2 times as much.
    """
    positive(alpha=alpha)
    return diametric_scale(space, 2 * alpha * (1 + _SLACK)) / 5 * (1 - _SLACK)


def pair_bound(space: FiniteSpace, alpha: float) -> float:
    """Returns the largest ρ₂(x, y) / (1 + exp(α · ρ₁(x, y))), which two points reach.

    With A the largest expected error, E ρ₂(M(y), x) ≤ exp(α · ρ₁) · E ρ₂(M(x), x) ≤ exp(α · ρ₁) · A, and
    ρ₂(x, y) ≤ E ρ₂(M(y), x) + E ρ₂(M(y), y). Points of a ball of radius r are 2r apart at most, so
    A ≥ s∘(Z, 2α) / 2: Theorem 3.2 with 2 in place of 5.
    """
    positive(alpha=alpha)
    with np.errstate(over="ignore"):  # then 0
        bounds = space.second / (1 + np.exp(alpha * (1 + _SLACK) * space.first))
    return float(bounds.max()) * (1 - _SLACK)


def packing_bound(space: FiniteSpace, alpha: float, *, most_scales: int = 64) -> float:
    """Returns the largest t/2 · (1 - 1/Σ exp(-α · ρ₁(x, y))),
    over points x and sets of points y at least t apart.

    By Markov P(ρ₂(M(y), y) < t/2) ≥ 1 - 2A/t, these balls are disjoint, and from x each has at least
    exp(-α · ρ₁(x, y)) of that probability: the proof of Theorem 3.1 without its losses. Sets are greedy,
    nearest points first; of more than `most_scales` distances so many are tried.
    """
    positive(alpha=alpha)
    apart = space.scales()[1:]
    if len(apart) > most_scales:
        apart = apart[np.linspace(0, len(apart) - 1, most_scales).astype(int)]
    shares = np.exp(-alpha * (1 + _SLACK) * space.first)
    orders = [np.argsort(row, kind="stable").tolist() for row in space.first]
    largest = 0.0
    for least in apart.tolist():
        near = masks(space.second < least)
        for share, order in zip(shares, orders, strict=True):
            total = sum(share[point] for point, is_member in greedy_packing(near, order) if is_member)
            largest = max(largest, least / 2 * (1 - 1 / float(total)))
    return largest * (1 - _SLACK)


def best_bound(space: FiniteSpace, alpha: float) -> float:
    """Returns the largest of the bounds that are quick to find."""
    return max(pair_bound(space, alpha), packing_bound(space, alpha), diametric_bound(space, alpha))
