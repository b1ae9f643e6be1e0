"""Computes the drawn grid of a map: shares, densities, and cells not distinguishable from zero."""

import math
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.central.grid_laplace.empty_cells import significant_squares
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.significance import SignificantSquares
from mechanisms.space.grid import Region, paint, parent

FINEST_DRAWN_LEVEL: Final = 10  # 1,024 cells a side: more than a screen shows, and a small document

_EARTH_RADIUS_KM: Final = 6371.0072  # sphere of the same surface as WGS84


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnGrid:
    """Holds arrays of shape (side, side), row 0 north, column 0 west."""

    region: Region
    level: int
    merged: int  # cells of the release a side in one drawn cell
    shares: NDArray[np.float64] = field(repr=False)  # of the total mass, sum 1
    uncertain: NDArray[np.bool_] | None = field(repr=False)  # not distinguishable from zero; None: not said
    # As `Heatmap.is_in_rectangles`: the above is said of rectangles, not of squares.
    is_in_rectangles: bool = False

    @property
    def densities(self) -> NDArray[np.float64]:
        """Returns the share of the total per square kilometre."""
        return self.shares / row_areas_km2(self.region, self.level)[:, np.newaxis]


def draw(heatmap: Heatmap, region: Region, *, finest_level: int = FINEST_DRAWN_LEVEL) -> DrawnGrid:
    """Returns the grid of a released map, coarsened to `finest_level` by summing where it is finer."""
    coarse, distinguished = (
        _coarsened(heatmap, min(heatmap.level, finest_level)),
        significant_squares(heatmap),
    )
    return DrawnGrid(
        region=region,
        level=coarse.level,
        merged=1 << (heatmap.level - coarse.level),
        shares=coarse.dense(),
        uncertain=None if distinguished is None else ~_distinguished_cells(coarse, distinguished),
        is_in_rectangles=heatmap.is_in_rectangles,
    )


def is_uncertain(heatmap: Heatmap) -> NDArray[np.bool_]:
    """Tells which regions are not told apart from empty ones; none where the release does not say."""
    distinguished = significant_squares(heatmap)
    if distinguished is None:
        return np.zeros(heatmap.values.size, np.bool_)
    return ~distinguished.has(heatmap.levels, heatmap.prefixes)


def _distinguished_cells(heatmap: Heatmap, distinguished: SignificantSquares) -> NDArray[np.bool_]:
    """Returns `(side, side)` cells told apart at the level drawn, and those of coarser regions told apart."""
    coarse = heatmap.levels < heatmap.level
    levels, prefixes = heatmap.levels[coarse], heatmap.prefixes[coarse]
    is_distinguished, own = distinguished.has(levels, prefixes), distinguished.at(heatmap.level)
    levels = np.concatenate((levels[is_distinguished], np.full(own.size, heatmap.level, np.uint8)))
    grid = np.zeros((1 << heatmap.level, 1 << heatmap.level), np.bool_)
    paint(grid, levels, np.concatenate((prefixes[is_distinguished], own)), np.ones(levels.size, np.bool_))
    return grid


def row_areas_km2(region: Region, level: int) -> NDArray[np.float64]:
    """Returns the area of one cell by row, row 0 north, in square kilometres."""
    side = 1 << level
    sines = np.sin(np.radians(np.linspace(region.north, region.south, side + 1)))
    width = math.radians(region.east - region.west) / side
    return np.asarray(_EARTH_RADIUS_KM**2 * width * (sines[:-1] - sines[1:]), np.float64)


def _coarsened(heatmap: Heatmap, level: int) -> Heatmap:
    if heatmap.level == level:
        return heatmap
    levels = np.minimum(heatmap.levels, level).astype(np.uint8)
    prefixes = heatmap.prefixes.copy()
    for finer in range(level + 1, heatmap.level + 1):
        is_finer = heatmap.levels == finer
        prefixes[is_finer] = parent(heatmap.prefixes[is_finer], finer - level)
    # Regions are in Morton order, so those that fell into one cell stand side by side.
    first = np.flatnonzero(np.r_[True, (np.diff(prefixes) != 0) | (np.diff(levels) != 0)][: prefixes.size])
    if not first.size:
        return replace(heatmap, level=level)
    return Heatmap(
        level=level,
        levels=levels[first],
        prefixes=prefixes[first],
        values=np.add.reduceat(heatmap.values, first),
        standard_errors=np.full(first.size, np.nan),  # nobody reads them of a drawing
    )
