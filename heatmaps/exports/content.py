"""Holds what every exported file is made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from heatmaps.maps.looks import LIGHT, Look
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.serialization import Result
from mechanisms.space.grid import Region

Kind = TypeVar("Kind")

HEAT, SQUARES = "heat", "squares"
LAYERS: Final = (HEAT, SQUARES)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Released:
    """Holds what was released, where it lies, and its sheet: released and public values only."""

    result: Result
    region: Region
    sheet: Mapping[str, object] = field(repr=False)  # of `heatmaps.exports.sheet.release_sheet`
    # Of a picture: its colours, and whether a map is drawn as heat, where it has one, or as released squares.
    look: Look = LIGHT
    layer: str = HEAT

    def of(self, result_type: type[Kind]) -> Kind:
        """Returns the result, for writers of one kind. Errors: TypeError for another kind."""
        if not isinstance(self.result, result_type):
            raise TypeError(f"this release has no {result_type.__name__}")
        return self.result

    @property
    def heatmap(self) -> Heatmap:
        """Returns the map.

        Errors: TypeError for anything but a map: its files are written by other writers.
        """
        return self.of(Heatmap)

    @property
    def resolution(self) -> int | None:
        """Returns the number of cells a side; None: what was released has no cells."""
        return self.result.resolution

    @property
    def title(self) -> str:
        """Returns the title, a text of people: each writer escapes it in its own way."""
        return str(self.sheet["title"])
