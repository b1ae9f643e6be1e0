"""A released map as a file: one writer a suffix, and the release sheet that goes with every file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import BinaryIO, Final

from heatmaps.exports.csv import write_csv
from heatmaps.exports.npy import write_npy
from heatmaps.exports.sheet import release_sheet
from mechanisms.check import ParameterError
from mechanisms.grid import Region
from mechanisms.interface import Heatmap

__all__ = ["FORMATS", "Format", "format_of", "release_sheet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How a map is written, and what the file says of its numbers."""

    suffix: str  # with its dot
    title: str
    content_type: str
    values: str  # what a number of the file means, for the release sheet
    write: Callable[[Heatmap, Region, BinaryIO], None]


FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        known.suffix: known
        for known in (
            Format(
                suffix=".npy",
                title="NumPy array",
                content_type="application/octet-stream",
                values="share of the map in a cell: float64 (rows, columns), row 0 in the north, column 0 in "
                "the west, sum 1, not smoothed",
                write=write_npy,
            ),
            Format(
                suffix=".csv",
                title="CSV table",
                content_type="text/csv; charset=utf-8",
                values="share of the map in a cell: sum 1, not smoothed; standard_error in the same unit, "
                "of the mass spread evenly in the cell's region, empty where none is stated",
                write=write_csv,
            ),
        )
    }
)


def format_of(suffix: str) -> Format:
    """The format of a suffix with its dot. Errors: `ParameterError` naming those there are."""
    found = FORMATS.get(suffix.lower())
    if found is None:
        raise ParameterError("output", suffix or "without a suffix", " or ".join(FORMATS))
    return found
