"""Describes results that are one central point."""

from typing import Final

from heatmaps.result_kinds.format import CSV, GEOJSON, PNG, by_suffix, html
from heatmaps.result_kinds.kind import DISTANCE_ERROR, ResultKind
from mechanisms.results.point import Point

_CIRCLE: Final = (
    "the released point in WGS84 degrees; with probability 95 % the truth lies in the circle around it"
)
_DEGREES: Final = (
    "lat and lon in WGS84 degrees; expected_m, the expected distance from the truth, and within_m, the "
    "distance kept with probability 95 %, in metres"
)

POINT: Final = ResultKind(
    name="centroid",
    result=Point,
    word="point",
    content="a point",
    published="a published central point",
    choice="One central point",
    error_fields=DISTANCE_ERROR,
    stem="point",
    digest="point_sha256",
    formats=by_suffix(
        PNG(values=_CIRCLE, writer="heatmaps.exports.png.write_drawing", has_sheet=True),
        html(_CIRCLE),
        GEOJSON(values=_DEGREES, writer="heatmaps.exports.point.write_geojson", has_sheet=True),
        CSV(values=_DEGREES, writer="heatmaps.exports.point.write_csv"),
    ),
    sketch="heatmaps.exports.point.sketch_point",
    map_parts="heatmaps.maps.point.point_parts",
    table="heatmaps.maps.point.point_words",
    table_template="releases/point.html",
    sheet_part="heatmaps.wording.point.sheet_part",
    sheet_facts="heatmaps.wording.point.sheet_facts",
    error_words="heatmaps.wording.expected_error.of_distance",
)
