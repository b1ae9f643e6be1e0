"""A released map as a file: one writer a suffix, and the release sheet that goes with every file."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from heatmaps.exports.format import Format, Group
from heatmaps.exports.released import Released
from heatmaps.exports.sheet import release_sheet
from mechanisms.check import ParameterError

__all__ = ["FORMATS", "Format", "Group", "Released", "format_of", "release_sheet"]

_SHARE: Final = "share of the map in a cell: sum 1, not smoothed"
_DRAWN: Final = (
    "share of the map per unit of area, in the classes of its legend; very fine grids are drawn in squares "
    "of several cells, their shares added up; not smoothed"
)

FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        known.suffix: known
        for known in (
            Format(
                suffix=".png",
                title="PNG picture",
                group=Group.LOOK,
                content_type="image/png",
                values=_DRAWN,
                writer="heatmaps.exports.png.write_png",
                has_sheet=True,
            ),
            Format(
                suffix=".html",
                title="Web page",
                group=Group.LOOK,
                content_type="text/html; charset=utf-8",
                values=_DRAWN,
                writer="heatmaps.exports.html.write_html",
                has_sheet=True,
            ),
            Format(
                suffix=".tif",
                title="GeoTIFF",
                group=Group.GIS,
                content_type="image/tiff; application=geotiff",
                values=f"{_SHARE}; one float64 band, north up",
                writer="heatmaps.exports.geotiff.write_geotiff",
                has_sheet=True,
                dense=True,
            ),
            Format(
                suffix=".geojson",
                title="GeoJSON",
                group=Group.GIS,
                content_type="application/geo+json",
                values="a polygon a released square: value, the mass in it, and standard_error (null: not "
                "stated) in persons, share of the sum of all values; what no polygon covers has the value 0",
                writer="heatmaps.exports.geojson.write_geojson",
                has_sheet=True,
            ),
            Format(
                suffix=".csv",
                title="CSV table",
                group=Group.NUMBERS,
                content_type="text/csv; charset=utf-8",
                values=f"{_SHARE}; standard_error in the same unit, "
                "of the mass spread evenly in the cell's region, empty where none is stated",
                writer="heatmaps.exports.csv.write_csv",
                dense=True,
            ),
            Format(
                suffix=".npy",
                title="NumPy array",
                group=Group.NUMBERS,
                content_type="application/octet-stream",
                values=f"{_SHARE}; float64 (rows, columns), row 0 in the north, column 0 in the west",
                writer="heatmaps.exports.npy.write_npy",
                dense=True,
            ),
        )
    }
)


def format_of(suffix: str) -> Format:
    """The format of a suffix with its dot. Errors: `ParameterError` naming those there are."""
    found = FORMATS.get(suffix.lower())
    if found is None:
        raise ParameterError("output", suffix or "without a suffix", ", ".join(FORMATS))
    return found
