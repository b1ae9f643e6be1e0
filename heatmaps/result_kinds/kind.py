"""Defines a kind of result: all that differs in the product from one kind to another."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from django.utils.module_loading import import_string

from heatmaps.result_kinds.format import Format
from mechanisms.catalogue.entries import Kind
from mechanisms.check import ParameterError
from mechanisms.results.serialization import Result
from mechanisms.space.grid import Region

DISTANCE_ERROR: Final = {
    "expected_m": "Expected distance in metres.",
    "within_m": "Kept with probability 95 %, in metres.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetPart:
    """Says what a release sheet says of one result; exact numbers as fractions."""

    measures: Mapping[str, object]
    post_processing: Sequence[str] = ()
    errors: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultKind:
    """Describes one kind of result, from its files to its page.

    Functions of the rooms above stand here by their dotted names. They are loaded when somebody asks, as a
    child that writes files has no database, and most requests need no library that draws.
    """

    name: Kind  # in the catalogue
    result: type[Result]
    word: str  # "this …" in sentences
    content: str  # what it is of, where it has no resolution
    published: str  # the same in the API's document
    choice: str = ""  # in the form of a new release; empty: it has a page of its own
    error_fields: Mapping[str, str]  # numbers of its expected error, and what they are
    stem: str  # how its files begin in addresses
    digest: str  # key of the result's SHA-256 in the release sheet
    formats: Mapping[str, Format]  # by suffix
    sketch: str  # (scene, released) -> `heatmaps.exports.sketch.Sketch`; draws into a picture of any size
    map_parts: str  # (result, region) -> `heatmaps.maps.document.MapParts`
    heat: str = ""  # (result, region) -> what its heat is made of, or None; empty: this kind has no heat
    table: str  # (result, region) -> the numbers beside the map, a dataclass for `table_template`
    table_template: str
    sheet_part: str  # (result, region) -> SheetPart
    sheet_facts: str  # (sheet) -> (title, text) of its measures
    error_words: str  # (expected error as JSON, region) -> `heatmaps.wording.expected_error.ErrorWords`

    def format_of(self, suffix: str) -> Format:
        """Returns the format of a suffix with its dot. Errors: `ParameterError` naming those there are."""
        suffix_format = self.formats.get(suffix.lower())
        if suffix_format is None:
            raise ParameterError("output", suffix or "without a suffix", ", ".join(self.formats))
        return suffix_format

    def leaflet_parts(self, result: Result, region: Region) -> Any:
        """Returns a result as Leaflet shows it, before it becomes a document."""
        return import_string(self.map_parts)(result, region)

    def draw_sketch(self, scene: Any, released: Any) -> Any:
        """Draws what was released into a picture and returns how its legend is written."""
        return import_string(self.sketch)(scene, released)

    def heat_of(self, result: Result, region: Region) -> dict[str, Any] | None:
        """Returns a map's heat; None where it has none."""
        heat: dict[str, Any] | None = import_string(self.heat)(result, region) if self.heat else None
        return heat

    def tabulated(self, result: Result, region: Region) -> dict[str, Any]:
        """Returns the numbers beside a map, for `table_template`."""
        return asdict(import_string(self.table)(result, region))

    def for_sheet(self, result: Result, region: Region) -> SheetPart:
        """Returns a result's part of the release sheet."""
        part: SheetPart = import_string(self.sheet_part)(result, region)
        return part

    def facts(self, sheet: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
        """Returns (title, text) of what a release sheet says of the result."""
        lines: Sequence[tuple[str, str]] = import_string(self.sheet_facts)(sheet)
        return lines

    def predicted(self, error: Mapping[str, object], region: Region) -> Any:
        """Returns a predicted error in words. error: as JSON values. region: what the result covers."""
        return import_string(self.error_words)(error, region)
