"""Makes a map of unbiased estimates: values cut to 0, an error each, and which squares hold people.

Benjamini, Yekutieli 2001: among m squares of a level with p-values of any dependence, stepping up at the rate
divided by 1 + 1/2 + … + 1/m errs at most at that rate. Estimates of neighbouring squares share their reports.
"""

import math
from typing import Final

import numpy as np
from scipy.special import ndtr, ndtri

from mechanisms.central.grid_laplace.empty_cells import step_up
from mechanisms.devices.laws import CellLaw, Estimates, Floats, Integers
from mechanisms.expected_error import WITHIN_ERRORS
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.significance import RATE, SignificantSquares, low_ends

_ROUNDING: Final = 1e-9
_FEW: Final = 3.0  # reports: none seen is likely, once in twenty, where 3 were expected


def map_of(law: CellLaw, counts: Integers) -> Heatmap:
    """Returns the map of `(4^level,)` numbers of reports in Morton order. Every square is listed, also those
    cut to 0.

    A square's variance is estimated without bias; two things are added that are too rare to show in it, both
    in reports that count as much as any does. Where some are lost, a few: no report at all says little about
    a square that is reported as itself half the time. And one: that of somebody else, or one's own elsewhere.
    """
    finest, largest = law.estimates(counts, law.level), law.largest(law.level)
    rare = largest**2 * (_FEW * (1 - law.stays) + (1 / WITHIN_ERRORS) ** 2 * (1 + _ROUNDING))
    variances = np.maximum(finest.squares - np.maximum(finest.values, 0), 0) + rare
    errors, values = np.sqrt(variances), np.maximum(finest.values, 0)
    by_level, floor = {}, 0.0
    for level in range(law.level, -1, -1):
        here = finest if level == law.level else law.estimates(counts, level)
        scores = np.asarray(here.values / _deviations(here, law.largest(level)))
        is_significant = step_up(_harmonic(scores.size) * ndtr(-scores), of=scores.size) & (scores > 0)
        by_level[level] = np.flatnonzero(is_significant)
        if level == law.level and is_significant.any():
            floor = _threshold(int(is_significant.sum()), scores.size)
    return Heatmap(
        level=law.level,
        levels=np.full(values.size, law.level, np.uint8),
        prefixes=np.arange(values.size),
        values=values,
        standard_errors=errors,
        significant=SignificantSquares.of_levels(by_level),
        lows=_lows(values, errors, by_level[law.level], floor * _deviations(finest, largest)),
        highs=values + WITHIN_ERRORS * errors,
        total=float(counts.sum()),
        total_error=0.0,
    )


def _deviations(estimates: Estimates, largest: float) -> Floats:
    """Returns the deviations of the values that empty squares would have.

    Of an empty square the number is 0, and the mean of `squares` the variance. It rises with every report
    that raises the value, so that few reports never make a high score. Reports that lower it may be so rare
    that none was seen: a few of the largest ones are counted in.
    """
    return np.sqrt(estimates.squares + _FEW * largest**2)


def _threshold(count: int, squares: int) -> float:
    """Returns the score from which on so many squares of a level were told."""
    return float(-ndtri(float(RATE) * count / squares / _harmonic(squares)))


def _harmonic(count: int) -> float:
    return float((1 / np.arange(1, count + 1)).sum())


def _lows(values: Floats, errors: Floats, significant: Integers, floors: Floats) -> Floats:
    """Returns lower ends of 95 % intervals; of squares that were told for being large, given that they were.

    `low_ends` is for Laplace noise. Given that it is above a floor, normal noise of the same deviation goes
    on less far above it: its low end is no lower.
    """
    lows = np.maximum(values - WITHIN_ERRORS * errors, 0)
    if significant.size:
        shift = floors[significant]
        conditional = low_ends(values[significant], floor=shift, scale=errors[significant] / math.sqrt(2))
        lows[significant] = np.minimum(lows[significant], conditional)
    return lows
