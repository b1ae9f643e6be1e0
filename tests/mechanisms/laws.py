"""The exact discrete Laplace law in 50 digits, and the one test that compares draws with it."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
from scipy.stats import chi2

SIGNIFICANCE = 1e-6
DRAWS = 100_000
CELLS = 40


def cumulative(scale, value):
    """P(X ≤ value) for P(x) ∝ exp(-|x| / scale), value an integer or an array of them."""
    with mpmath.workdps(50):
        a = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
        return np.vectorize(lambda v: _cumulative(a, int(v)), otypes=[object])(value)


def _cumulative(a, value):
    return 1 - a ** (value + 1) / (1 + a) if value >= 0 else a ** (-value) / (1 + a)


def edges_of(scale):
    """Integers that cut the law into about `CELLS` cells of like probability, some in its tails."""
    shares = np.concatenate(([1e-3], np.arange(1, CELLS) / CELLS, [1 - 1e-3]))
    ideal = [-float(scale) * np.sign(1 - 2 * share) * np.log(1 - abs(1 - 2 * share)) for share in shares]
    return np.unique(np.floor(np.array(ideal) * -1).astype(np.int64))


def p_value(draws, scale):
    """Chi-squared test of draws against the exact law of that scale."""
    edges = edges_of(scale)
    with mpmath.workdps(50):
        below = [mpmath.mpf(0), *cumulative(scale, edges), mpmath.mpf(1)]
        expected = np.array([float(high - low) for low, high in pairwise(below)])
    expected *= draws.size
    observed = np.bincount(np.searchsorted(edges, draws, side="left"), minlength=edges.size + 1)
    common = expected >= 5
    statistic = ((observed[common] - expected[common]) ** 2 / expected[common]).sum()
    rest = observed[~common].sum(), expected[~common].sum()
    degrees = common.sum() - 1
    if rest[1] >= 5:
        statistic, degrees = statistic + (rest[0] - rest[1]) ** 2 / rest[1], degrees + 1
    return float(chi2.sf(statistic, degrees))


def fits(draws, scale):
    """Whether the draws may come from that law, at the suite's significance."""
    return p_value(draws, Fraction(scale)) > SIGNIFICANCE


def two_sample_p_value(one, other):
    """Chi-squared test of homogeneity on cells of like probability."""
    edges = np.unique(np.quantile(np.concatenate((one, other)), np.arange(1, CELLS) / CELLS))
    table = np.array(
        [np.bincount(np.searchsorted(edges, part), minlength=edges.size + 1) for part in (one, other)]
    )
    table = table[:, table.sum(axis=0) > 0]
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(chi2.sf(((table - expected) ** 2 / expected).sum(), table.shape[1] - 1))
