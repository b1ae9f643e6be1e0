"""Turns a posterior into a released map: values, errors, and which regions are distinguishable from empty."""

import math

import numpy as np

from mechanisms.central.adaptive.leaf_posterior import Spread, likely_occupied
from mechanisms.central.adaptive.quadtree_cut import Cut
from mechanisms.central.adaptive.tree_posterior import Posterior
from mechanisms.expected_error import WITHIN_ERRORS
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.measurements import Measurements
from mechanisms.results.significance import RATE, SignificantSquares


def posterior_map(
    posterior: Posterior, *, level: int, scale_persons: float, measurements: Measurements | None = None
) -> Heatmap:
    """Returns means with 95 % intervals. scale_persons: the unit of the posterior's masses.

    Deviations are meant to be added in quadrature: errors inside one measured cell make up for each other, so
    sums are rather less off (`held_by_squares` takes in part of that), and so are 95 of 100 districts of the
    cities that `test_coverage.py` measures, of whole squares and of parts.
    """
    low, high = posterior.spread.low, posterior.spread.high
    return Heatmap(
        level=level,
        levels=posterior.cut.levels.astype(np.uint8),
        prefixes=posterior.cut.prefixes,
        values=posterior.mean * scale_persons,
        standard_errors=np.maximum(posterior.mean - low, high - posterior.mean)
        * (scale_persons / WITHIN_ERRORS),
        significant=significant_by_posterior(posterior.cut, posterior.spread),
        lows=low * scale_persons,
        highs=high * scale_persons,
        deviations=posterior.deviation * scale_persons,
        total=float(posterior.mean.sum()) * scale_persons,
        total_error=math.sqrt(float((posterior.deviation**2).sum())) * scale_persons,
        measurements=measurements,
    )


def significant_by_posterior(cut: Cut, spread: Spread) -> SignificantSquares:
    """Returns the most cells of a cut of which on average no more than the rate holds less than half a
    person.
    """
    is_occupied = likely_occupied(spread.empty, rate=float(RATE))
    return SignificantSquares.with_parents(cut.levels[is_occupied], cut.prefixes[is_occupied])
