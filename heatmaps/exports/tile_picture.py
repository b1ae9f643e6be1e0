"""Writes what the tiles of a map are cut from; for children too, which have no database."""

from typing import BinaryIO

from heatmaps.exports.content import HEAT, Released
from heatmaps.maps import tiles


def write_tile_picture(released: Released, stream: BinaryIO) -> None:
    """Writes the picture that `heatmaps.maps.tiles.tile_png` reads."""
    heat, dark = released.layer == HEAT, released.look.is_dark
    tiles.write_picture(released.heatmap, released.region, stream, heat=heat, dark=dark)
