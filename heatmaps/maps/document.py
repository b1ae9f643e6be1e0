"""Builds a map's own document: folium's frame, with everything from our own origin.

folium writes scripts and styles inline. Here it gives links and one element; what is drawn there is data
(JSON), which a script of ours reads from the page (`static/hazemap/map_drawing.js`). Parts of a map are kept
as files: no text of theirs is ever run, and our templates escape every one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Final, Self, TypedDict

import folium
from branca.element import Figure
from django.template.loader import render_to_string
from django.templatetags.static import static
from folium.template import Template
from folium.utilities import image_to_url

from heatmaps.maps import image
from heatmaps.maps.grid import DrawnGrid, draw
from heatmaps.maps.ground import ground_of
from heatmaps.maps.heat import heat_of, why_no_heat
from heatmaps.maps.legend import Legend, LegendClass, legend
from heatmaps.maps.scripts import LEAFLET
from heatmaps.maps.streets import Streets
from heatmaps.numbers import share
from heatmaps.places import gazetteer
from heatmaps.places.area_centres import Centre, centres_of
from heatmaps.places.whereabouts import places_in
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


@dataclass(frozen=True, slots=True)
class MapLayer:
    """Holds what a function of `static/hazemap/` draws on the map, as JSON."""

    function: str  # one that `released_map.js` or `compared_maps.js` knows
    content: object


class _MapContent(TypedDict):
    centre: tuple[float, float]
    drawings: tuple[MapLayer, ...]


def content_of(region: Region, layers: Iterable[MapLayer]) -> _MapContent:
    """Holds what is on a map of the region with these layers, in the order of its drawing."""
    around = (MapLayer("fit", image.bounds(region)), MapLayer("permalink", None))
    centre = ((region.south + region.north) / 2, (region.west + region.east) / 2)
    return {"centre": centre, "drawings": (*layers, *around)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Holds what a template needs around the drawings of a map, as HTML; it depends on no map."""

    links: str  # to scripts and styles of our own origin
    body: str


@cache
def frame() -> Frame:
    root, leaflet = Figure(), _LocalMap()
    root.add_child(leaflet)
    leaflet.render()  # type: ignore[no-untyped-call]  # branca annotates some methods only
    return Frame(links=root.header.render(), body=root.html.render())


class _LocalMap(folium.Map):
    """Draws a Leaflet map without tiles whose script and style come from our own static files."""

    _template = Template(
        """
        {% macro html(this, kwargs) %}
            <div class="folium-map" id="{{ this.get_name() }}" role="region"
                aria-label="Map: arrow keys move it, plus and minus zoom"></div>
        {% endmacro %}
        """
    )

    def __init__(self) -> None:
        super().__init__(tiles=None)
        self._id = "released"  # folium draws random names
        # Of this map alone: folium's own lists are shared by all maps and name foreign servers.
        self.default_js = [("leaflet", static(LEAFLET))]
        self.default_css = [
            ("leaflet_css", static("leaflet/leaflet.css")),
            ("map_css", static("hazemap/map.css")),
        ]


def basemap(region: Region) -> MapLayer:
    """Returns ground, graticule, border of the region, place names."""
    near = [
        *places_in(region, most=_PLACES_INSIDE),
        *places_in(_surroundings(region, _NAMES_BEYOND), most=_PLACES),
    ]
    content = {
        "region": list(region),
        "places": [{"name": place.name, "lat": place.lat, "lon": place.lon} for place in dict.fromkeys(near)],
        "attribution": gazetteer.attribution() or gazetteer.MISSING,
        "ground": ground_of(_surroundings(region, _GROUND_BEYOND)),
    }
    return MapLayer("basemap", content)


@dataclass(frozen=True, slots=True, kw_only=True)
class MapParts:
    """Holds a drawn result of any kind, for a template, which escapes every text of it."""

    centre: tuple[float, float]  # latitude and longitude, where the map begins
    drawings: tuple[MapLayer, ...]
    legend: str  # its title
    rows: tuple[LegendClass, ...] = ()  # of the legend
    note: str = ""  # under the legend

    @classmethod
    def from_json(cls, parts: Mapping[str, Any]) -> Self:
        """Returns parts stored as JSON. Errors: KeyError, TypeError, ValueError for another form."""
        lat, lon = map(float, parts["centre"])
        return cls(
            centre=(lat, lon),
            drawings=tuple(MapLayer(**drawing) for drawing in parts["drawings"]),
            legend=str(parts["legend"]),
            rows=tuple(LegendClass(**row) for row in parts["rows"]),
            note=str(parts["note"]),
        )

    @property
    def data(self) -> dict[str, object]:
        """Returns the data for `map_drawing.js`, as `json_script` takes it."""
        return {"centre": self.centre, "drawings": [asdict(drawing) for drawing in self.drawings]}


def document(
    parts: MapParts,
    *,
    nonce: str,
    title: str,
    streets: Streets = _NO_STREETS,
    districts: Sequence[Mapping[str, str]] = (),
) -> str:
    """Returns the HTML of what was released, from its parts.

    `nonce` is the response's own, whose policy has to allow the host of the streets; texts are escaped.
    districts: files in which a map can be added up, with title, source, licence and address.
    """
    page = {
        "map": parts,
        "frame": frame(),
        "nonce": nonce,
        "title": title,
        "streets": streets,
        "districts": [*districts],
    }
    return render_to_string("maps/document.html", page)


def map_parts(heatmap: Heatmap, region: Region) -> MapParts:
    """Returns a released map as Leaflet shows it, before it becomes a document."""
    cells = draw(heatmap, region)
    key = legend(cells)
    centres = centres_of(heatmap, region)
    layers = [_overlay(cells, key, dark=False), _overlay(cells, key, dark=True), basemap(region)]
    heat = heat_of(heatmap, region)
    marks = [MapLayer("heat", heat)] if heat else []
    if centres:
        marks.append(_centre_marks(centres))
    merged = _MERGED.format(cells.merged) if cells.merged > 1 else ""
    signs = [LegendClass(key="sign-point", label=_CENTRES, light="", dark="")] if centres else []
    return MapParts(
        **content_of(region, [*layers, *marks]),
        legend=key.title,
        rows=(*key.rows, *signs),
        note=" ".join(filter(None, (merged, why_no_heat(heatmap)))),
    )


def _overlay(cells: DrawnGrid, key: Legend, *, dark: bool) -> MapLayer:
    """Returns the cells as one image; the style sheet shows the one for the ground at hand, with sharp
    pixels."""
    pixels = image.pixels(key.classes_of(cells), cells.region, count=len(key.breaks), dark=dark)
    png = image_to_url(pixels).removeprefix("data:image/png;base64,")
    content = {"png": png, "bounds": image.bounds(cells.region), "isDark": dark}
    return MapLayer("cells", content)


def _centre_marks(centres: Sequence[Centre]) -> MapLayer:
    """Returns numbered points."""
    marks = [
        {"lat": centre.lat, "lon": centre.lon, "text": f"{rank} · {share(centre.share)}"}
        for rank, centre in enumerate(centres, start=1)
    ]
    return MapLayer("centres", marks)


def _surroundings(region: Region, beyond: float) -> Region:
    across, up = beyond * (region.east - region.west), beyond * (region.north - region.south)
    return Region(
        max(region.west - across, -180.0),
        max(region.south - up, -90.0),
        min(region.east + across, 180.0),
        min(region.north + up, 90.0),
    )
