"""Tests which cells with independent discrete Laplace noise are distinguishable from empty, by its exact law.

Benjamini, Hochberg 1995: with p-values that are independent, and under the null no smaller than uniform,
on average at most `RATE` of the rejected squares are empty. Every square of the tested level counts, released
or not.
"""

import math
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln

from mechanisms.results.heatmap import Heatmap
from mechanisms.results.significance import RATE, SignificantSquares

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUNDING: Final = 1e-9  # relative: more than exponentials and sums of positive terms lose in floating point
_ENTRIES_AT_ONCE: Final = 2_000_000
_FEWEST_DEVIATIONS: Final = 1.2  # the Laplace law exceeds these with probability .09, the normal law with .12


def significant_by_sums(noisy: Integers, *, level: int, scale: Fraction) -> SignificantSquares:
    """Tests the squares of a grid whose every cell was measured, at its own level and, by sums of cells, at
    each coarser one.

    noisy: `(4^level,)` mass units in Morton order.
    """
    by_level, sums = {}, noisy
    for coarser in range(level, -1, -1):
        by_level[coarser] = rejected(sums, scale=scale, terms=4 ** (level - coarser))
        if coarser:
            sums = sums.reshape(-1, 4).sum(axis=1)
    return SignificantSquares.of_levels(by_level)


def significant_by_best_cell(
    cells: Integers, noisy: Integers, *, level: int, scale: Fraction
) -> SignificantSquares:
    """Tests the squares of a grid of which only the largest noisy cells are released: all cells count, only
    these are told.

    A coarser square of k cells is tested by its largest one with k times its p-value. In the proof for
    p-values by squares take the cell that is largest: given all others, which squares have a released cell
    does not depend on its value any more, so what was not released may be left out of the candidates.
    """
    by_level = {}
    p = tail(noisy, scale=scale, terms=1)
    for coarser in range(level, -1, -1):
        up = 2 * (level - coarser)
        squares, place = np.unique(cells >> up, return_inverse=True)
        best = np.ones(squares.size)
        np.minimum.at(best, place, p)
        by_level[coarser] = squares[step_up(np.minimum(best * 4.0 ** (level - coarser), 1), of=4**coarser)]
    return SignificantSquares.of_levels(by_level)


def significance_floor(count: int, *, of: int, scale: Fraction) -> float:
    """Returns the noisy value, in mass units,
    from which on so many squares of a level were told; nan for none.
    """
    if not count:
        return math.nan
    return float(scale) * math.log(of / (2 * count * float(RATE)))


def significant_squares(heatmap: Heatmap) -> SignificantSquares | None:
    """Returns the squares a release states, or those that follow from one of before it stated any."""
    return significant_afterwards(heatmap) if heatmap.significant is None else heatmap.significant


def significant_afterwards(heatmap: Heatmap) -> SignificantSquares | None:
    """Returns the squares of a map released before they were stored;
    None unless it is one of single cells with equal noise.

    Such cells stand with their noisy values, the largest or all above 0: what
    `significant_by_best_cell` needs.
    """
    errors = heatmap.standard_errors
    single = (heatmap.levels == heatmap.level).all() and (heatmap.values > 0).all()
    if not errors.size or not single or not np.isfinite(errors[0]) or (errors != errors[0]).any():
        return None
    unit = 2.0**40  # parts of a noise scale: fine enough for any p-value
    scaled = np.minimum(heatmap.values / errors[0] * math.sqrt(2), 2.0**20)
    parts = np.floor(scaled * unit).astype(np.int64)
    return significant_by_best_cell(heatmap.prefixes, parts, level=heatmap.level, scale=Fraction(int(unit)))


def rejected(sums: Integers, *, scale: Fraction, terms: int) -> Integers:
    """Returns ascending places of the sums of `terms` noisy cells each
    that are told apart from empty ones.
    """
    # What is this small has a p-value above the rate; the rest needs computing.
    candidates = np.flatnonzero(sums > _FEWEST_DEVIATIONS * math.sqrt(2 * terms) * float(scale))
    p = tail(sums[candidates], scale=scale, terms=terms)
    return candidates[step_up(p, of=sums.size)]


def step_up(p: Floats, *, of: int) -> NDArray[np.bool_]:
    """Tells of each p-value whether Benjamini and Hochberg reject it at `RATE` among `of`: `(k,)`.

    The others of these are 1.
    """
    ordered = np.sort(p)
    passed = np.flatnonzero(ordered <= float(RATE) * np.arange(1, p.size + 1) / of)
    return p <= ordered[passed[-1]] if passed.size else np.zeros(p.size, np.bool_)


def tail(sums: Integers, *, scale: Fraction, terms: int) -> Floats:
    """Returns P(S ≥ s), or a bound above it, of a sum S of independent discrete Laplace draws: `(k,)`.

    It is 1 for s ≤ 0.

    One term: a^s / (1 + a) with a = exp(-1/scale). More terms k: a variable is the difference of two
    geometric ones, and these are exponential ones rounded down, so S ≤ scale · (first - second) + k with
    independent gamma variables of shape k. first - second ≥ x says that of the unit Poisson process whose
    k-th event is the first fewer than k events come before x + second: a Poisson number of them before x, a
    negative binomial number after. S ≤ 0 may have any p-value up to 1.
    """
    if terms == 1:
        rate = float(1 / scale)
        values = np.exp(-sums * rate) / (1 + np.exp(-rate))
    else:
        values = _gamma_difference_tail((sums - terms) / float(scale), terms)
    return np.where(sums > 0, np.minimum(values * (1 + _ROUNDING), 1.0), 1.0)


def _gamma_difference_tail(x: Floats, shape: int) -> Floats:
    """Returns P(first - second ≥ x) = Σ_{i < k} Poisson(i; x)
    · P(NB(k, 1/2) ≤ k - 1 - i): terms are positive.
    """
    events = np.arange(shape)
    later = betainc(shape, shape - events, 0.5)
    values = np.ones(x.size)
    above = np.flatnonzero(x > 0)
    for start in range(0, above.size, max(1, _ENTRIES_AT_ONCE // shape)):
        batch = above[start : start + max(1, _ENTRIES_AT_ONCE // shape)]
        logs = events * np.log(x[batch])[:, np.newaxis] - gammaln(events + 1) - x[batch][:, np.newaxis]
        values[batch] = np.exp(logs) @ later
    return values
