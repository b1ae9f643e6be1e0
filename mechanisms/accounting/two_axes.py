"""Accounts exactly for independent integer noise on two axes, and lattice shifts of any direction."""

import math
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from mechanisms.accounting.hockey_stick import LOSS_SLACK, SLACK, hockey_stick
from mechanisms.accounting.symmetric_law import SymmetricLaw

Shift: TypeAlias = tuple[int, int]


def disk(radius: float) -> list[Shift]:
    """Returns lattice shifts (i, j), i ≥ j ≥ 0, not both 0, of Euclidean length at most `radius`."""
    most = math.floor(radius)
    return [(i, j) for i in range(1, most + 1) for j in range(i + 1) if i * i + j * j <= radius * radius]


def snapped_disk(radius: float) -> list[Shift]:
    """Returns shifts, i ≥ j ≥ 0, that a move of
    at most `radius` squares can become when both ends are snapped.

    Along an axis a move of a squares becomes at most ⌈a⌉: with i squares the move was longer than i − 1.
    """
    most = math.ceil(radius)
    return [
        (i, j)
        for i in range(1, most + 1)
        for j in range(i + 1)
        if (i - 1) ** 2 + max(0, j - 1) ** 2 < radius * radius
    ]


def two_axes_delta(law: SymmetricLaw, *, shift: Shift, loss: float) -> float:
    """Returns an upper bound on δ of two independent draws of a log-concave law,
    moved by `shift`; SLACK above it.

    δ = Σ_y P(y − i)·h(ℓ − λ_i(y)) with λ_i(y) = log P(y − i)/P(y) and h the hockey stick of the other axis.
    λ_j rises with its argument, so that h(ℓ') is a difference of two tails.
    """
    i, j = shift
    if i == 0 or j == 0:
        return hockey_stick(law, distance=i + j, loss=loss)
    logs = law.two_sided()
    shifted, ratios, uncovered = _moved(logs, i)
    other_shifted, other_ratios, other_uncovered = _moved(logs, j)
    # Tails from the top down; entry k is the sum over the k largest places of the other axis.
    top = np.concatenate([[0.0], np.cumsum(np.exp(other_shifted[::-1]))])
    below = np.concatenate([[0.0], np.cumsum(np.exp((other_shifted - other_ratios)[::-1]))])
    left = loss - LOSS_SLACK - ratios
    # Ratios rise but for rounding, which is within LOSS_SLACK.
    counts = other_ratios.size - np.searchsorted(other_ratios, left, side="right")
    inner = np.maximum(top[counts] - np.exp(np.minimum(left, 700.0)) * below[counts], 0.0)
    total = float((np.exp(shifted) * np.minimum(inner + other_uncovered, 1.0)).sum()) + uncovered
    return min(1.0, total * (1 + SLACK) + 2 * law.mass_beyond)


def largest_two_axes_delta(law: SymmetricLaw, *, shifts: Iterable[Shift], epsilon: float) -> float:
    """Returns the largest δ of the shifts, each at loss ε times its Euclidean length."""
    return max(two_axes_delta(law, shift=shift, loss=epsilon * math.hypot(*shift)) for shift in shifts)


def _moved(
    logs: np.ndarray[tuple[int], np.dtype[np.float64]], distance: int
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], np.ndarray[tuple[int], np.dtype[np.float64]], float]:
    """Returns (log P(y − d), log P(y − d)/P(y), mass of P(y − d) where P(y) is not in the table)."""
    here, shifted = logs[distance:], logs[: logs.size - distance]
    return shifted, shifted - here, float(np.exp(logs[logs.size - distance :]).sum())
