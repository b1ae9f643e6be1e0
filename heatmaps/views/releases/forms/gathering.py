"""Gathers zones and places of a form: typed as GeoJSON, chosen as a file, or one by one in boxes."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django import forms

from heatmaps.data_slice import EDGES
from heatmaps.numbers import count
from heatmaps.views.fields import degrees_field
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.results.distances import NamedPlace, Places
from mechanisms.results.zones import Zone, Zones
from mechanisms.space.geojson import LONGEST_TEXT, PER_DEGREE, check_name

Typed = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathering:
    """Describes how zones or places come into a form."""

    noun: str  # of them, in a word
    collection: Any  # `Zones` or `Places`
    geometry: Callable[[Any], Mapping[str, Any]]  # of one thing, as GeoJSON has it
    template: str  # of the boxes for one thing more
    boxes: Callable[[], dict[str, forms.Field]]
    boxed: Callable[[Typed, int], list[Any]]  # one thing or none; errors: `ParameterError` naming a box
    nothing_yet: str

    def text(self, items: list[Any]) -> str:
        """Writes GeoJSON in degrees, a line each; what is read from it is the same to the last digit."""
        features = [
            {"type": "Feature", "properties": {"name": item.name}, "geometry": self.geometry(item)}
            for item in items
        ]
        lines = ",\n".join(json.dumps(feature, ensure_ascii=False) for feature in features)
        return f'{{"type": "FeatureCollection", "features": [\n{lines}\n]}}'

    def read(self, text: str) -> list[Any]:
        """Reads GeoJSON. Errors: `ParameterError`."""
        return list(self.collection.parse(text)) if text.strip() else []

    def read_file(self, file: Any) -> list[Any]:
        """Reads a file of GeoJSON. Errors: `ParameterError` naming `file`."""
        if file is None:
            return []
        if (file.size or 0) > LONGEST_TEXT:
            raise ParameterError("file", "a longer file", f"up to {count(LONGEST_TEXT)} bytes")
        try:
            return list(self.collection.parse(file.read().decode("utf-8-sig")))
        except (UnicodeDecodeError, ParameterError) as error:
            allowed = error.allowed if isinstance(error, ParameterError) else "GeoJSON in UTF-8"
            raise ParameterError("file", "this file", allowed) from None


def geojson_box(*, help_text: str, **words: Any) -> forms.CharField:
    """Makes a text that holds everything that was gathered."""
    widget = forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off"})
    help_text = f"{help_text} Added ones stand here."
    return forms.CharField(max_length=LONGEST_TEXT, widget=widget, help_text=help_text, **words)


def file_box() -> forms.FileField:
    return forms.FileField(
        label="A GeoJSON file", required=False, help_text="What is in it is added to those below."
    )


def _name_box(label: str) -> forms.CharField:
    return forms.CharField(label=label, required=False, widget=forms.TextInput(attrs={"autocomplete": "off"}))


def _rectangle(typed: Typed, number: int) -> list[Zone]:
    if not any(typed.get(edge) for edge in EDGES):
        return []
    west, south, east, north = (_parts(typed, edge, (180, 90)[at % 2]) for at, edge in enumerate(EDGES))
    if west >= east or south >= north:
        raise ParameterError("east" if west >= east else "north", "this", "more than its other side")
    corners = ((west, south), (east, south), (east, north), (west, north))
    return [Zone(name=_name(typed, "zone_name", f"Zone {number}"), corners=corners)]


def _point(typed: Typed, number: int) -> list[NamedPlace]:
    if not (typed.get("latitude") or typed.get("longitude")):
        return []
    at = _parts(typed, "longitude", 180), _parts(typed, "latitude", 90)
    return [NamedPlace(name=_name(typed, "place_name", f"Place {number}"), at=at)]


def _name(typed: Typed, box: str, usual: str) -> str:
    name: str = typed.get(box) or usual
    check_name(box, name)
    return name


def _parts(typed: Typed, box: str, most: int) -> int:
    """Reads degrees of a box, in the parts that are stored."""
    return round(exact_decimal(box, typed.get(box) or "nothing", low=-most, high=most) * PER_DEGREE)


# By the kind of the parameter that takes them.
GATHERINGS: Final[Mapping[str, Gathering]] = {
    "zones": Gathering(
        noun="zone",
        collection=Zones,
        geometry=lambda zone: {"type": "Polygon", "coordinates": [zone.degrees]},
        template="releases/zone_boxes.html",
        boxes=lambda: {
            **{edge: degrees_field() for edge in EDGES},
            "zone_name": _name_box("Name of the rectangle"),
        },
        boxed=_rectangle,
        nothing_yet="Draw a rectangle, choose a file, or paste GeoJSON: no zone is given yet.",
    ),
    "places": Gathering(
        noun="place",
        collection=Places,
        geometry=lambda place: {"type": "Point", "coordinates": place.degrees[::-1]},
        template="releases/place_boxes.html",
        boxes=lambda: {
            "latitude": degrees_field(),
            "longitude": degrees_field(),
            "place_name": _name_box("Name of the place"),
        },
        boxed=_point,
        nothing_yet="Type latitude and longitude, choose a file, or paste GeoJSON: no place is given yet.",
    ),
}
