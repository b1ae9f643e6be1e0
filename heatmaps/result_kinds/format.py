"""Describes a file format: what people read about it, and the name of its writer."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import BinaryIO, Final, Protocol

from django.utils.module_loading import import_string

from mechanisms.check import ParameterError
from mechanisms.results.heatmap import DENSE_SIDE_LIMIT


class Content(Protocol):
    """Offers what a file is made from: `heatmaps.exports.content.Released`."""

    @property
    def resolution(self) -> int | None:
        """Returns the cells a side; None: what was released has no cells."""
        ...


class Group(StrEnum):
    """Groups files by their use."""

    LOOK = "To look at"
    GIS = "For maps of your own"
    NUMBERS = "For calculations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """Says how a result is written, and what the file says of its numbers."""

    suffix: str  # with its dot; of two formats in one kind of file, the rarer has a word before it
    title: str
    group: Group
    content_type: str
    values: str  # what a number of the file means, for the release sheet
    writer: str  # dotted: raster, picture and map libraries are loaded when somebody asks for such a file
    has_sheet: bool = False  # whether the release sheet is in the file itself
    dense: bool = False  # whether every cell is written
    in_parts: bool = False  # whether programs read parts of it over HTTP

    @property
    def name(self) -> str:
        """Returns the suffix as it stands in addresses."""
        return self.suffix.removeprefix(".")

    @property
    def download(self) -> str:
        """Words the pages' offer: with the release sheet in the file, or in a ZIP beside it."""
        return self.name if self.has_sheet else f"{self.name}.zip"

    def fits(self, resolution: int | None) -> bool:
        """Tells whether a grid of so many cells a side can be written; None: there is no grid."""
        return not self.dense or resolution is None or resolution <= DENSE_SIDE_LIMIT

    def check(self, resolution: int | None) -> None:
        """Refuses a resolution that does not fit. Errors: `ParameterError` naming `resolution`."""
        if not self.fits(resolution):
            raise ParameterError("resolution", resolution, f"at most {DENSE_SIDE_LIMIT} for a {self.title}")

    def write(self, released: Content, stream: BinaryIO) -> None:
        """Writes the file. Errors: `ParameterError` as `check`, before anything is written."""
        self.check(released.resolution)
        import_string(self.writer)(released, stream)


def by_suffix(*formats: Format) -> Mapping[str, Format]:
    """Returns formats by suffix, in the order in which they are offered."""
    return MappingProxyType({each.suffix: each for each in formats})


PNG: Final = partial(Format, suffix=".png", title="PNG picture", group=Group.LOOK, content_type="image/png")
TIF: Final = partial(
    Format,
    suffix=".tif",
    title="GeoTIFF",
    group=Group.GIS,
    content_type="image/tiff; application=geotiff; profile=cloud-optimized",
    in_parts=True,
)
GEOJSON: Final = partial(
    Format, suffix=".geojson", title="GeoJSON", group=Group.GIS, content_type="application/geo+json"
)
CSV: Final = partial(
    Format, suffix=".csv", title="CSV table", group=Group.NUMBERS, content_type="text/csv; charset=utf-8"
)
CELLS: Final = partial(
    Format,
    suffix=".cells.csv",
    title="CSV of every cell",
    group=Group.NUMBERS,
    content_type="text/csv; charset=utf-8",
    dense=True,
)
NPY: Final = partial(
    Format,
    suffix=".npy",
    title="NumPy array",
    group=Group.NUMBERS,
    content_type="application/octet-stream",
)


def html(values: str) -> Format:
    """Returns the web page, which any kind of result has."""
    return Format(
        suffix=".html",
        title="Web page",
        group=Group.LOOK,
        content_type="text/html; charset=utf-8",
        values=values,
        writer="heatmaps.exports.html.write_html",
        has_sheet=True,
    )
