"""Finds where the pixels of a projected raster lie in a region."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rasterio.crs import CRS
from rasterio.warp import transform

from heatmaps.guides.pixels import Floats, PixelBox
from mechanisms.guide import SIDE
from mechanisms.space.grid import Region

DEGREES: Final = CRS.from_epsg(4326)
_NODES: Final = 257  # a side; projections are exact there, and linear between: 1e-4 of a cell


def pixels_of(raster: Any, region: Region) -> tuple[Floats, Floats]:
    """Returns columns and rows of places all over the region; none where the coordinates know none of it."""
    steps = np.linspace(0, 1, 2 * SIDE + 1)
    east, north = np.meshgrid(
        region.west + steps * (region.east - region.west),
        region.south + steps * (region.north - region.south),
    )
    x, y = np.array(transform(DEGREES, raster.crs, east.ravel(), north.ravel()))
    is_finite, place = np.isfinite(x) & np.isfinite(y), raster.transform
    return (x[is_finite] - place.c) / place.a, (y[is_finite] - place.f) / place.e


class Ground:
    """Finds which cells of a guide the points of a raster lie in."""

    def __init__(self, raster: Any, box: PixelBox, region: Region) -> None:
        self._box, place = box, raster.transform
        columns, rows = np.meshgrid(
            np.linspace(box.left, box.right, _NODES), np.linspace(box.top, box.bottom, _NODES)
        )
        x, y = place.c + place.a * columns, place.f + place.e * rows
        lon, lat = np.array(transform(raster.crs, DEGREES, x.ravel(), y.ravel())).reshape(2, _NODES, _NODES)
        with np.errstate(invalid="ignore"):
            lon -= 360 * np.round((lon - (region.west + region.east) / 2) / 360)
            self._column = (_unbroken(lon) - region.west) / (region.east - region.west) * SIDE
            self._row = (region.north - lat) / (region.north - region.south) * SIDE

    def cells(self, part: PixelBox, *, across: int, down: int) -> NDArray[np.int64]:
        """Returns their numbers, -1 outside, of `down` rows and `across` columns of points in each pixel."""
        box = self._box
        left, right = part.left - box.left, part.right - box.left
        top, bottom = part.top - box.top, part.bottom - box.top
        columns = _nodes(left, right, across, of=box.right - box.left)
        rows = _nodes(top, bottom, down, of=box.bottom - box.top)
        with np.errstate(invalid="ignore"):
            column = _blended(_blended(self._column, rows).T, columns).T
            row = _blended(_blended(self._row, rows).T, columns).T
            inside = (column >= 0) & (column < SIDE) & (row >= 0) & (row < SIDE)
            return np.where(inside, row.astype(np.int64) * SIDE + column.astype(np.int64), -1)


def _unbroken(lon: Floats) -> Floats:
    """Returns longitudes without the nodes where they jump by a turn (nan): nothing is between them."""
    is_broken = np.zeros(lon.shape, np.bool_)
    across, down = np.abs(np.diff(lon, axis=1)) > 180, np.abs(np.diff(lon, axis=0)) > 180
    is_broken[:, 1:] |= across
    is_broken[:, :-1] |= across
    is_broken[1:] |= down
    is_broken[:-1] |= down
    return np.where(is_broken, np.nan, lon)


def _nodes(first: int, last: int, points: int, *, of: int) -> Floats:
    """Returns the places of points, in the middle of equal parts of pixels, among nodes evenly over `of`
    pixels."""
    return (first + (np.arange((last - first) * points) + 0.5) / points) * ((_NODES - 1) / of)


def _blended(table: Floats, places: Floats) -> Floats:
    """Interpolates linearly between the rows of a table: (n, m), (p,) → (p, m)."""
    before = np.minimum(places.astype(np.int64), len(table) - 2)
    share = (places - before)[:, np.newaxis]
    values: Floats = table[before] * (1 - share) + table[before + 1] * share
    return values
