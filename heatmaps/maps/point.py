"""A released point for people: on the map, with the circle it may be off by, and in words."""

import math
from dataclasses import dataclass
from typing import Final

import folium
from django.template.loader import render_to_string
from folium.template import Template

from heatmaps.lengths import length_words
from heatmaps.maps.document import Basemap, rendered
from heatmaps.maps.places import nearest
from mechanisms.grid import Region
from mechanisms.point import Point

LEGEND: Final = ("the released point", "the true mean lies in this circle with probability 95 %")
_EARTH_RADIUS_M: Final = 6_371_008.8
_CORNERS: Final = 72  # of a circle that is drawn as a polygon


@dataclass(frozen=True, slots=True, kw_only=True)
class PointParts:
    """What a template puts together. The three texts are HTML and script of ours without text of people."""

    links: str  # to scripts and styles of our own origin
    body: str
    script: str  # needs what `links` names


@dataclass(frozen=True, slots=True, kw_only=True)
class PointWords:
    where: str  # in words, from public place names; empty far from any
    lat: str
    lon: str
    expected: str
    within: str


def point_document(point: Point, region: Region, *, nonce: str, title: str) -> str:
    """The HTML of a released point. `nonce` is the response's own; `title` is escaped."""
    context = {"map": point_parts(point, region), "nonce": nonce, "title": title, "point_legend": LEGEND}
    return render_to_string("maps/point_document.html", context)


def point_parts(point: Point, region: Region) -> PointParts:
    """A released point as Leaflet shows it, before it becomes a document."""
    return PointParts(**rendered(region, [Basemap(region), Marked(point)]))


class Marked(folium.MacroElement):
    """The point and its circle: `static/hazemap/basemap.js` draws them."""

    _template = Template(
        """
        {% macro script(this, kwargs) %}
            hazemap.point({{ this._parent.get_name() }}, {{ this.content|tojson }});
        {% endmacro %}
        """
    )

    def __init__(self, point: Point) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # branca annotates some methods only
        self._name = "Marked"
        self.content = {
            "lat": point.lat,
            "lon": point.lon,
            "circle": [list(place) for place in circle(point)],
        }


def circle(point: Point) -> list[tuple[float, float]]:
    """(latitude, longitude) of the corners of the 95 % circle, as `circle_around`."""
    return circle_around(point.lat, point.lon, point.within_m)


def circle_around(lat: float, lon: float, radius_m: float) -> list[tuple[float, float]]:
    """(latitude, longitude) of the corners of a circle, closed and counter-clockwise.

    On the tangent plane; cut at the poles and at the antimeridian.
    """
    up = math.degrees(radius_m / _EARTH_RADIUS_M)
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


def point_words(point: Point) -> PointWords:
    return PointWords(
        where=nearest(point.lat, point.lon),
        lat=f"{point.lat:.6f}",
        lon=f"{point.lon:.6f}",
        expected=length_words(point.expected_m),
        within=length_words(point.within_m),
    )
