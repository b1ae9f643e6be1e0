"""Writes what the tiles of a map are cut from; for children too, which have no database."""

from typing import BinaryIO

from heatmaps.exports.content import HEAT, Released
from heatmaps.maps import tile_drawing


def write_tile_picture(released: Released, stream: BinaryIO) -> None:
    """Writes the picture that `heatmaps.maps.tile_drawing.tile_png` reads."""
    heat, dark = released.layer == HEAT, released.look.is_dark
    tile_drawing.write_picture(released.heatmap, released.region, stream, heat=heat, dark=dark)
