"""The cells of a map as a picture of whole pixels, in the projection and the classes of the web map."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from PIL import Image, ImageDraw

from heatmaps.exports.lettering import Style
from heatmaps.maps.grid import FINEST_DRAWN_LEVEL, draw
from heatmaps.maps.image import colours, mercator_height, mercator_rows, position
from heatmaps.maps.legend import Legend, legend
from heatmaps.maps.places import places_in
from mechanisms.grid import Region
from mechanisms.interface import Heatmap

Box = tuple[float, float, float, float]  # left, top, right, bottom, in pixels

LONGEST: Final = 1536  # pixels, of either side
THINNEST: Final = 24.0
GROUND: Final = "#f4f4f1"  # as in static/hazemap/map.css
INK: Final = "#1d2530"

_NAMED_PLACES: Final = 12  # each hides what is under it, and a picture has no button to take names away
_NAME: Final = Style(size=16, colour=INK)
_HALO: Final = "#ffffff"
_HALO_WIDTH: Final = 3  # pixels
_DOT: Final = 3  # pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class MapImage:
    """A picture of the region, north up, and what its colours mean."""

    image: Image.Image
    legend: Legend
    merged: int  # cells of the release a side in one drawn cell


def map_image(heatmap: Heatmap, region: Region) -> MapImage:
    """Every drawn cell has whole pixels of one colour; where there are more cells than pixels, cells are
    merged by summing, as on the web map."""
    level = _level(heatmap, region)
    drawn = draw(heatmap, region, finest_level=level)
    key = legend(drawn)
    width, height = size(region, 1 << level)
    rows = mercator_rows(region, 1 << level, height=height)
    columns = np.arange(width) // (width >> level)
    pixels = colours(len(key.breaks), dark=False)[key.classes_of(drawn)[rows][:, columns]]
    ground = Image.new("RGBA", (width, height), GROUND)
    ground.alpha_composite(Image.fromarray(pixels))
    picture = ground.convert("RGB")
    name_places(picture, region)
    return MapImage(image=picture, legend=key, merged=drawn.merged)


def size(region: Region, side: int) -> tuple[int, int]:
    """(width, height) in pixels: the shape that Mercator gives the region, columns equally wide.

    A strip more than `THINNEST` times as long as wide is drawn as if it were that.
    """
    ratio = min(max(mercator_height(region), 1 / THINNEST), THINNEST)
    width = max(1, int(min(LONGEST, LONGEST / ratio)) // side) * side
    return width, max(1, round(width * ratio))


def _level(heatmap: Heatmap, region: Region) -> int:
    """The finest level at which the picture has pixels for every cell."""
    for level in range(min(heatmap.level, FINEST_DRAWN_LEVEL), 0, -1):
        side = 1 << level
        width, height = size(region, side)
        skipped = np.diff(mercator_rows(region, side, height=height)).max(initial=0) > 1
        if max(width, height) <= LONGEST and not skipped:
            return level
    return 0


def name_places(picture: Image.Image, region: Region) -> None:
    """Place names with a halo, the most populous first, none over another."""
    canvas, taken = ImageDraw.Draw(picture), list[Box]()
    for place in places_in(region, most=_NAMED_PLACES):
        x, y = pixel_of(region, picture, lat=place.lat, lon=place.lon)
        name: dict[str, Any] = {"text": place.name, "font": _NAME.font, "anchor": "lm"}
        left, top, right, bottom = canvas.textbbox((x + 3 * _DOT, y), **name, stroke_width=_HALO_WIDTH)
        area = (min(left, x - _DOT), min(top, y - _DOT), right, max(bottom, y + _DOT))
        if _inside(area, picture.size) and not any(_overlap(area, other) for other in taken):
            taken.append(area)
            canvas.circle((x, y), _DOT, fill=INK, outline=_HALO)
            canvas.text((x + 3 * _DOT, y), **name, fill=INK, stroke_width=_HALO_WIDTH, stroke_fill=_HALO)


def pixel_of(region: Region, picture: Image.Image, *, lat: float, lon: float) -> tuple[float, float]:
    """Where a point lies on a picture of the region, from the left and the top."""
    x, y = position(region, lat=lat, lon=lon)
    return x * picture.width, y * picture.height


def _inside(box: Box, picture: tuple[int, int]) -> bool:
    return box[0] >= 0 and box[1] >= 0 and box[2] <= picture[0] and box[3] <= picture[1]


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
