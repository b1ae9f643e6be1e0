"""Released mean distances as a file: a table, points, a picture, a web page."""

import csv
import io
import json
from typing import BinaryIO, Final

from heatmaps import maps
from heatmaps.exports import html, png
from heatmaps.exports.lettering import broken, write
from heatmaps.exports.released import Released
from heatmaps.exports.zones import cell_text, drawn
from heatmaps.maps.distances import LEGEND, drawn_circles
from heatmaps.wording.distances import distances_words

COLUMNS: Final = ("place", "name", "lat", "lon", "distance_m", "standard_error_m")


def write_csv(released: Released, stream: BinaryIO) -> None:
    """A line a place, in the order in which they were given. Names are quoted as RFC 4180 says."""
    found, text = released.distances, io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(COLUMNS)
    for number, (place, distance_m) in enumerate(zip(found.places, found.distances_m, strict=True), start=1):
        numbers = (*place.degrees, distance_m, found.standard_error_m)
        table.writerow((number, cell_text(place.name), *map(repr, numbers)))
    stream.write(text.getvalue().encode())


def write_geojson(released: Released, stream: BinaryIO) -> None:
    """A FeatureCollection (RFC 7946) of the places with their distances, and the `release_sheet`."""
    found = released.distances
    collection = {
        "type": "FeatureCollection",
        "bbox": list(released.region),
        "release_sheet": released.sheet,
        "features": [
            {
                "type": "Feature",
                "geometry": {"type": "Point", "coordinates": list(reversed(place.degrees))},
                "properties": {
                    "place": number,
                    "name": place.name,
                    "distance_m": distance_m,
                    "standard_error_m": found.standard_error_m,
                },
            }
            for number, (place, distance_m) in enumerate(
                zip(found.places, found.distances_m, strict=True), start=1
            )
        ],
    }
    stream.write(json.dumps(collection, ensure_ascii=False, indent=1).encode() + b"\n")


def write_html(released: Released, stream: BinaryIO) -> None:
    """The web map with its table and its release sheet."""
    parts = maps.distance_parts(released.distances, released.region)
    context = {"map": parts, "distances": distances_words(released.distances), "legend_text": LEGEND}
    html.write_page(released, "exports/distances.html", context, script=parts.script, stream=stream)


def write_png(released: Released, stream: BinaryIO) -> None:
    """The region on light ground, north up, with a circle around each place; the sheet is in the texts."""
    picture = drawn(released.region, drawn_circles(released.distances), {})
    text = broken(LEGEND, png.HEADING, png.PANEL)
    png.write_page(released, picture, lambda canvas, at: write(canvas, at, text, png.HEADING) + 6, stream)
