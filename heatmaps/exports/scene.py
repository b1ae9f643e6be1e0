"""Holds a picture of a part of the earth while it is drawn: its ground, places and lengths on it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from PIL import Image, ImageDraw

from heatmaps.exports.lettering import Style
from heatmaps.maps import ground
from heatmaps.maps.ground.picture import ground_picture
from heatmaps.maps.image import MERCATOR_LIMIT, mercator, mercator_height, position
from heatmaps.maps.looks import LIGHT, Look
from heatmaps.places import gazetteer, whereabouts
from mechanisms.space.grid import EARTH_RADIUS_M, Region

Box = tuple[float, float, float, float]  # left, top, right, bottom, in pixels

_NAMED_PLACES: Final = 12  # each hides what is under it, and a picture has no button to take names away
_NAME_SIZE: Final = 16  # pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Draws a picture of the view, north up, as it is on a Mercator map; its shape is that of the view."""

    image: Image.Image
    view: Region
    look: Look

    @classmethod
    def of(cls, view: Region, size: tuple[int, int], look: Look = LIGHT) -> "Scene":
        """Draws the ground of the view, in pixels."""
        return cls(image=ground_picture(view, size, look), view=view, look=look)

    @property
    def canvas(self) -> ImageDraw.ImageDraw:
        return ImageDraw.Draw(self.image)

    @property
    def metres_per_pixel(self) -> float:
        """Returns metres a pixel on the middle parallel of the view."""
        middle = math.radians((self.view.south + self.view.north) / 2)
        across = math.radians(self.view.east - self.view.west)
        return EARTH_RADIUS_M * math.cos(middle) * across / self.image.width

    @property
    def credit(self) -> str:
        """Says whose ground and names it shows."""
        return " · ".join(filter(None, (ground.attribution(), gazetteer.attribution())))

    def give_credit(self, *, size: int) -> Box:
        """Writes a short credit into the lower right corner; returns the box it takes."""
        owners = ["© OpenStreetMap contributors, Natural Earth"] if ground.attribution() else []
        owners += ["GeoNames"] if gazetteer.attribution() else []
        credit = ", ".join(owners)
        at = (self.image.width - 4, self.image.height - 3)
        style = Style(size=size, colour=self.look.soft)
        text: dict[str, Any] = {"xy": at, "text": credit, "font": style.font, "anchor": "rd"}
        self.canvas.text(**text, fill=style.colour, stroke_width=2, stroke_fill=self.look.halo)
        return self.canvas.textbbox(**text)

    def pixel_of(self, *, lat: float, lon: float) -> tuple[float, float]:
        """Returns a point's pixel, from the left and the top."""
        x, y = position(self.view, lat=lat, lon=lon)
        return x * self.image.width, y * self.image.height

    def box_of(self, region: Region) -> tuple[int, int, int, int]:
        """Returns the whole pixels of a region, at least one each way."""
        left, top = map(round, self.pixel_of(lat=region.north, lon=region.west))
        right, bottom = map(round, self.pixel_of(lat=region.south, lon=region.east))
        return left, top, max(right, left + 1), max(bottom, top + 1)

    def name_places(
        self, *, most: int = _NAMED_PLACES, size: int = _NAME_SIZE, around: Iterable[Box] = ()
    ) -> None:
        """Writes place names with a halo, the most populous first, none over another or over these boxes."""
        canvas, occupied, style = self.canvas, [*around], Style(size=size, colour=self.look.ink)
        dot, halo = max(round(size / 6), 2), max(round(size / 6), 2)
        for place in whereabouts.places_in(self.view, most=most):
            x, y = self.pixel_of(lat=place.lat, lon=place.lon)
            name: dict[str, Any] = {"text": place.name, "font": style.font, "anchor": "lm"}
            left, top, right, bottom = canvas.textbbox((x + 3 * dot, y), **name, stroke_width=halo)
            area = (min(left, x - dot), min(top, y - dot), right, max(bottom, y + dot))
            if _inside(area, self.image.size) and not any(overlap(area, other) for other in occupied):
                occupied.append(area)
                canvas.circle((x, y), dot, fill=self.look.ink, outline=self.look.halo)
                name |= {"fill": self.look.ink, "stroke_width": halo, "stroke_fill": self.look.halo}
                canvas.text((x + 3 * dot, y), **name)


def view_of(region: Region, size: tuple[int, int], *, around: float) -> Region:
    """Returns the part of the region and its surroundings that a picture of that size shows.

    That is at least `around` of its extent on each side; less where the earth ends.
    """
    south, north = (mercator(latitude) for latitude in (region.south, region.north))
    west, east = math.radians(region.west), math.radians(region.east)
    height = (1 + 2 * around) * max(north - south, (east - west) * size[1] / size[0])
    left, right = _placed((west + east) / 2, height * size[0] / size[1], math.pi)
    bottom, upper = _placed((south + north) / 2, height, mercator(MERCATOR_LIMIT))
    low, high = (math.degrees(math.atan(math.sinh(edge))) for edge in (bottom, upper))
    return Region(max(math.degrees(left), -180.0), low, min(math.degrees(right), 180.0), high)


def fitted(view: Region, size: tuple[int, int]) -> tuple[int, int]:
    """Returns (width, height) in pixels of the largest picture of the view within a size."""
    shape = mercator_height(view)
    width, height = min(float(size[0]), size[1] / shape), min(float(size[1]), size[0] * shape)
    return max(round(width), 1), max(round(height), 1)


def _placed(middle: float, extent: float, limit: float) -> tuple[float, float]:
    """Returns an interval around a middle, moved where it would pass the limit on one side."""
    half = min(extent / 2, limit)
    middle = min(max(middle, half - limit), limit - half)
    return middle - half, middle + half


def _inside(box: Box, picture: tuple[int, int]) -> bool:
    return box[0] >= 0 and box[1] >= 0 and box[2] <= picture[0] and box[3] <= picture[1]


def overlap(box: Box, other: Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
