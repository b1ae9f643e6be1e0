"""Estimates what the squares of a released map add to sums over areas, each with its error.

Post-processing of what was released, so it costs nothing; also of maps that were released before this was.
"""

import math
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.results.heatmap import Heatmap

MOST_SQUARES: Final = 2**14  # a page draws them in a moment; finer ones are added up

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summands:
    """Adds disjoint squares up in Morton order: their values over areas and deviations in quadrature.

    Two deviations of a sum to either side hold the truth in 95 of 100 sums, in more where `is_bound`.
    """

    levels: Integers = field(repr=False)  # (k,)
    prefixes: Integers = field(repr=False)  # (k,) Morton codes at their own level
    values: Floats = field(repr=False)  # (k,) people; below 0 where noise made them so
    deviations: Floats = field(repr=False)  # (k,) people
    is_bound: bool = False

    def coarsened(self, level: int) -> Self:
        """Returns the summands with the squares finer than a level added up to squares of it."""
        levels = np.minimum(self.levels, level)
        prefixes = self.prefixes >> 2 * (self.levels - levels)
        first = np.flatnonzero(np.r_[True, (np.diff(prefixes) != 0) | (np.diff(levels) != 0)])
        return type(self)(
            levels=levels[first],
            prefixes=prefixes[first],
            values=np.add.reduceat(self.values, first),
            deviations=np.sqrt(np.add.reduceat(self.deviations**2, first)),
            is_bound=self.is_bound,
        )


def summands_of(heatmap: Heatmap) -> Summands | None:
    """Returns the squares of a map for sums, at most `MOST_SQUARES`; None where no error of a sum is known.

    That is so where squares that were left out may hold any number of people, where squares were fitted to
    each other without a stated deviation, and where only rectangles were measured that squares are parts of:
    maps of before state deviations there, too, which are false under a wrong guide. A map with deviations and
    no standard errors states bounds.
    """
    if not heatmap.values.size or heatmap.is_in_rectangles:
        return None
    summands = _as_stated(heatmap) if heatmap.deviations is not None else _of_cut_noise(heatmap)
    level = heatmap.level
    while summands is not None and summands.levels.size > MOST_SQUARES:
        level -= 1
        summands = summands.coarsened(level)
    return summands


def _as_stated(heatmap: Heatmap) -> Summands:
    assert heatmap.deviations is not None  # noqa: S101 - for the type checker
    return Summands(
        levels=heatmap.levels.astype(np.int64),
        prefixes=heatmap.prefixes,
        values=heatmap.values,
        deviations=heatmap.deviations,
        is_bound=bool(np.isnan(heatmap.standard_errors).all()),
    )


def _of_cut_noise(heatmap: Heatmap) -> Summands | None:
    """Returns the summands of a map whose every square was measured with equal Laplace noise, then cut to 0
    where it was below.

    Sums of cut values are too large by half a noise scale for every empty square. Let y = p + noise, p ≥ 0:
    given y < 0, y is minus an exponential variable of the noise's scale b, whatever p is. So the mean of y
    given what was released is y where y > 0 and -b elsewhere: this has mean p and a variance of at most that
    of the noise (Rao 1945, Blackwell 1947). Noise is independent, so variances add up. What the discrete law
    changes is less than a mass unit.
    """
    error = float(heatmap.standard_errors[0])
    if not math.isfinite(error) or (heatmap.standard_errors != error).any():
        return None
    levels = heatmap.levels.astype(np.int64)
    prefixes, noisy = heatmap.prefixes, heatmap.values
    if int((4 ** (heatmap.level - levels)).sum()) < 4**heatmap.level:
        if heatmap.cut_error != error or (levels < heatmap.level).any():
            return None  # nothing is known about squares that were left out
        prefixes, noisy = np.arange(4**heatmap.level), np.zeros(4**heatmap.level)
        noisy[heatmap.prefixes] = heatmap.values
        levels = np.full(noisy.size, heatmap.level, np.int64)
    return Summands(
        levels=levels,
        prefixes=prefixes,
        values=np.where(noisy > 0, noisy, -error / math.sqrt(2)),
        deviations=np.full(noisy.size, error),
    )
