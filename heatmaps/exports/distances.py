"""Writes released mean distances as a file: a table, points, a picture."""

from collections.abc import Iterator
from typing import BinaryIO, Final

from heatmaps.exports.answers import write_features, write_table
from heatmaps.exports.content import Released
from heatmaps.exports.rings import draw_rings
from heatmaps.exports.scene import Scene
from heatmaps.exports.sketch import Sketch
from heatmaps.maps.distances import LEGEND, drawn_circles
from mechanisms.results.distances import PlaceDistances

COLUMNS: Final = ("place", "name", "lat", "lon", "distance_m", "standard_error_m")


def write_csv(released: Released, stream: BinaryIO) -> None:
    """Writes a line a place, in the order in which they were given."""
    write_table(COLUMNS, _rows(released.of(PlaceDistances)), stream)


def write_geojson(released: Released, stream: BinaryIO) -> None:
    """Writes the places, with the columns of the table as their properties, but for where they are."""
    features = []
    for row in _rows(released.of(PlaceDistances)):
        facts: dict[str, str | float] = dict(zip(COLUMNS, row, strict=True))
        lat, lon = facts.pop("lat"), facts.pop("lon")
        features.append(({"type": "Point", "coordinates": [lon, lat]}, facts))
    write_features(released, features, stream)


def sketch_distances(scene: Scene, released: Released) -> Sketch:
    """Draws a circle around each place."""
    signs = draw_rings(scene, drawn_circles(released.of(PlaceDistances)), {})
    return Sketch(key=lambda column: column.classes(LEGEND), occupied=signs)


def _rows(result: PlaceDistances) -> Iterator[tuple[int, str, float, float, float, float]]:
    numbered_places = enumerate(zip(result.places, result.distances_m, strict=True), start=1)
    for number, (place, distance_m) in numbered_places:
        yield number, place.name, *place.degrees, distance_m, result.standard_error_m
