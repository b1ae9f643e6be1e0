"""A released map or point as a file: one writer a suffix, and the release sheet that goes with every file."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from heatmaps.exports.format import Format, Group
from heatmaps.exports.released import Released
from heatmaps.exports.sheet import release_sheet
from mechanisms.catalogue import Kind
from mechanisms.check import ParameterError

__all__ = ["FORMATS", "FORMATS_OF", "Format", "Group", "Released", "format_of", "release_sheet"]

_SHARE: Final = "share of the map in a cell: sum 1, not smoothed"
_DRAWN: Final = (
    "share of the map per unit of area, in the classes of its legend; very fine grids are drawn in squares "
    "of several cells, their shares added up; not smoothed"
)
_CIRCLE: Final = (
    "the released point in WGS84 degrees; with probability 95 % the truth lies in the circle around it"
)
_SHARES: Final = (
    "share: of all persons enrolled, the mean of how much of a person's check-ins is in the zone, counting "
    "less and less over its soft edge; standard_error in the same unit"
)
_DISTANCES: Final = (
    "distance_m: straight distance in metres of the region's projection from the place to a person's "
    "check-ins, their mean over all persons enrolled; standard_error_m in the same unit; lat and lon of the "
    "place in WGS84 degrees"
)
_POINT: Final = (
    "lat and lon in WGS84 degrees; expected_m, the expected distance from the truth, and within_m, the "
    "distance kept with probability 95 %, in metres"
)

_PNG = partial(Format, suffix=".png", title="PNG picture", group=Group.LOOK, content_type="image/png")
_HTML = partial(
    Format, suffix=".html", title="Web page", group=Group.LOOK, content_type="text/html; charset=utf-8"
)
_TIF = partial(
    Format, suffix=".tif", title="GeoTIFF", group=Group.GIS, content_type="image/tiff; application=geotiff"
)
_GEOJSON = partial(
    Format, suffix=".geojson", title="GeoJSON", group=Group.GIS, content_type="application/geo+json"
)
_CSV = partial(
    Format, suffix=".csv", title="CSV table", group=Group.NUMBERS, content_type="text/csv; charset=utf-8"
)
_NPY = partial(
    Format,
    suffix=".npy",
    title="NumPy array",
    group=Group.NUMBERS,
    content_type="application/octet-stream",
)


def _by_suffix(*formats: Format) -> Mapping[str, Format]:
    return MappingProxyType({known.suffix: known for known in formats})


FORMATS_OF: Final[Mapping[Kind, Mapping[str, Format]]] = MappingProxyType(
    {
        "heatmap": _by_suffix(
            _PNG(values=_DRAWN, writer="heatmaps.exports.png.write_png", has_sheet=True),
            _HTML(values=_DRAWN, writer="heatmaps.exports.html.write_html", has_sheet=True),
            _TIF(
                values=f"{_SHARE}; one float64 band, north up",
                writer="heatmaps.exports.geotiff.write_geotiff",
                has_sheet=True,
                dense=True,
            ),
            _GEOJSON(
                values="a polygon a released square: value, the mass in it, and standard_error (null: not "
                "stated) in persons, share of the sum of all values; what no polygon covers has the value 0",
                writer="heatmaps.exports.geojson.write_geojson",
                has_sheet=True,
            ),
            _CSV(
                values=f"{_SHARE}; standard_error in the same unit, "
                "of the mass spread evenly in the cell's region, empty where none is stated",
                writer="heatmaps.exports.csv.write_csv",
                dense=True,
            ),
            _NPY(
                values=f"{_SHARE}; float64 (rows, columns), row 0 in the north, column 0 in the west",
                writer="heatmaps.exports.npy.write_npy",
                dense=True,
            ),
        ),
        "centroid": _by_suffix(
            _PNG(values=_CIRCLE, writer="heatmaps.exports.point.write_png", has_sheet=True),
            _HTML(values=_CIRCLE, writer="heatmaps.exports.point.write_html", has_sheet=True),
            _GEOJSON(values=_POINT, writer="heatmaps.exports.point.write_geojson", has_sheet=True),
            _CSV(values=_POINT, writer="heatmaps.exports.point.write_csv"),
        ),
        "zones": _by_suffix(
            _PNG(values=_SHARES, writer="heatmaps.exports.zones.write_png", has_sheet=True),
            _HTML(values=_SHARES, writer="heatmaps.exports.zones.write_html", has_sheet=True),
            _GEOJSON(values=_SHARES, writer="heatmaps.exports.zones.write_geojson", has_sheet=True),
            _CSV(values=_SHARES, writer="heatmaps.exports.zones.write_csv"),
        ),
        "distances": _by_suffix(
            _PNG(values=_DISTANCES, writer="heatmaps.exports.distances.write_png", has_sheet=True),
            _HTML(values=_DISTANCES, writer="heatmaps.exports.distances.write_html", has_sheet=True),
            _GEOJSON(values=_DISTANCES, writer="heatmaps.exports.distances.write_geojson", has_sheet=True),
            _CSV(values=_DISTANCES, writer="heatmaps.exports.distances.write_csv"),
        ),
    }
)
FORMATS: Final = FORMATS_OF["heatmap"]


def format_of(suffix: str, kind: Kind = "heatmap") -> Format:
    """The format of a suffix with its dot. Errors: `ParameterError` naming those the kind has."""
    known = FORMATS_OF[kind]
    found = known.get(suffix.lower())
    if found is None:
        raise ParameterError("output", suffix or "without a suffix", ", ".join(known))
    return found
