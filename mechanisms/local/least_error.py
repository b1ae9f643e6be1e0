"""Bounds from below the expected error of any blurring of a lattice's cells, from the loss a metre alone.

A mechanism takes a cell x of the lattice and answers anywhere in the plane, with
P(M(x) in S) ≤ exp(α · |x - x'|) · P(M(x') in S) between the centres of any two cells. Two bounds hold for all
of them, and are compared with no more than what the lattice, a public fact, says:

- `worst_m`: at some cell the expected distance of the answer from the centre is at least so much;
- `mean_m`: averaged over all cells alike, it is.

Both are √(of columns² + of rows²): for whatever θ the displacement has |z| ≥ cos θ · |z₁| + sin θ · |z₂|, and
for a fixed row the columns are a line. On a line, for any prior and any loss that grows with distance, no
private answer serves better than that of the clamped geometric mechanism, read as well as can be, by the
posterior's median (Ghosh, Roughgarden, Sundararajan 2012; the tests solve the linear programmes). The mean
error on a line is that optimum; the worst one is at least the optimum for any prior.

On fine cells far from the border this comes to √2 / α, and planar noise has 2 / α. The bounds for any space
(`bounds.py`) are several times lower here.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import in_range
from mechanisms.local.lattice import Floats, Lattice

# What floating point may add; sums of 2^11 positive terms are right to far more digits.
_DOWN: Final = 1 - 1e-9
_COARSE: Final = 33  # cells of a line
_END_SHARES: Final = np.linspace(0, 1, 17)

Whole: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastError:
    """Gives the least error in metres of the region's projection, rounded down."""

    mean_m: float  # averaged over all cells
    worst_m: float  # at the cell where it is largest


@lru_cache(maxsize=64)
def least_error(lattice: Lattice, per_metre: Fraction) -> LeastError:
    """Returns the error that no mechanism stays below whose loss between centres is at most `per_metre` (α)
    times their distance. Errors: `ParameterError` for α < 0."""
    in_range(0, 10**12, per_metre=per_metre)
    alpha = float(per_metre)
    axes = ((lattice.columns, float(lattice.column_m)), (lattice.rows, float(lattice.row_m)))
    mean_m = math.hypot(*(line_mean(*axis, alpha) for axis in axes))
    worst_m = math.hypot(*(line_worst(*axis, alpha) for axis in axes))
    return LeastError(mean_m=_DOWN * mean_m, worst_m=_DOWN * max(mean_m, worst_m))


def line_mean(count: int, cell_m: float, alpha: float) -> float:
    """Returns the optimum of the mean error on a line of `count` cells, in metres."""
    step = alpha * cell_m
    offsets = np.arange(count)
    falling = np.exp(-step * offsets)
    falling[0] = 0.0  # the true cell itself is counted by itself
    sums, moments = falling.cumsum(), (offsets * falling).cumsum()
    answers = np.arange((count + 1) // 2)  # the other half is the mirror image
    before, after = answers, count - 1 - answers
    half = (1 + sums[before] + sums[after]) / 2
    median = np.searchsorted(sums, half - 1 - sums[before])  # cells beyond the answer; none: the answer
    misses = np.min([_misses(sums, moments, before, after, median + more) for more in (-1, 0, 1)], axis=0)
    # Weights of the answers: (1 - q) / (1 + q) inside, 1 / (1 + q) at both ends, q = exp(-step).
    weights = np.full(len(answers), -math.expm1(-step))
    weights[0] = 1.0
    mirrored = np.where(2 * answers == count - 1, 1, 2)
    return float((weights * mirrored * misses).sum()) / (1 + math.exp(-step)) * cell_m / count


def line_worst(count: int, cell_m: float, alpha: float) -> float:
    """Returns a bound of the largest error on a line of `count` cells, in metres: the best of the optima for
    some priors, even ones with more weight on both ends, on `_COARSE` cells at most."""
    used = min(count, _COARSE)
    stride_m = cell_m * ((count - 1) // max(1, used - 1))
    apart = np.abs(np.subtract.outer(np.arange(used), np.arange(used))).astype(np.float64)
    answers = np.exp(-alpha * stride_m * apart)
    answers[:, 1:-1] *= -math.expm1(-alpha * stride_m)
    answers /= answers.sum(axis=1, keepdims=True)
    even, ends = np.full(used, 1 / used), np.bincount([0, used - 1], minlength=used) / 2
    worst = 0.0
    for share in _END_SHARES.tolist():
        joint = answers * ((1 - share) * even + share * ends)[:, np.newaxis]
        worst = max(worst, float((joint.T @ apart).min(axis=1).sum()))  # each answer read as is best
    return worst * stride_m


def _misses(sums: Floats, moments: Floats, before: Whole, after: Whole, beyond: Whole) -> Floats:
    """Returns Σ q^|x - y| · |x - (y + k)| over cells x,
    of which `before` and `after` lie on either side of y.
    """
    k = np.clip(beyond, 0, after)
    left = moments[before] + k * (1 + sums[before])
    between = k * sums[k] - moments[k]
    right = moments[after] - moments[k] - k * (sums[after] - sums[k])
    return np.asarray(left + between + right)
