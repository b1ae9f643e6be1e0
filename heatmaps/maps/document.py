"""A released map as a document of its own: folium's tree, with everything from our own origin.

folium writes scripts and styles inline. Here the tree gives three parts (links, one element, one script),
and our templates put them together: the nonce stands in the template, text of people is escaped by it, and no
HTML is searched or replaced.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Final

import folium
from branca.element import Figure
from django.template.loader import render_to_string
from django.templatetags.static import static
from folium.raster_layers import ImageOverlay
from folium.template import Template

from heatmaps.centres import centres_of
from heatmaps.maps import image
from heatmaps.maps.centres import CentreMarks
from heatmaps.maps.grid import Drawn, draw
from heatmaps.maps.legend import Legend, legend
from heatmaps.maps.places import ATTRIBUTION, places_in
from mechanisms.grid import Region
from mechanisms.interface import Heatmap

NAMED_PLACES: Final = 60
_CONTEXT: Final = 0.5  # how far beyond the region place names are given, in its own extents


def rendered(region: Region, layers: Iterable[folium.MacroElement]) -> dict[str, str]:
    """Links, body and script of a map of the region with these layers, in that order."""
    root, leaflet = Figure(), LocalMap(region)
    root.add_child(leaflet)
    for layer in layers:
        leaflet.add_child(layer)
    leaflet.fit_bounds(image.bounds(region), padding=(12, 12))
    leaflet.render()  # type: ignore[no-untyped-call]  # branca annotates some methods only
    return {"links": root.header.render(), "body": root.html.render(), "script": root.script.render()}


class LocalMap(folium.Map):
    """A Leaflet map without tiles whose script and style come from our own static files."""

    _template = Template(
        """
        {% macro html(this, kwargs) %}
            <div class="folium-map" id="{{ this.get_name() }}" role="region"
                aria-label="Map: arrow keys move it, plus and minus zoom"></div>
        {% endmacro %}
        {% macro script(this, kwargs) %}
            var {{ this.get_name() }} = L.map({{ this.get_name()|tojson }}, {
                center: {{ this.location|tojson }},
                crs: L.CRS.{{ this.crs }},
                ...{{ this.options|tojavascript }}
            });
            L.control.zoom({position: "topright"}).addTo({{ this.get_name() }});
            L.control.scale({imperial: false}).addTo({{ this.get_name() }});
        {% endmacro %}
        """
    )

    def __init__(self, region: Region) -> None:
        super().__init__(
            location=((region.south + region.north) / 2, (region.west + region.east) / 2),
            tiles=None,
            min_zoom=1,
            max_zoom=19,
            zoom_snap=0.25,
            zoom_control=False,
            attribution_control=False,
        )
        self._id = "released"  # folium draws random names: the same map would never be the same file
        # Of this map alone: folium's own lists are shared by all maps and name foreign servers.
        self.default_js = [
            ("leaflet", static("leaflet/leaflet.js")),
            ("basemap", static("hazemap/basemap.js")),
        ]
        self.default_css = [
            ("leaflet_css", static("leaflet/leaflet.css")),
            ("map_css", static("hazemap/map.css")),
        ]


class Basemap(folium.MacroElement):
    """Graticule, border of the region, place names: `static/hazemap/basemap.js` draws them."""

    _template = Template(
        """
        {% macro script(this, kwargs) %}
            hazemap.basemap({{ this._parent.get_name() }}, {{ this.content|tojson }});
        {% endmacro %}
        """
    )

    def __init__(self, region: Region) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # branca annotates some methods only
        self._name = "Basemap"
        self.content = {
            "region": list(region),
            "places": [asdict(place) for place in places_in(_surroundings(region), most=NAMED_PLACES)],
            "attribution": ATTRIBUTION,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MapParts:
    """What a template puts together. The three texts are HTML and script of ours without text of people."""

    links: str  # to scripts and styles of our own origin
    body: str
    script: str  # needs what `links` names
    legend: Legend
    merged: int  # cells of the release a side in one drawn cell
    centres: int  # marked, of a map of areas


def document(heatmap: Heatmap, region: Region, *, nonce: str, title: str) -> str:
    """The HTML of a released map. `nonce` is the response's own; `title` is escaped."""
    found = map_parts(heatmap, region)
    return render_to_string("maps/document.html", {"map": found, "nonce": nonce, "title": title})


def map_parts(heatmap: Heatmap, region: Region) -> MapParts:
    """A released map as Leaflet shows it, before it becomes a document."""
    drawn = draw(heatmap, region)
    key = legend(drawn)
    centres = centres_of(heatmap, region)
    layers = [_overlay(drawn, key, dark=False), _overlay(drawn, key, dark=True), Basemap(region)]
    marks = [CentreMarks(centres)] if centres else []
    return MapParts(
        **rendered(region, [*layers, *marks]),
        legend=key,
        merged=drawn.merged,
        centres=len(centres),
    )


def _overlay(drawn: Drawn, key: Legend, *, dark: bool) -> ImageOverlay:
    """The cells as one image; the style sheet shows the one for the ground at hand, with sharp pixels."""
    ground = "dark" if dark else "light"
    overlay = ImageOverlay(
        image.pixels(key.classes_of(drawn), drawn.region, count=len(key.breaks), dark=dark),
        bounds=image.bounds(drawn.region),
        pixelated=False,  # folium would write an inline style; `.cells` in map.css does it
        class_name=f"cells for-{ground}",
        interactive=False,
    )
    overlay._id = ground
    return overlay


def _surroundings(region: Region) -> Region:
    across, up = _CONTEXT * (region.east - region.west), _CONTEXT * (region.north - region.south)
    return Region(
        max(region.west - across, -180.0),
        max(region.south - up, -90.0),
        min(region.east + across, 180.0),
        min(region.north + up, 90.0),
    )
