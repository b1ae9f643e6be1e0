"""Draws a map's cells as whole pixels, in the projection and the classes of the web map."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from PIL import Image

from heatmaps.exports.column import Column
from heatmaps.exports.scene import Scene
from heatmaps.maps.grid import FINEST_DRAWN_LEVEL, draw
from heatmaps.maps.image import colours, mercator_height, mercator_rows
from heatmaps.maps.legend import Legend, legend
from heatmaps.maps.looks import LIGHT, Look
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import Region

LONGEST: Final = 1536  # pixels, of either side
THINNEST: Final = 24.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MapImage:
    """Holds a picture of the region's cells, north up, and what its colours mean."""

    scene: Scene
    legend: Legend
    merged: int  # cells of the release a side in one drawn cell

    def key(self, column: Column) -> None:
        """Writes the legend."""
        column.classes(self.legend.title, self.legend.rows)
        if self.merged > 1:
            column.note(f"Drawn in squares of {self.merged} × {self.merged} cells, their shares added up.")


def map_image(heatmap: Heatmap, region: Region, look: Look = LIGHT) -> MapImage:
    """Draws a map, every drawn cell as whole pixels of one colour.

    Where there are more cells than pixels, cells are merged by summing, as on the web map.
    """
    scene = Scene.of(region, size(region, 1 << _finest(heatmap, region)), look)
    image = draw_cells(scene, heatmap, region)
    scene.name_places()
    return image


def draw_cells(scene: Scene, heatmap: Heatmap, region: Region) -> MapImage:
    """Draws the cells in the region's part of a picture, as fine as its pixels allow."""
    left, top, right, bottom = scene.box_of(region)
    width, height = right - left, bottom - top
    grid = draw(heatmap, region, finest_level=_level(heatmap, region, width, height))
    key, side = legend(grid), 1 << grid.level
    rows = mercator_rows(region, side, height=height)
    columns = np.arange(width) * side // width
    palette = colours(len(key.breaks), dark=scene.look.is_dark)
    pixels = Image.fromarray(palette[key.classes_of(grid)[rows][:, columns]])
    scene.image.paste(pixels.convert("RGB"), (left, top), pixels.getchannel("A"))
    return MapImage(scene=scene, legend=key, merged=grid.merged)


def blank(region: Region, look: Look = LIGHT) -> Scene:
    """Returns a picture of the region with nothing on it, for what is not drawn in cells."""
    return Scene.of(region, size(region, 1024), look)


def size(region: Region, side: int) -> tuple[int, int]:
    """Returns (width, height) in pixels: the shape that Mercator gives the region, columns equally wide.

    A strip more than `THINNEST` times as long as wide is drawn as if it were that.
    """
    ratio = min(max(mercator_height(region), 1 / THINNEST), THINNEST)
    width = max(1, int(min(LONGEST, LONGEST / ratio)) // side) * side
    return width, max(1, round(width * ratio))


def _finest(heatmap: Heatmap, region: Region) -> int:
    """Returns the finest level at which a picture of the region has pixels for every cell."""
    for level in range(min(heatmap.level, FINEST_DRAWN_LEVEL), 0, -1):
        width, height = size(region, 1 << level)
        if max(width, height) <= LONGEST and _level(heatmap, region, width, height) >= level:
            return level
    return 0


def _level(heatmap: Heatmap, region: Region, width: int, height: int) -> int:
    """Returns the finest level at which so many pixels show every cell."""
    for level in range(min(heatmap.level, FINEST_DRAWN_LEVEL), 0, -1):
        is_skipped = np.diff(mercator_rows(region, 1 << level, height=height)).max(initial=0) > 1
        if 1 << level <= width and not is_skipped:
            return level
    return 0
