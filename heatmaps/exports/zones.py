"""Released shares in zones as a file: a table, polygons, a picture, a web page."""

from collections.abc import Iterator
from itertools import pairwise
from typing import BinaryIO, Final

from django.template.loader import render_to_string
from PIL import ImageDraw

from heatmaps import maps
from heatmaps.exports import html, png
from heatmaps.exports.answers import write_features, write_table
from heatmaps.exports.lettering import broken, write
from heatmaps.exports.map_image import INK
from heatmaps.exports.released import Released
from heatmaps.exports.rings import rings_image
from heatmaps.maps.legend import LegendClass
from heatmaps.maps.zones import LEGEND, drawn_zones, zone_classes
from heatmaps.wording.zones import shares_words
from mechanisms.zones import ZoneShares

COLUMNS: Final = ("zone", "name", "share", "standard_error")

_SWATCH: Final = (34, 20)


def write_csv(released: Released, stream: BinaryIO) -> None:
    """A line a zone, in the order in which they were given."""
    write_table(COLUMNS, _rows(released.shares), stream)


def write_geojson(released: Released, stream: BinaryIO) -> None:
    """The zones, with the columns of the table as their properties."""
    features = (
        ({"type": "Polygon", "coordinates": [_wound(zone.degrees)]}, dict(zip(COLUMNS, row, strict=True)))
        for zone, row in zip(released.shares.zones, _rows(released.shares), strict=True)
    )
    write_features(released, features, stream)


def write_html(released: Released, stream: BinaryIO) -> None:
    """The web map with its table and its release sheet."""
    found = maps.zone_parts(released.shares, released.region)
    context = {"map": found, "shares": shares_words(released.shares)}
    colours = render_to_string("maps/rings_colours.css", {"rows": found.rows})
    html.write_page(
        released, "exports/zones.html", context, script=found.script, style=colours, stream=stream
    )


def write_png(released: Released, stream: BinaryIO) -> None:
    """The region with the zones in their classes; the sheet is in the texts."""
    rows = zone_classes(released.shares)
    colours = {row.key: row.light for row in rows}
    picture = rings_image(released.region, drawn_zones(released.shares), colours)
    png.write_page(released, picture, lambda canvas, at: _key(canvas, at, rows), stream)


def _rows(shares: ZoneShares) -> Iterator[tuple[int, str, float, float]]:
    several = enumerate(zip(shares.zones, shares.shares, strict=True), start=1)
    for number, (zone, share) in several:
        yield number, zone.name, share, shares.standard_error


def _wound(ring: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Counter-clockwise, as RFC 7946 wants outer rings."""
    doubled = sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in pairwise(ring))
    return ring if doubled >= 0 else ring[::-1]


def _key(canvas: ImageDraw.ImageDraw, at: tuple[int, int], rows: tuple[LegendClass, ...]) -> int:
    (left, top), (width, height) = at, _SWATCH
    top = write(canvas, (left, top), broken(LEGEND, png.HEADING, png.PANEL), png.HEADING) + 6
    for row in rows:
        box = (left, top + 2, left + width, top + 2 + height)
        canvas.rectangle(box, fill=row.light, outline=INK)
        text = broken(row.label, png.TEXT, png.PANEL - width - 14)
        top = write(canvas, (left + width + 14, top), text, png.TEXT) + 6
    return top
