"""Draws a released point with its error circle, and words it."""

import math
from dataclasses import dataclass
from typing import Final

from heatmaps.maps.document import MapLayer, MapParts, basemap, content_of
from heatmaps.maps.legend import LegendClass
from heatmaps.numbers import degrees, error_length
from heatmaps.places.whereabouts import nearest
from mechanisms.results.point import Point
from mechanisms.space.grid import EARTH_RADIUS_M, Region

LEGEND: Final = ("the released point", "the true mean lies in this circle with probability 95 %")
_CORNERS: Final = 72  # of a circle that is drawn as a polygon


@dataclass(frozen=True, slots=True, kw_only=True)
class PointWords:
    where: str  # in words, from public place names; empty far from any
    lat: str
    lon: str
    expected: str
    within: str


def point_parts(point: Point, region: Region) -> MapParts:
    """Returns a released point as Leaflet shows it, before it becomes a document."""
    meaning = f"within {error_length(point.within_m)} of the true mean, 19 times in 20"
    marks = MapLayer(
        "point", {"lat": point.lat, "lon": point.lon, "circle": circle(point), "meaning": meaning}
    )
    signs = zip(("sign-point", "sign-circle"), LEGEND, strict=True)
    return MapParts(
        **content_of(region, [basemap(region), marks]),
        legend="Central point",
        rows=tuple(LegendClass(key=key, label=label, light="", dark="") for key, label in signs),
    )


def circle(point: Point) -> list[tuple[float, float]]:
    """Returns (latitude, longitude) of the corners of the 95 % circle, as `circle_around`."""
    return circle_around(point.lat, point.lon, point.within_m)


def circle_around(lat: float, lon: float, radius_m: float) -> list[tuple[float, float]]:
    """Returns (latitude, longitude) of the corners of a circle, closed and counter-clockwise.

    On the tangent plane; cut at the poles and at the antimeridian.
    """
    up = math.degrees(radius_m / EARTH_RADIUS_M)
    across = up / max(math.cos(math.radians(lat)), 1e-6)
    turns = [2 * math.pi * corner / _CORNERS for corner in range(_CORNERS)]
    ring = [
        (
            min(max(lat + up * math.sin(turn), -90.0), 90.0),
            min(max(lon + across * math.cos(turn), -180.0), 180.0),
        )
        for turn in turns
    ]
    return [*ring, ring[0]]


def point_words(point: Point, _: Region) -> PointWords:
    return PointWords(
        where=nearest(point.lat, point.lon),
        lat=degrees(point.lat),
        lon=degrees(point.lon),
        expected=error_length(point.expected_m),
        within=error_length(point.within_m),
    )
