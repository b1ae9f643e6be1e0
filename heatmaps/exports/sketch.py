"""Draws a map into a picture of any size, and says how its legend is written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from heatmaps.exports.column import Column
from heatmaps.exports.content import HEAT, Released
from heatmaps.exports.heat_image import draw_heat, heat_key
from heatmaps.exports.map_image import draw_cells
from heatmaps.exports.scene import Box, Scene
from heatmaps.maps.heat_view import heat_view

Key: TypeAlias = Callable[[Column], None]  # writes what the signs of a picture mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """Holds the key of a drawn map, and where no name may stand."""

    key: Key
    occupied: Sequence[Box] = ()  # where no name may stand


def sketch_map(scene: Scene, released: Released) -> Sketch:
    """Draws the heat, or the cells where a map has none or they are wanted."""
    heat = heat_view(released.heatmap, released.region) if released.layer == HEAT else None
    if heat is None:
        return Sketch(key=draw_cells(scene, released.heatmap, released.region).key)
    draw_heat(scene, heat, released.region)
    return Sketch(key=partial(heat_key, heat=heat))
