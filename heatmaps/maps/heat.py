"""Prepares the smooth surface of a released map: `static/hazemap/surface.js` computes it, `heat.js` shows it.

It is made of released squares and their stated errors alone, so it costs nothing and reads no data.
"""

import math
from typing import Final

import numpy as np

from heatmaps.maps import palette
from mechanisms.central.adaptive.detection import people_in_one_place
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.significance import RATE
from mechanisms.results.squares import Squares, squares_of
from mechanisms.results.summands import Summands, summands_of
from mechanisms.space.grid import Region

_USUAL_WIDTH: Final = 1 / 64  # of the shorter side, at the usual precision
_USUAL_PRECISION: Final = 450.0  # persons in all, in the largest deviation of a square
_WIDEST: Final = 1 / 20  # of the shorter side
_LEFT_OUT: Final = (
    "This method keeps its largest squares only. Nobody knows how many people are in the others, so there is "
    "no smooth map."
)
_STARTED: Final = (
    "Only rectangles were measured. Where people are inside of them is taken from the map that this one "
    "started from, so sums have no stated error, and there is no smooth map."
)
_FITTED: Final = "This method does not say how far sums of its squares may be off, so there is no smooth map."


def heat_of(heatmap: Heatmap, region: Region) -> dict[str, object] | None:
    """Holds squares by level with values and deviations in persons, and the Gaussian's usual width in metres.

    None where the error of a sum over squares is not known: then a surface has none either.
    """
    summands = summands_of(heatmap)
    if summands is None:
        return None
    return {
        "region": list(region),
        "metres": [region.width_m, region.height_m],
        "squares": [_listed(squares.rounded()) for squares in squares_of(summands)],
        "width": usual_width(summands, region),
        "rate": float(RATE),
        "isBound": summands.is_bound,
        "spots": _spots(heatmap),
        "palettes": {name: list(colours) for name, colours in palette.RAMPS.items()},
    }


def why_no_heat(heatmap: Heatmap) -> str:
    """Returns one sentence for a map that is shown in squares alone; empty for others."""
    if summands_of(heatmap) is not None or not heatmap.values.size:
        return ""
    if heatmap.is_in_rectangles:
        return _STARTED
    has_all = heatmap.values.size == 4**heatmap.level and (heatmap.levels == heatmap.level).all()
    return _LEFT_OUT if np.isfinite(heatmap.standard_errors).all() and not has_all else _FITTED


def _spots(heatmap: Heatmap) -> list[float] | None:
    """Returns [level] people who, all in one place, are in a square of that level or finer ones 95 times in
    100.

    Empty of a map whose squares are all finest ones with equal noise; None where that is not known.
    """
    if heatmap.measurements is not None:
        return people_in_one_place(heatmap)
    errors = heatmap.standard_errors
    is_even = heatmap.deviations is None and bool((heatmap.levels == heatmap.level).all())
    return [] if is_even and bool((errors == errors[0]).all()) else None


def usual_width(summands: Summands, region: Region) -> int:
    """Metres, at least one square of the finest: wider where there are few persons for the noise."""
    noise = float(summands.deviations.max()) or 1.0
    precision = max(float(summands.values.sum()) / noise, 1.0)
    share = min(_USUAL_WIDTH * math.pow(_USUAL_PRECISION / precision, 0.25), _WIDEST)
    width_m = min(region.width_m, region.height_m) * max(2.0 ** -int(summands.levels.max()), share)
    return max(round(width_m), 1)


def _listed(squares: Squares) -> dict[str, object]:
    columns = {name: getattr(squares, name).tolist() for name in ("x", "y", "values", "deviations")}
    return {"level": squares.level, **columns}
