"""Draws land, water and borders as a picture, in the projection of web maps."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from PIL import Image, ImageDraw
from rasterio.enums import MergeAlg
from rasterio.features import rasterize

from heatmaps.maps import image
from heatmaps.maps.ground import ground_of
from heatmaps.maps.looks import LIGHT, Look
from mechanisms.space.grid import Region

_FEWEST_POINTS: Final = 4
_FINER: Final = 2  # outlines are drawn so many times as fine and then averaged
_LINE: Final = 2  # pixels of that
_LINE_OPACITY: Final = 0.45

Points = list[tuple[float, float]]


def ground_picture(region: Region, size: tuple[int, int], look: Look = LIGHT) -> Image.Image:
    """Draws land, water and borders of the region, north up; land alone where the ground is not installed."""
    picture = Image.new("RGB", size, look.land)
    ground: Any = ground_of(region)
    fine = (size[0] * _FINER, size[1] * _FINER)
    for kind in ("sea", "lakes"):
        rings = [ring for ring in _pixels(ground, kind, region, fine) if len(ring) >= _FEWEST_POINTS]
        if rings:
            picture.paste(look.water, mask=_inside(rings, fine).resize(size, Image.Resampling.BOX))
    lines = Image.new("L", fine)
    canvas = ImageDraw.Draw(lines)
    for line in _pixels(ground, "borders", region, fine):
        canvas.line(line, fill=round(255 * _LINE_OPACITY), width=_LINE)
    picture.paste(look.soft, mask=lines.resize(size, Image.Resampling.BOX))
    return picture


def _inside(rings: list[Points], size: tuple[int, int]) -> Image.Image:
    """Fills rings by the even-odd rule: white is what an odd number of rings is around."""
    shapes = [({"type": "Polygon", "coordinates": [ring]}, 1) for ring in rings]
    counts = rasterize(shapes, out_shape=size[::-1], dtype="uint8", merge_alg=MergeAlg.add)
    return Image.fromarray((counts % 2 * 255).astype(np.uint8))


def _pixels(ground: Any, kind: str, region: Region, size: tuple[int, int]) -> Iterator[Points]:
    """Outlines from the left and the top."""
    for steps in ground.get(kind, []):
        lattice = np.cumsum(np.array(steps).reshape(-1, 2), axis=0)
        lon, lat = (lattice * ground["unit"] + ground["origin"]).T
        x, y = image.positions(region, lat=lat, lon=lon)
        yield list(zip((x * size[0]).tolist(), (y * size[1]).tolist(), strict=True))
