"""Describes results that are a map of cells."""

from typing import Final

from heatmaps.result_kinds.format import CELLS, CSV, GEOJSON, NPY, PNG, TIF, by_suffix, html
from heatmaps.result_kinds.kind import ResultKind
from mechanisms.error_bounds import WITHIN_ERRORS
from mechanisms.results.heatmap import Heatmap

_SHARE: Final = "share of the map in a cell: sum 1, not smoothed"
_DRAWN: Final = (
    "as heat, where the map states what it needs: people per km², smoothed over the width in the legend; as "
    "squares: share of the map per unit of area, in the classes of the legend, not smoothed; very fine grids "
    "are drawn in squares of several cells, their shares added up"
)

HEATMAP: Final = ResultKind(
    name="heatmap",
    result=Heatmap,
    word="map",
    content="squares",
    published="a published map",
    choice="A map of where people are",
    error_fields={
        "emd": "Earth mover's distance on the unit square, 2 is the largest possible.",
        "emd_low": "Lower end of a forecast whose upper end is `emd`; absent: `emd` is a bound.",
        "emd_median": "Middle of that forecast.",
    },
    stem="heatmap",
    digest="map_sha256",
    formats=by_suffix(
        PNG(values=_DRAWN, writer="heatmaps.exports.png.write_map", has_sheet=True),
        html(_DRAWN),
        TIF(
            values=f"{_SHARE}; one float64 band, north up; overviews have the mean of the cells under "
            "a pixel",
            writer="heatmaps.exports.geotiff.write_geotiff",
            has_sheet=True,
            dense=True,
        ),
        GEOJSON(
            values="a polygon a released square: value, the mass in it, its standard_error and the ends "
            "low and high of its 95 % interval (null: not stated) in people; deviation in people, to "
            "be added in quadrature for the error of several squares together; share of the sum of all "
            "values; distinguishable from zero (null: not stated; on average at most 5 % of the squares "
            "that are hold less than half a person); rectangle, the number of the measured rectangle that "
            "a square is a part of (null: squares were measured); what no polygon covers has the value 0",
            writer="heatmaps.exports.geojson.write_geojson",
            has_sheet=True,
        ),
        CSV(
            values="a line a released square: row and col of its north-western cell, cells along its side; "
            "value, its share of the map: sum 1, not smoothed, spread evenly over its cells; standard_error "
            f"in the same unit: the truth is at most {WITHIN_ERRORS} of them away in 95 of 100; empty where "
            "none is known; cells in no square have the value 0, and where its error is known a last line "
            "without a place has that of each of them",
            writer="heatmaps.exports.csv.write_squares",
        ),
        CELLS(
            values=f"{_SHARE}; standard_error in the same unit: the truth is at most {WITHIN_ERRORS} of "
            "them away in 95 of 100; empty where none is known, as in cells of larger squares",
            writer="heatmaps.exports.csv.write_cells",
        ),
        NPY(
            values=f"{_SHARE}; float64 (rows, columns), row 0 in the north, column 0 in the west",
            writer="heatmaps.exports.npy.write_npy",
            dense=True,
        ),
    ),
    sketch="heatmaps.exports.sketch.sketch_map",
    map_parts="heatmaps.maps.document.map_parts",
    heat="heatmaps.maps.heat.heat_of",
    table="heatmaps.maps.table.map_table",
    table_template="releases/table.html",
    sheet_part="heatmaps.wording.heatmap.sheet_part",
    sheet_facts="heatmaps.wording.heatmap.sheet_facts",
    error_words="heatmaps.wording.expected_error.of_map",
)
