"""The region as a picture, with rings and their signs on it."""

from collections.abc import Mapping
from typing import Final

from PIL import Image, ImageDraw

from heatmaps.exports.lettering import Style
from heatmaps.exports.map_image import GROUND, INK, name_places, pixel_of, size
from heatmaps.maps.rings import DrawnRing
from mechanisms.grid import Region

_LEVEL: Final = 1024  # pixels along the width, as of a map with so many cells
_SIGN: Final = Style(size=18, colour=INK)


def rings_image(region: Region, rings: tuple[DrawnRing, ...], colours: Mapping[str, str]) -> Image.Image:
    """On light ground, north up; a ring of a class without a colour is not filled."""
    picture = Image.new("RGB", size(region, _LEVEL), GROUND)
    canvas = ImageDraw.Draw(picture)
    for ring in rings:
        corners = [pixel_of(region, picture, lat=lat, lon=lon) for lat, lon in ring.corners]
        canvas.polygon(corners, fill=colours.get(ring.key), outline=INK, width=2)
    name_places(picture, region)
    for ring in rings:
        lat, lon = ring.middle
        at = pixel_of(region, picture, lat=lat, lon=lon)
        canvas.text(
            at, ring.text, font=_SIGN.font, fill=INK, anchor="mm", stroke_width=3, stroke_fill="white"
        )
    return picture
