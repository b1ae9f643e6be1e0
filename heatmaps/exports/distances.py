"""Released mean distances as a file: a table, points, a picture, a web page."""

from collections.abc import Iterator
from typing import BinaryIO, Final

from heatmaps import maps
from heatmaps.exports import html, png
from heatmaps.exports.answers import write_features, write_table
from heatmaps.exports.lettering import broken, write
from heatmaps.exports.released import Released
from heatmaps.exports.rings import rings_image
from heatmaps.maps.distances import LEGEND, drawn_circles
from heatmaps.wording.distances import distances_words
from mechanisms.places import PlaceDistances

COLUMNS: Final = ("place", "name", "lat", "lon", "distance_m", "standard_error_m")


def write_csv(released: Released, stream: BinaryIO) -> None:
    """A line a place, in the order in which they were given."""
    write_table(COLUMNS, _rows(released.distances), stream)


def write_geojson(released: Released, stream: BinaryIO) -> None:
    """The places, with the columns of the table as their properties, but for where they are."""
    features = []
    for row in _rows(released.distances):
        facts: dict[str, str | float] = dict(zip(COLUMNS, row, strict=True))
        lat, lon = facts.pop("lat"), facts.pop("lon")
        features.append(({"type": "Point", "coordinates": [lon, lat]}, facts))
    write_features(released, features, stream)


def write_html(released: Released, stream: BinaryIO) -> None:
    """The web map with its table and its release sheet."""
    parts = maps.distance_parts(released.distances, released.region)
    context = {"map": parts, "distances": distances_words(released.distances)}
    html.write_page(released, "exports/distances.html", context, script=parts.script, stream=stream)


def write_png(released: Released, stream: BinaryIO) -> None:
    """The region with a circle around each place; the sheet is in the texts."""
    picture = rings_image(released.region, drawn_circles(released.distances), {})
    text = broken(LEGEND, png.HEADING, png.PANEL)
    png.write_page(released, picture, lambda canvas, at: write(canvas, at, text, png.HEADING) + 6, stream)


def _rows(found: PlaceDistances) -> Iterator[tuple[int, str, float, float, float, float]]:
    several = enumerate(zip(found.places, found.distances_m, strict=True), start=1)
    for number, (place, distance_m) in several:
        yield number, place.name, *place.degrees, distance_m, found.standard_error_m
