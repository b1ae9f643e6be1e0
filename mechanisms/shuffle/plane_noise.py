"""Finds how little geometric noise on two axes suffices, and how long it is."""

import math
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.optimize import brentq

from mechanisms.accounting.hockey_stick import calibrate_geo_sum
from mechanisms.accounting.sgdl import sgdl
from mechanisms.accounting.symmetric_law import SymmetricLaw
from mechanisms.accounting.two_axes import Shift, largest_two_axes_delta

BINS: Final = 1200


def calibrate_two_axes(persons: int, epsilon: float, delta: float, shifts: list[Shift]) -> float:
    """Returns the largest ε_geo, from below, whose noise on two axes is within δ for all the shifts."""
    farthest = max(shift[0] for shift in shifts)

    def excess(log_epsilon_geo: float) -> float:
        law = _sum_law(persons, math.exp(log_epsilon_geo), farthest)
        spent = largest_two_axes_delta(law, shifts=shifts, epsilon=epsilon)
        return math.log(max(spent, 1e-300)) - math.log(delta)

    # One axis alone asks for at most this, and both at √2 for at least that.
    low = math.log(
        calibrate_geo_sum(persons=persons, epsilon=epsilon / math.sqrt(2), delta=delta / 2, radius=farthest)
    )
    while excess(low) >= 0:
        low -= 0.5
    high = low + 0.25
    while excess(high) < 0:
        low, high = high, high + 0.25
    root = float(brentq(excess, low, high, xtol=1e-10))
    while excess(root) > 0:
        root -= 1e-10
    return math.exp(root)


def _sum_law(shape: float, epsilon: float, farthest: int) -> SymmetricLaw:
    p = math.exp(-epsilon)
    reach = farthest + math.ceil(15 * math.sqrt(2 * shape * p) / (1 - p) + 80 / epsilon)
    return sgdl(shape, epsilon, radius=reach)


@lru_cache(maxsize=64)
def noise_length(shape: float, epsilon: float) -> tuple[float, float]:
    """Returns (mean, 95 % quantile) of the length of two independent SGDL draws, on bins of equal width."""
    probabilities = np.exp(_sum_law(shape, epsilon, 0).log_probabilities)
    probabilities[1:] *= 2
    enough = int(np.searchsorted(np.cumsum(probabilities), 1 - 1e-10)) + 1
    width = -(-enough // BINS)
    padded = np.zeros(-(-enough // width) * width)
    padded[:enough] = probabilities[:enough]
    steps = np.arange(padded.size) * padded
    mass = padded.reshape(-1, width).sum(axis=1)
    middles = steps.reshape(-1, width).sum(axis=1) / np.maximum(mass, 1e-300)
    lengths = np.hypot(middles[:, np.newaxis], middles).ravel()
    weights = np.outer(mass, mass).ravel()
    order = np.argsort(lengths)
    reached = np.searchsorted(np.cumsum(weights[order]), 0.95 * weights.sum())
    return float((weights * lengths).sum() / weights.sum()), float(lengths[order][reached])
