"""States how many people in one place a map would have measured apart from others 95 times in 100.

From public numbers and from which cells were split, as both stand in what is kept of the measurements: not
from what was measured.
"""

import math
from typing import Final

import numpy as np

from mechanisms.central.adaptive import one_walk, two_rounds
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.measurements import Measurement

FINEST: Final = 12  # level
_LARGE: Final = 1.645  # deviations that noise stays below 95 times in 100
_MARGIN: Final = 1.25  # the estimated total may be so far off the number of people that was expected
# Noise scales of a first round: 95 times in 100 a cell's posterior mean is no more than that below its mass.
_SHRUNK: Final = 5.0


def people_in_one_place(heatmap: Heatmap) -> list[float] | None:
    """Returns by [level] how many people in one place have a square of
    that level or a finer one of their own.

    Shorter where no number of people has. None of a map that does not hold what was measured, or in
    rectangles. What was measured before for the same people tells more, so that fewer would do.
    """
    measurements = heatmap.measurements
    if measurements is None or measurements.shares is not None:
        return None
    *earlier, last = measurements.parts
    if earlier and _is_grid_of(earlier[-1], last):
        return _by_two_rounds(earlier[-1], last.scale_persons)
    return _by_walk(last, heatmap.total)


def _by_walk(leaves: Measurement, total: float) -> list[float]:
    """Returns [level] of a walk: a place that is so many splits below the first cells is worth the first of
    them at the latest with that many left, when looks are least sure."""
    scale = leaves.scale_persons
    splits = round(math.log(one_walk.TOKENS, 4))
    # A walk begins at the coarser level unless there are enough people, which only the total tells by now.
    enough = _MARGIN * one_walk.FIRST_SCALES * 4 ** (one_walk.FINEST_FIRST - 0.5) * scale
    first = one_walk.FINEST_FIRST if total >= enough and leaves.depths.min() >= 4 else 1
    needed = [max(level - first, 1) for level in range(FINEST + 1)]
    return [
        scale * (one_walk.WORTH * 4 ** (one_walk.GROWTH * (left - 1)) + _LARGE * math.sqrt(2 * 4**left))
        for left in needed
        if left <= splits
    ]


def _by_two_rounds(grid: Measurement, scale: float) -> list[float]:
    """Returns [level] of two rounds: a cell of the first round is split while, spread evenly, enough of it is
    in its parts.
    """
    first = int(grid.depths[0]) // 2
    coarser, *near, finer = two_rounds.WORTH_SPLITTING_AGAIN
    most = [coarser] + [worth * 4**below for below, worth in enumerate([*near, finer, finer])]
    worth = np.maximum.accumulate(most)
    levels = range(min(FINEST, first + len(most) - 1) + 1)
    return [scale * (float(worth[max(level - first, 0)]) + _SHRUNK) for level in levels]


def _is_grid_of(grid: Measurement, cut: Measurement) -> bool:
    """Returns whether both are of two rounds: walks measure coarse cells where nobody seems to be."""
    depth = int(grid.depths[0])
    is_whole = bool((grid.depths == depth).all()) and depth > 2 * one_walk.FINEST_FIRST
    return is_whole and grid.scale_persons == cut.scale_persons
