"""A kind of file: what people read of it, and the name of what writes it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import BinaryIO

from django.utils.module_loading import import_string

from heatmaps.exports.released import Released
from mechanisms.check import ParameterError
from mechanisms.interface import DENSE_SIDE_LIMIT, Heatmap


class Group(StrEnum):
    """What a file is wanted for."""

    LOOK = "To look at"
    GIS = "For maps of your own"
    NUMBERS = "For calculations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How a map is written, and what the file says of its numbers."""

    suffix: str  # with its dot
    title: str
    group: Group
    content_type: str
    values: str  # what a number of the file means, for the release sheet
    writer: str  # dotted: raster, picture and map libraries are loaded when somebody asks for such a file
    has_sheet: bool = False  # whether the release sheet is in the file itself
    dense: bool = False  # whether every cell is written

    @property
    def name(self) -> str:
        """The suffix as it stands in addresses."""
        return self.suffix.removeprefix(".")

    @property
    def download(self) -> str:
        """How the pages offer it: with the release sheet in the file, or in a ZIP beside it."""
        return self.name if self.has_sheet else f"{self.name}.zip"

    def fits(self, resolution: int | None) -> bool:
        """Whether a grid of so many cells a side can be written; None: there is no grid."""
        return not self.dense or resolution is None or resolution <= DENSE_SIDE_LIMIT

    def check(self, resolution: int | None) -> None:
        """Errors: `ParameterError` naming `resolution` where it does not fit."""
        if not self.fits(resolution):
            raise ParameterError("resolution", resolution, f"at most {DENSE_SIDE_LIMIT} for a {self.title}")

    def write(self, released: Released, stream: BinaryIO) -> None:
        """Errors: `ParameterError` as `check`, before anything is written."""
        self.check(1 << released.result.level if isinstance(released.result, Heatmap) else None)
        import_string(self.writer)(released, stream)
