"""Writes the map as polygons, one for each released square of the quadtree (RFC 7946)."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heatmaps.exports.content import Released
from heatmaps.exports.number_texts import decimals, lines, texts
from heatmaps.places.area_centres import centres_of
from mechanisms.central.adaptive.guided_raster import rectangle_numbers
from mechanisms.central.grid_laplace.empty_cells import significant_squares

AT_ONCE: Final = 20_000  # polygons held in memory
_BETWEEN: Final = b",\n"


def write_geojson(released: Released, stream: BinaryIO) -> None:
    """Writes a FeatureCollection with the release sheet as its foreign member `release_sheet`.

    Properties, null where not stated: `value`, `standard_error` and the ends `low` and `high` of a 95 %
    interval in persons; `deviation`, which is added in quadrature for the error of several squares together;
    `share` of the sum of all values (0 everywhere when that is 0); `distinguishable` from zero; `rectangle`,
    the number of the measured rectangle that a square is a part of. Then `deviation` and `distinguishable`
    are null: nothing smaller than a rectangle was measured. A map of areas has a point a centre after its
    squares, with the persons nearest to it. Any resolution: the file grows with the squares, not the cells.
    """
    sheet = json.dumps(released.sheet, ensure_ascii=False)
    box = json.dumps(list(released.region))
    stream.write(f'{{"type": "FeatureCollection", "bbox": {box},\n"release_sheet": {sheet},\n'.encode())
    stream.write(b'"features": [\n')
    before = b""
    for features, _ in feature_lines(released):
        stream.write(before + features.removesuffix(_BETWEEN))
        before = _BETWEEN
    stream.write(b"\n]}\n")


def feature_lines(
    released: Released, *, centres_first: bool = False
) -> Iterator[tuple[bytes, NDArray[np.float64]]]:
    """Features, a line each with a comma behind it, and `(k, 4)` their boxes in degrees."""
    parts = _squares(released), _centres(released)
    return chain(*(reversed(parts) if centres_first else parts))


def square_bounds(released: Released, part: slice) -> NDArray[np.float64]:
    """Returns `(k, 4)` edges of some squares of a map: west, south, east, north in degrees."""
    levels, prefixes = released.heatmap.levels[part], released.heatmap.prefixes[part]
    bounds = np.empty((levels.size, 4))
    for level in np.unique(levels).tolist():
        at_level = levels == level
        bounds[at_level] = np.stack(released.region.cell_bounds(level, prefixes[at_level]), axis=1)
    return bounds


def _squares(released: Released) -> Iterator[tuple[bytes, NDArray[np.float64]]]:
    """Yields closed rings, counter-clockwise, longitude first."""
    heatmap = released.heatmap
    total, distinguished, rectangles = (
        float(heatmap.values.sum()),
        significant_squares(heatmap),
        rectangle_numbers(heatmap),
    )
    deviations = heatmap.deviations
    if deviations is None or rectangles is not None:
        deviations = np.full(heatmap.values.size, np.nan)
    errors = np.stack((heatmap.standard_errors, *heatmap.intervals(), deviations))
    apart = numbers = np.full(heatmap.values.size, "null")
    if rectangles is not None:
        numbers = rectangles.astype(str)
    elif distinguished is not None:
        apart = np.where(distinguished.has(heatmap.levels, heatmap.prefixes), "true", "false")
    for start in range(0, heatmap.values.size, AT_ONCE):
        part = slice(start, start + AT_ONCE)
        bounds = square_bounds(released, part)
        west, south, east, north = (texts(side, missing="") for side in bounds.T)
        values = heatmap.values[part]
        shares = values / total if total > 0 else np.zeros_like(values)
        amounts = (decimals(values, missing=""), decimals(shares, missing=""))
        classes = (pa.array(apart[part]), pa.array(numbers[part]))
        error, least, most, deviation = (decimals(column, missing="null") for column in errors[:, part])
        chunk = lines(
            *('{"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [[[', west, ", ", south),
            *("], [", east, ", ", south, "], [", east, ", ", north, "], [", west, ", ", north),
            *("], [", west, ", ", south, ']]]}, "properties": {"value": ', amounts[0]),
            *(', "standard_error": ', error, ', "low": ', least, ', "high": ', most),
            *(', "deviation": ', deviation),
            *(', "share": ', amounts[1], ', "distinguishable": ', classes[0]),
            *(', "rectangle": ', classes[1], "}}"),
            between="",
            after=_BETWEEN.decode(),
        )
        yield chunk, bounds


def _centres(released: Released) -> Iterator[tuple[bytes, NDArray[np.float64]]]:
    """Yields points after the squares, of a map of areas: the heaviest area's centre first."""
    for rank, centre in enumerate(centres_of(released.heatmap, released.region), start=1):
        place = {"type": "Point", "coordinates": [centre.lon, centre.lat]}
        facts = {"centre": rank, "value": centre.persons, "share": centre.share}
        line = json.dumps({"type": "Feature", "geometry": place, "properties": facts}).encode()
        yield line + _BETWEEN, np.array([[centre.lon, centre.lat, centre.lon, centre.lat]])
