"""Builds a map's own document: folium's tree, with everything from our own origin.

folium writes scripts and styles inline. Here the tree gives three parts (links, one element, one script),
and our templates put them together: the nonce stands in the template, text of people is escaped by it, and no
HTML is searched or replaced.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import folium
from branca.element import Figure
from django.template.loader import render_to_string
from django.templatetags.static import static
from folium.raster_layers import ImageOverlay
from folium.template import Template

from heatmaps.area_centres import Centre, centres_of
from heatmaps.gazetteer import ATTRIBUTION
from heatmaps.maps import image
from heatmaps.maps.grid import Drawn, draw
from heatmaps.maps.ground import ground_of
from heatmaps.maps.heat import heat_of, why_no_heat
from heatmaps.maps.legend import Legend, LegendClass, legend
from heatmaps.maps.scripts import SCRIPTS
from heatmaps.maps.streets import Streets
from heatmaps.numbers import share
from heatmaps.places import places_in
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import Region

_PLACES_INSIDE: Final = 200  # of the region, by name
_PLACES: Final = 100  # of it and its surroundings
_CENTRES: Final = "a centre, its number and the share of people nearest to it"
_MERGED: Final = (
    "Drawn in squares of {0} × {0} cells, their shares added up; the GeoJSON file has every square that was "
    "released."
)
_NO_STREETS: Final = Streets()
_NAMES_BEYOND: Final = 0.5  # how far beyond the region place names are given, in its own extents
_GROUND_BEYOND: Final = 1.5  # the same of coast and water: what a wide screen shows beside it


def rendered(
    region: Region, layers: Iterable[folium.MacroElement], *, scripts: Sequence[str] = SCRIPTS
) -> dict[str, str]:
    """Links, body and script of a map of the region with these layers, in that order."""
    root, leaflet = Figure(), LocalMap(region, scripts)
    root.add_child(leaflet)
    for layer in layers:
        leaflet.add_child(layer)
    leaflet.add_child(Drawing("fit", image.bounds(region)))
    leaflet.add_child(Drawing("permalink", None))
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
            hazemap.fullScreen({{ this.get_name() }});
        {% endmacro %}
        """
    )

    def __init__(self, region: Region, scripts: Sequence[str]) -> None:
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
        self.default_js = [(Path(script).stem, static(script)) for script in scripts]
        self.default_css = [
            ("leaflet_css", static("leaflet/leaflet.css")),
            ("map_css", static("hazemap/map.css")),
        ]


class Drawing(folium.MacroElement):
    """Calls a function of `static/hazemap/` with the map and what to draw on it, as JSON."""

    _template = Template(
        """
        {% macro script(this, kwargs) %}
            hazemap.{{ this.function }}({{ this._parent.get_name() }}, {{ this.content|tojson }});
        {% endmacro %}
        """
    )

    def __init__(self, function: str, content: object) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # branca annotates some methods only
        self._name = "Drawing"
        self.function, self.content = function, content


def basemap(region: Region) -> Drawing:
    """Ground, graticule, border of the region, place names."""
    near = [
        *places_in(region, most=_PLACES_INSIDE),
        *places_in(_surroundings(region, _NAMES_BEYOND), most=_PLACES),
    ]
    content = {
        "region": list(region),
        "places": [{"name": place.name, "lat": place.lat, "lon": place.lon} for place in dict.fromkeys(near)],
        "attribution": ATTRIBUTION,
        "ground": ground_of(_surroundings(region, _GROUND_BEYOND)),
    }
    return Drawing("basemap", content)


@dataclass(frozen=True, slots=True, kw_only=True)
class MapParts:
    """A drawn result of any kind, for a template. Links, body and script are ours, without text of people."""

    links: str  # to scripts and styles of our own origin
    body: str
    script: str  # needs what `links` names
    legend: str  # its title
    rows: tuple[LegendClass, ...] = ()  # of the legend
    note: str = ""  # under the legend


def document(
    parts: MapParts | Mapping[str, object],
    *,
    nonce: str,
    title: str,
    streets: Streets = _NO_STREETS,
    districts: Sequence[Mapping[str, str]] = (),
) -> str:
    """The HTML of what was released, from its parts or what was kept of them.

    `nonce` is the response's own, whose policy has to allow the host of the streets; texts are escaped.
    districts: files in which a map can be added up, with title, source, licence and address.
    """
    page = {"map": parts, "nonce": nonce, "title": title, "streets": streets, "districts": [*districts]}
    return render_to_string("maps/document.html", page)


def map_parts(heatmap: Heatmap, region: Region) -> MapParts:
    """A released map as Leaflet shows it, before it becomes a document."""
    drawn = draw(heatmap, region)
    key = legend(drawn)
    centres = centres_of(heatmap, region)
    layers = [_overlay(drawn, key, dark=False), _overlay(drawn, key, dark=True), basemap(region)]
    heat = heat_of(heatmap, region)
    marks = [Drawing("heat", heat)] if heat else []
    if centres:
        marks.append(_centre_marks(centres))
    merged = _MERGED.format(drawn.merged) if drawn.merged > 1 else ""
    signs = [LegendClass(key="sign-point", label=_CENTRES, light="", dark="")] if centres else []
    return MapParts(
        **rendered(region, [*layers, *marks]),
        legend=key.title,
        rows=(*key.rows, *signs),
        note=" ".join(filter(None, (merged, why_no_heat(heatmap)))),
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


def _centre_marks(centres: Sequence[Centre]) -> Drawing:
    """Numbered points."""
    marks = [
        {"lat": centre.lat, "lon": centre.lon, "text": f"{rank} · {share(centre.share)}"}
        for rank, centre in enumerate(centres, start=1)
    ]
    return Drawing("centres", marks)


def _surroundings(region: Region, beyond: float) -> Region:
    across, up = beyond * (region.east - region.west), beyond * (region.north - region.south)
    return Region(
        max(region.west - across, -180.0),
        max(region.south - up, -90.0),
        min(region.east + across, 180.0),
        min(region.north + up, 90.0),
    )
