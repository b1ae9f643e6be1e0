"""Compares two normalised maps cell by cell. Arguments: (rows, cols) arrays of one shape, sum 1."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

KL_FLOOR: Final = 1e-12  # added to every cell of both maps
KL_MIXED_SHARE: Final = 0.01  # of the uniform map, mixed into both

Dense = NDArray[np.float64]


def normalised(dense: ArrayLike) -> Dense:
    """Returns the map with sum 1; the uniform map where there is no mass.
    Errors: ValueError for negative mass.
    """
    masses = np.asarray(dense, np.float64)
    total = masses.sum()
    if not np.isfinite(total) or (masses < 0).any():
        raise ValueError("a map must be finite and not negative")
    if total == 0:
        return np.full(masses.shape, 1 / masses.size)
    return np.asarray(masses / total)


def checked_pair(truth: ArrayLike, release: ArrayLike) -> tuple[Dense, Dense]:
    """Returns both as float arrays. Errors: ValueError unless they have one shape,
    no negative cell and sum 1.
    """
    first, second = np.asarray(truth, np.float64), np.asarray(release, np.float64)
    if first.shape != second.shape or first.ndim != 2:
        raise ValueError("both maps must be two-dimensional and of one shape")
    for dense in (first, second):
        if not abs(dense.sum() - 1) <= 1e-9 or (dense < 0).any():
            raise ValueError("a map must have sum 1 and no negative cell")
    return first, second


def similarity(truth: ArrayLike, release: ArrayLike) -> float:
    """Returns SIM = Σ min(a, b), from 0 (disjoint) to 1 (equal)."""
    return float(np.minimum(*checked_pair(truth, release)).sum())


def kl(truth: ArrayLike, release: ArrayLike) -> float:
    """Returns the Kullback–Leibler divergence Σ a ln(a/b) of truth from release,
    `KL_FLOOR` added to both; in nats.
    """
    first, second = checked_pair(truth, release)
    return _divergence(first + KL_FLOOR, second + KL_FLOOR)


def kl_mixed(truth: ArrayLike, release: ArrayLike) -> float:
    """Returns `kl` with `KL_MIXED_SHARE` uniform mixed into both,
    so that a few empty cells cannot rule it.
    """
    first, second = checked_pair(truth, release)
    uniform = KL_MIXED_SHARE / first.size
    return _divergence(
        (1 - KL_MIXED_SHARE) * first + uniform,
        (1 - KL_MIXED_SHARE) * second + uniform,
    )


def pearson(truth: ArrayLike, release: ArrayLike) -> float:
    """Returns the correlation over cells; 0 where a map is constant
    (it then tells nothing about the other).
    """
    maps = checked_pair(truth, release)
    if any(np.ptp(dense) <= 1e-12 * dense.max() for dense in maps):  # constant but for rounding
        return 0.0
    first, second = (dense - dense.mean() for dense in maps)
    return float((first * second).sum() / np.sqrt((first**2).sum() * (second**2).sum()))


def _divergence(first: Dense, second: Dense) -> float:
    return float((first * np.log(first / second)).sum())
