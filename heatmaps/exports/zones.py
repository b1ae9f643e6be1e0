"""Released shares in zones as a file: a table, polygons, a picture, a web page."""

import csv
import io
import json
from collections.abc import Mapping
from itertools import pairwise
from typing import BinaryIO, Final

from django.template.loader import render_to_string
from PIL import Image, ImageDraw

from heatmaps import maps
from heatmaps.exports import html, png
from heatmaps.exports.lettering import Style, broken, write
from heatmaps.exports.map_image import GROUND, INK, name_places, size
from heatmaps.exports.released import Released
from heatmaps.maps.image import position
from heatmaps.maps.legend import LegendClass
from heatmaps.maps.zones import DrawnZone, drawn_zones, zone_classes
from heatmaps.wording.zones import shares_words
from mechanisms.grid import Region

COLUMNS: Final = ("zone", "name", "share", "standard_error")
LEGEND: Final = "Share of all persons in a zone"

_LEVEL: Final = 1024  # pixels along the width, as of a map with so many cells
_SWATCH: Final = (34, 20)
_SIGN: Final = Style(size=18, colour=INK)


def write_csv(released: Released, stream: BinaryIO) -> None:
    """A line a zone, in the order in which they were given. Names are quoted as RFC 4180 says."""
    shares, text = released.shares, io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(COLUMNS)
    for number, (zone, share) in enumerate(zip(shares.zones, shares.shares, strict=True), start=1):
        table.writerow((number, cell_text(zone.name), repr(share), repr(shares.standard_error)))
    stream.write(text.getvalue().encode())


def write_geojson(released: Released, stream: BinaryIO) -> None:
    """A FeatureCollection (RFC 7946) of the zones with their shares; the release sheet is `release_sheet`."""
    shares = released.shares
    collection = {
        "type": "FeatureCollection",
        "bbox": list(released.region),
        "release_sheet": released.sheet,
        "features": [
            {
                "type": "Feature",
                "geometry": {"type": "Polygon", "coordinates": [_wound(zone.degrees)]},
                "properties": {
                    "zone": number,
                    "name": zone.name,
                    "share": share,
                    "standard_error": shares.standard_error,
                },
            }
            for number, (zone, share) in enumerate(zip(shares.zones, shares.shares, strict=True), start=1)
        ],
    }
    stream.write(json.dumps(collection, ensure_ascii=False, indent=1).encode() + b"\n")


def write_html(released: Released, stream: BinaryIO) -> None:
    """The web map with its table and its release sheet."""
    found = maps.zone_parts(released.shares, released.region)
    context = {"map": found, "shares": shares_words(released.shares)}
    colours = render_to_string("maps/zones_colours.css", {"rows": found.rows})
    html.write_page(
        released, "exports/zones.html", context, script=found.script, style=colours, stream=stream
    )


def write_png(released: Released, stream: BinaryIO) -> None:
    """The region on light ground, north up, with the zones in their classes; the sheet is in the texts."""
    rows = zone_classes(released.shares)
    picture = drawn(released.region, drawn_zones(released.shares), {row.key: row.light for row in rows})
    png.write_page(released, picture, lambda canvas, at: _key(canvas, at, rows), stream)


def cell_text(name: str) -> str:
    """A name that a spreadsheet would take for a formula is a text."""
    return f"'{name}" if name[0] in "=+-@" else name


def drawn(region: Region, zones: tuple[DrawnZone, ...], colours: Mapping[str, str]) -> Image.Image:
    """The region with rings and their signs; a class without a colour is not filled."""
    picture = Image.new("RGB", size(region, _LEVEL), GROUND)
    canvas = ImageDraw.Draw(picture)
    for zone in zones:
        ring = [_pixels(region, place, picture.size) for place in zone.ring]
        canvas.polygon(ring, fill=colours.get(zone.key), outline=INK, width=2)
    name_places(picture, region)
    for zone in zones:
        at = _pixels(region, zone.middle, picture.size)
        canvas.text(
            at, zone.text, font=_SIGN.font, fill=INK, anchor="mm", stroke_width=3, stroke_fill="white"
        )
    return picture


def _wound(ring: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Counter-clockwise, as RFC 7946 wants outer rings."""
    doubled = sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in pairwise(ring))
    return ring if doubled >= 0 else ring[::-1]


def _pixels(region: Region, place: tuple[float, float], size: tuple[int, int]) -> tuple[float, float]:
    x, y = position(region, lat=place[0], lon=place[1])
    return x * size[0], y * size[1]


def _key(canvas: ImageDraw.ImageDraw, at: tuple[int, int], rows: tuple[LegendClass, ...]) -> int:
    (left, top), (width, height) = at, _SWATCH
    top = write(canvas, (left, top), broken(LEGEND, png.HEADING, png.PANEL), png.HEADING) + 6
    for row in rows:
        box = (left, top + 2, left + width, top + 2 + height)
        canvas.rectangle(box, fill=row.light, outline=INK)
        text = broken(row.label, png.TEXT, png.PANEL - width - 14)
        top = write(canvas, (left + width + 14, top), text, png.TEXT) + 6
    return top
