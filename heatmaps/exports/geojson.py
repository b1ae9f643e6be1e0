"""The map as polygons: one for each released square of the quadtree (RFC 7946)."""

import json
import math
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from heatmaps.centres import centres_of
from heatmaps.exports.released import Released

AT_ONCE: Final = 20_000  # polygons held in memory


def write_geojson(released: Released, stream: BinaryIO) -> None:
    """A FeatureCollection with the release sheet as its foreign member `release_sheet`.

    Properties: `value` and `standard_error` in persons (null: not stated), `share` of the sum of all
    values (0 everywhere when that is 0). A map of areas has a point a centre after its squares, with the
    persons nearest to it. Any resolution: the file grows with the squares, not the cells.
    """
    sheet = json.dumps(released.sheet, ensure_ascii=False)
    box = json.dumps(list(released.region))
    stream.write(f'{{"type": "FeatureCollection", "bbox": {box},\n"release_sheet": {sheet},\n'.encode())
    stream.write(b'"features": [')
    before = "\n"
    for feature in chain(_features(released), _centres(released)):
        stream.write(f"{before}{feature}".encode())
        before = ",\n"
    stream.write(b"\n]}\n")


def _features(released: Released) -> Iterator[str]:
    heatmap = released.heatmap
    total = float(heatmap.values.sum())
    for start in range(0, heatmap.values.size, AT_ONCE):
        part = slice(start, start + AT_ONCE)
        values, errors = heatmap.values[part].tolist(), heatmap.standard_errors[part].tolist()
        for bounds, value, error in zip(_bounds(released, part).tolist(), values, errors, strict=True):
            yield json.dumps(
                {
                    "type": "Feature",
                    "geometry": {"type": "Polygon", "coordinates": [_ring(*bounds)]},
                    "properties": {
                        "value": value,
                        "standard_error": error if math.isfinite(error) else None,
                        "share": value / total if total > 0 else 0.0,
                    },
                }
            )


def _centres(released: Released) -> Iterator[str]:
    """Points after the squares, of a map of areas: the heaviest area's centre first."""
    for rank, centre in enumerate(centres_of(released.heatmap, released.region), start=1):
        place = {"type": "Point", "coordinates": [centre.lon, centre.lat]}
        facts = {"centre": rank, "value": centre.persons, "share": centre.share}
        yield json.dumps({"type": "Feature", "geometry": place, "properties": facts})


def _bounds(released: Released, part: slice) -> NDArray[np.float64]:
    """`(k, 4)` west, south, east, north in degrees."""
    levels, prefixes = released.heatmap.levels[part], released.heatmap.prefixes[part]
    bounds = np.empty((levels.size, 4))
    for level in np.unique(levels).tolist():
        chosen = levels == level
        bounds[chosen] = np.stack(released.region.cell_bounds(level, prefixes[chosen]), axis=1)
    return bounds


def _ring(west: float, south: float, east: float, north: float) -> list[list[float]]:
    """Closed and counter-clockwise, longitude first."""
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]
