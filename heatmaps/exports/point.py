"""A released point as a file: a table of one row, a feature with its circle, a picture, a web page."""

from typing import BinaryIO, Final

from PIL import Image, ImageDraw

from heatmaps import maps
from heatmaps.exports import html, png
from heatmaps.exports.answers import Properties, write_features, write_table
from heatmaps.exports.lettering import broken, write
from heatmaps.exports.map_image import GROUND, name_places, pixel_of, size
from heatmaps.exports.released import Released
from heatmaps.maps.point import LEGEND, circle, point_words
from mechanisms.grid import Region
from mechanisms.point import Point

COLUMNS: Final = ("lat", "lon", "expected_m", "within_m")

_POINT: Final = "#a3123a"
_DOT: Final = 7  # pixels
_LEVEL: Final = 1024  # pixels along the width, as of a map with so many cells


def write_csv(released: Released, stream: BinaryIO) -> None:
    """One line: degrees and metres to the last bit."""
    write_table(COLUMNS, [[getattr(released.point, column) for column in COLUMNS]], stream)


def write_geojson(released: Released, stream: BinaryIO) -> None:
    """The point, and the circle that holds the truth with probability 95 %, a polygon."""
    point = released.point
    facts = {"expected_m": point.expected_m, "within_m": point.within_m}
    place: Properties = {"type": "Point", "coordinates": [point.lon, point.lat]}
    ring: Properties = {"type": "Polygon", "coordinates": [[[lon, lat] for lat, lon in circle(point)]]}
    features = [(place, {"role": "point", **facts}), (ring, {"role": "circle", "probability": 0.95})]
    write_features(released, features, stream)


def write_html(released: Released, stream: BinaryIO) -> None:
    """The web map with the point as text and its release sheet."""
    found = maps.point_parts(released.point, released.region)
    context = {"map": found, "point": point_words(released.point), "point_legend": LEGEND}
    html.write_page(released, "exports/point.html", context, script=found.script, stream=stream)


def write_png(released: Released, stream: BinaryIO) -> None:
    """The region on light ground, north up, with the point and its circle; the sheet is in the texts."""
    picture = Image.new("RGB", size(released.region, _LEVEL), GROUND)
    name_places(picture, released.region)
    _draw(picture, released.point, released.region)
    png.write_page(released, picture, _key, stream)


def _draw(picture: Image.Image, point: Point, region: Region) -> None:
    canvas = ImageDraw.Draw(picture)
    ring = [pixel_of(region, picture, lat=lat, lon=lon) for lat, lon in circle(point)]
    canvas.line(ring, fill=_POINT, width=3, joint="curve")
    middle = pixel_of(region, picture, lat=point.lat, lon=point.lon)
    canvas.circle(middle, _DOT, fill=_POINT, outline="white", width=2)


def _key(canvas: ImageDraw.ImageDraw, at: tuple[int, int]) -> int:
    left, top = at
    canvas.circle((left + 17, top + 13), _DOT, fill=_POINT)
    top = write(canvas, (left + 48, top), broken(LEGEND[0], png.TEXT, png.PANEL - 48), png.TEXT) + 6
    canvas.circle((left + 17, top + 13), 11, outline=_POINT, width=3)
    return write(canvas, (left + 48, top), broken(LEGEND[1], png.TEXT, png.PANEL - 48), png.TEXT) + 6
