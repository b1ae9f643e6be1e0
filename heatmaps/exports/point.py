"""Writes a released point as a file: a table, a feature with its circle, a picture."""

from typing import BinaryIO, Final

from heatmaps.exports.answers import Properties, write_features, write_table
from heatmaps.exports.column import Column
from heatmaps.exports.content import Released
from heatmaps.exports.scene import Scene
from heatmaps.exports.sketch import Sketch
from heatmaps.maps.point import LEGEND, circle
from mechanisms.results.point import Point

COLUMNS: Final = ("lat", "lon", "expected_m", "within_m")

_DOT: Final = 7  # pixels


def write_csv(released: Released, stream: BinaryIO) -> None:
    """Writes one line: degrees and metres to the last bit."""
    point = released.of(Point)
    write_table(COLUMNS, [[getattr(point, column) for column in COLUMNS]], stream)


def write_geojson(released: Released, stream: BinaryIO) -> None:
    """Writes the point, and the circle that holds the truth with probability 95 %, a polygon."""
    point = released.of(Point)
    facts = {"expected_m": point.expected_m, "within_m": point.within_m}
    place: Properties = {"type": "Point", "coordinates": [point.lon, point.lat]}
    ring: Properties = {"type": "Polygon", "coordinates": [[[lon, lat] for lat, lon in circle(point)]]}
    features = [(place, {"role": "point", **facts}), (ring, {"role": "circle", "probability": 0.95})]
    write_features(released, features, stream)


def sketch_point(scene: Scene, released: Released) -> Sketch:
    """Draws the point and its circle."""
    point, mark = released.of(Point), scene.look.mark
    ring = [scene.pixel_of(lat=lat, lon=lon) for lat, lon in circle(point)]
    scene.canvas.line(ring, fill=mark, width=3, joint="curve")
    x, y = scene.pixel_of(lat=point.lat, lon=point.lon)
    scene.canvas.circle((x, y), _DOT, fill=mark, outline=scene.look.halo, width=2)
    return Sketch(key=_key, occupied=[(x - _DOT, y - _DOT, x + _DOT, y + _DOT)])


def _key(column: Column) -> None:
    mark = column.look.mark
    column.canvas.circle((column.left + 17, column.top + 13), _DOT, fill=mark)
    column.beside(LEGEND[0], 48)
    column.canvas.circle((column.left + 17, column.top + 13), 11, outline=mark, width=3)
    column.beside(LEGEND[1], 48)
