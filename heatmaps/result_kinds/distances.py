"""Describes results that are mean distances of persons to places."""

from typing import Final

from heatmaps.result_kinds.format import CSV, GEOJSON, PNG, by_suffix, html
from heatmaps.result_kinds.kind import DISTANCE_ERROR, ResultKind
from mechanisms.results.distances import PlaceDistances

_DISTANCES: Final = (
    "distance_m: straight distance in metres of the region's projection from the place to a person's "
    "check-ins, their mean over all people enrolled; standard_error_m in the same unit; lat and lon of the "
    "place in WGS84 degrees"
)

DISTANCES: Final = ResultKind(
    name="distances",
    result=PlaceDistances,
    word="map of distances",
    content="distances",
    published="published mean distances",
    error_fields=DISTANCE_ERROR,
    stem="distances",
    digest="distances_sha256",
    formats=by_suffix(
        PNG(values=_DISTANCES, writer="heatmaps.exports.png.write_drawing", has_sheet=True),
        html(_DISTANCES),
        GEOJSON(values=_DISTANCES, writer="heatmaps.exports.distances.write_geojson", has_sheet=True),
        CSV(values=_DISTANCES, writer="heatmaps.exports.distances.write_csv"),
    ),
    sketch="heatmaps.exports.distances.sketch_distances",
    map_parts="heatmaps.maps.distances.distance_parts",
    table="heatmaps.wording.distances.distances_words",
    table_template="releases/distances.html",
    sheet_part="heatmaps.wording.distances.sheet_part",
    sheet_facts="heatmaps.wording.distances.sheet_facts",
    error_words="heatmaps.wording.expected_error.of_distance",
)
