"""Rings on a map, zones or circles around places, each with a sign in its middle."""

from dataclasses import dataclass

import folium
from django.template.loader import render_to_string
from folium.template import Template

from heatmaps.maps.document import Basemap, rendered
from heatmaps.maps.legend import LegendClass
from mechanisms.grid import Region


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnRing:
    """(latitude, longitude) of the corners, closed, the class it is drawn in, and its sign."""

    corners: list[tuple[float, float]]
    key: str
    text: str  # a number and what was released; names are in the table
    middle: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class RingParts:
    """What a template puts together. The three texts are HTML and script of ours without text of people."""

    links: str
    body: str
    script: str
    legend: str  # what the rings are
    rows: tuple[LegendClass, ...]  # of the legend


def rings_document(parts: RingParts, *, nonce: str, title: str) -> str:
    """The HTML of released rings. `nonce` is the response's own; `title` is escaped."""
    return render_to_string("maps/rings_document.html", {"map": parts, "nonce": nonce, "title": title})


def parts_of(
    rings: tuple[DrawnRing, ...], region: Region, *, legend: str, rows: tuple[LegendClass, ...] = ()
) -> RingParts:
    """Rings with their signs, in that order, as Leaflet shows them."""
    return RingParts(**rendered(region, [Basemap(region), MarkedRings(rings)]), legend=legend, rows=rows)


class MarkedRings(folium.MacroElement):
    """The rings: `static/hazemap/basemap.js` draws them."""

    _template = Template(
        """
        {% macro script(this, kwargs) %}
            hazemap.rings({{ this._parent.get_name() }}, {{ this.content|tojson }});
        {% endmacro %}
        """
    )

    def __init__(self, rings: tuple[DrawnRing, ...]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # branca annotates some methods only
        self._name = "MarkedRings"
        self.content = [
            {"ring": ring.corners, "key": ring.key, "text": ring.text, "middle": ring.middle}
            for ring in rings
        ]
