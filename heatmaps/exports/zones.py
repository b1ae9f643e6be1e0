"""Writes released zone shares as a file: a table, polygons, a picture."""

from collections.abc import Iterator
from itertools import pairwise
from typing import BinaryIO, Final

from heatmaps.exports.answers import write_features, write_table
from heatmaps.exports.content import Released
from heatmaps.exports.rings import draw_rings
from heatmaps.exports.scene import Scene
from heatmaps.exports.sketch import Sketch
from heatmaps.maps.zones import LEGEND, drawn_zones, zone_classes
from mechanisms.results.zones import ZoneShares

COLUMNS: Final = ("zone", "name", "share", "standard_error")


def write_csv(released: Released, stream: BinaryIO) -> None:
    """Writes a line a zone, in the order in which they were given."""
    write_table(COLUMNS, _rows(released.of(ZoneShares)), stream)


def write_geojson(released: Released, stream: BinaryIO) -> None:
    """Writes the zones, with the columns of the table as their properties."""
    shares = released.of(ZoneShares)
    features = (
        ({"type": "Polygon", "coordinates": [_wound(zone.degrees)]}, dict(zip(COLUMNS, row, strict=True)))
        for zone, row in zip(shares.zones, _rows(shares), strict=True)
    )
    write_features(released, features, stream)


def sketch_zones(scene: Scene, released: Released) -> Sketch:
    """Draws the zones in their classes."""
    shares, dark = released.of(ZoneShares), scene.look.is_dark
    rows = zone_classes(shares)
    colours = {row.key: row.dark if dark else row.light for row in rows}
    signs = draw_rings(scene, drawn_zones(shares), colours)
    return Sketch(key=lambda column: column.classes(LEGEND, rows), occupied=signs)


def _rows(shares: ZoneShares) -> Iterator[tuple[int, str, float, float]]:
    numbered_zones = enumerate(zip(shares.zones, shares.shares, strict=True), start=1)
    for number, (zone, share) in numbered_zones:
        yield number, zone.name, share, shares.standard_error


def _wound(ring: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Winds a ring counter-clockwise, as RFC 7946 wants outer rings."""
    doubled_area = sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in pairwise(ring))
    return ring if doubled_area >= 0 else ring[::-1]
