"""Adds a released map up in areas, in a child."""

import json
import os
import sys
from collections.abc import Sequence

from heatmaps.districts import geojson
from heatmaps.districts.geojson import Area
from heatmaps.districts.reading_child import refusal, write_line
from mechanisms.check import ParameterError
from mechanisms.results.district_sums import district_sum
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.serialization import Result, result_from_bytes
from mechanisms.results.squares import squares_of
from mechanisms.results.summands import summands_of
from mechanisms.space.grid import Region


def main() -> None:
    """Adds up people in areas, in a child.

    Input: a line with the descriptor, the map's region, and how many bytes of GeoJSON follow, packed or
    not; these; the stored map. Output, into the descriptor: a line with the rows, or with the refusal.
    """
    request = json.loads(sys.stdin.buffer.readline())
    area_bytes = sys.stdin.buffer.read(request["area_bytes"])
    content = geojson.unpacked(area_bytes) if request["packed"] else area_bytes
    with os.fdopen(request["descriptor"], "wb") as stream:
        try:
            areas = geojson.read(content, field="areas")
            result = result_from_bytes(sys.stdin.buffer.read())
            write_line(_answer(result, Region(*request["region"]), areas), stream)
        except ParameterError as error:
            write_line(refusal(error), stream)


def _answer(result: Result, region: Region, areas: Sequence[Area]) -> dict[str, object]:
    """Returns each area's name, value, error, share, the part the map covers and that of the map it fills."""
    summands = summands_of(result) if isinstance(result, Heatmap) else None
    if summands is None:
        raise ParameterError("release", "a map without errors", "a map with stated errors")
    squares = [part.rounded() for part in squares_of(summands)]
    sums = [district_sum(squares, region, area.polygons) for area in areas]
    rows = [
        [area.name, total.value, total.error, total.share, total.covered, total.filled]
        for area, total in zip(areas, sums, strict=True)
    ]
    return {"rows": rows, "is_bound": summands.is_bound}
