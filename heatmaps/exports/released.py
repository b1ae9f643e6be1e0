"""What every file is made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mechanisms.grid import Region
from mechanisms.interface import Heatmap


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Released:
    """A released map, where it lies, and its release sheet: released and public values, nothing else."""

    heatmap: Heatmap
    region: Region
    sheet: Mapping[str, object] = field(repr=False)  # of `heatmaps.exports.sheet.release_sheet`

    @property
    def title(self) -> str:
        """Text of people: each writer escapes it in its own way."""
        return str(self.sheet["title"])
