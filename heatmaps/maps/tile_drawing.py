"""Cuts a map into the tiles of web maps, in the colours of its page.

What is kept of a map is one small picture; a tile costs the same wherever it lies and whatever is in it.
"""

import io
import math
from dataclasses import dataclass
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from heatmaps.maps.grid import FINEST_DRAWN_LEVEL, draw
from heatmaps.maps.heat_view import OPACITY, heat_view
from heatmaps.maps.image import MERCATOR_LIMIT, colours, positions
from heatmaps.maps.legend import legend
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import Region

SIDE: Final = 256  # pixels of a tile
_CELL_PIXELS: Final = 8  # of a drawn cell at the largest zoom: more shows nothing more
_MOST_ZOOM: Final = 22
_COMPRESSION: Final = 2  # of 9: the usual 6 takes three times as long, for files a third smaller

Pixels = NDArray[np.uint8]  # RGBA
Floats = NDArray[np.float64]
Colours = NDArray[np.float32]  # from 0 to 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """Holds one square of a web map: column and row from the north-west corner of the world."""

    zoom: int
    x: int
    y: int

    @property
    def exists(self) -> bool:
        return 0 <= self.zoom <= _MOST_ZOOM and max(self.x, self.y) < 1 << self.zoom

    def centres(self, side: int) -> tuple[Floats, Floats]:
        """Returns longitudes from west and latitudes from north of the middles of `side` pixels each way."""
        parts = (np.arange(side) + 0.5) / side
        across, down = ((at + parts) / (1 << self.zoom) for at in (self.x, self.y))
        return across * 360 - 180, np.degrees(np.arctan(np.sinh(np.pi * (1 - 2 * down))))


def largest_zoom(region: Region, resolution: int) -> int:
    """Returns the zoom at which every drawn cell has some pixels each way, and beyond which tiles would show
    nothing more."""
    cells = min(resolution, 1 << FINEST_DRAWN_LEVEL)
    needed = 360 / (region.east - region.west) * cells * _CELL_PIXELS / SIDE
    return min(max(math.ceil(math.log2(needed)), 0), _MOST_ZOOM)


def write_picture(heatmap: Heatmap, region: Region, stream: BinaryIO, *, heat: bool, dark: bool) -> None:
    """Writes what `tile_png` cuts from: the heat, or the cells' classes without a heat or a wish for it."""
    view = heat_view(heatmap, region) if heat else None
    if view is not None:
        np.savez(stream, heat=view.pixels(dark=dark))
        return
    grid = draw(heatmap, region)
    key = legend(grid)
    np.savez(stream, classes=key.classes_of(grid), colours=colours(len(key.breaks), dark=dark))


def tile_png(stream: BinaryIO, region: Region, tile: Tile, *, scale: int = 1) -> bytes:
    """Draws a tile of `scale` times `SIDE` pixels, transparent where the map shows nothing or ends."""
    lons, lats = tile.centres(SIDE * scale)
    columns = (lons >= region.west) & (lons < region.east)
    rows = (lats > region.south) & (lats <= region.north) & (np.abs(lats) <= MERCATOR_LIMIT)
    pixels = np.zeros((SIDE * scale, SIDE * scale, 4), np.uint8)
    if columns.any() and rows.any():
        with np.load(stream, allow_pickle=False) as arrays:
            place = region, lons[columns], lats[rows]
            if "heat" in arrays:
                colours_there = _heat(arrays["heat"], *place)
            else:
                colours_there = arrays["colours"][_cells(arrays["classes"], *place)]
        pixels[np.ix_(rows, columns)] = colours_there
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG", compress_level=_COMPRESSION)
    return content.getvalue()


def _cells(classes: Pixels, region: Region, lons: Floats, lats: Floats) -> Pixels:
    side = len(classes)
    columns = (lons - region.west) / (region.east - region.west) * side
    rows = (region.north - lats) / (region.north - region.south) * side
    return np.asarray(classes[_index(rows, side)][:, _index(columns, side)])


def _heat(picture: Pixels, region: Region, lons: Floats, lats: Floats) -> Pixels:
    """Interpolates between the pixels of the surface by proportion, as opaque as on the page."""
    floats = picture.astype(np.float32)  # of 8 bits: more would cost twice as much
    alpha = floats[..., 3:] / 255
    # Nothing has no colour to mix in.
    mixture: Colours = np.concatenate((floats[..., :3] * alpha, alpha), axis=2, dtype=np.float32)
    down = positions(region, lat=lats, lon=np.full(lats.size, region.west))[1]
    mixture = _between(mixture, down, axis=0)
    mixture = _between(mixture, (lons - region.west) / (region.east - region.west), axis=1)
    left = mixture[..., 3:]
    rgb = np.divide(mixture[..., :3], left, out=np.zeros_like(mixture[..., :3]), where=left > 0)
    rgba = np.concatenate((rgb, 255 * OPACITY * left), axis=2)
    return np.asarray(np.rint(rgba).astype(np.uint8))


def _between(values: Colours, at: Floats, axis: int) -> Colours:
    """Interpolates values at shares of an axis; averaged first where many of them fall into one pixel."""
    count = values.shape[axis]
    while at.size > 1 and count * (at[1] - at[0]) >= 2 and count % 2 == 0:
        pairs = np.moveaxis(values, axis, 0).reshape(count // 2, 2, *np.delete(values.shape, axis))
        values, count = np.moveaxis(pairs.mean(axis=1), 0, axis), count // 2
    place = np.clip(at * count - 0.5, 0, count - 1)
    low = np.minimum(place.astype(np.int64), count - 2)
    part = np.expand_dims(
        (place - low).astype(values.dtype), tuple(other for other in range(values.ndim) if other != axis)
    )
    return np.asarray(np.take(values, low, axis) * (1 - part) + np.take(values, low + 1, axis) * part)


def _index(at: Floats, side: int) -> NDArray[np.int64]:
    return np.clip(at.astype(np.int64), 0, side - 1)
