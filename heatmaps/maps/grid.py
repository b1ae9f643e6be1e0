"""A released map as the grid of cells that is drawn: shares, densities, and what cannot be told from zero."""

import math
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.grid import Region, morton_decode, parent
from mechanisms.interface import Heatmap

FINEST_DRAWN_LEVEL: Final = 10  # 1,024 cells a side: more than a screen shows, and a small document
UNCERTAIN_ERRORS: Final = 2.0  # a value below so many standard errors is not told apart from zero

_EARTH_RADIUS_KM: Final = 6371.0072  # sphere of the same surface as WGS84


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """Arrays of shape (side, side), row 0 north, column 0 west."""

    region: Region
    level: int
    merged: int  # cells of the release a side in one drawn cell
    shares: NDArray[np.float64] = field(repr=False)  # of the total mass, sum 1
    uncertain: NDArray[np.bool_] = field(repr=False)  # not distinguishable from zero

    @property
    def densities(self) -> NDArray[np.float64]:
        """Share of the total per square kilometre."""
        return self.shares / row_areas_km2(self.region, self.level)[:, np.newaxis]


def draw(heatmap: Heatmap, region: Region, *, finest_level: int = FINEST_DRAWN_LEVEL) -> Drawn:
    """The grid of a released map, coarsened to `finest_level` by summing where it is finer."""
    coarse = _coarsened(heatmap, min(heatmap.level, finest_level))
    shares, uncertain = coarse.dense(), _paint(coarse, is_uncertain(coarse))
    if np.isfinite(heatmap.standard_errors).any():
        # A mechanism that states errors measured every cell: what it leaves out was cut for its noise.
        uncertain |= shares == 0
    return Drawn(
        region=region,
        level=coarse.level,
        merged=1 << (heatmap.level - coarse.level),
        shares=shares,
        uncertain=uncertain,
    )


def is_uncertain(heatmap: Heatmap) -> NDArray[np.bool_]:
    """Which regions have a stated standard error and a value below `UNCERTAIN_ERRORS` of it."""
    stated = np.isfinite(heatmap.standard_errors) & (heatmap.standard_errors > 0)
    return stated & (heatmap.values < UNCERTAIN_ERRORS * np.where(stated, heatmap.standard_errors, 0.0))


def row_areas_km2(region: Region, level: int) -> NDArray[np.float64]:
    """Area of one cell by row, row 0 north, in square kilometres."""
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
        chosen = heatmap.levels == finer
        prefixes[chosen] = parent(heatmap.prefixes[chosen], finer - level)
    # Regions are in Morton order, so those that fell into one cell stand side by side.
    first = np.flatnonzero(np.r_[True, (np.diff(prefixes) != 0) | (np.diff(levels) != 0)][: prefixes.size])
    if not first.size:
        return replace(heatmap, level=level)
    # Errors of parts are added as if independent; a part without a stated error leaves none for the sum.
    squares = np.add.reduceat(heatmap.standard_errors**2, first)
    return Heatmap(
        level=level,
        levels=levels[first],
        prefixes=prefixes[first],
        values=np.add.reduceat(heatmap.values, first),
        standard_errors=np.sqrt(squares),
    )


def _paint(heatmap: Heatmap, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    side = 1 << heatmap.level
    grid = np.zeros((side, side), np.bool_)
    for level in np.unique(heatmap.levels[marked]).tolist():
        chosen = marked & (heatmap.levels == level)
        across, block = 1 << level, 1 << (heatmap.level - level)
        x, y = morton_decode(heatmap.prefixes[chosen], level)
        grid.reshape(across, block, across, block)[across - 1 - y, :, x, :] = True
    return grid
