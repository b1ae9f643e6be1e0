"""What every file is made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mechanisms.grid import Region
from mechanisms.interface import Heatmap, Result
from mechanisms.places import PlaceDistances
from mechanisms.point import Point
from mechanisms.zones import ZoneShares


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Released:
    """What was released, where it lies, and its sheet: released and public values only."""

    result: Result
    region: Region
    sheet: Mapping[str, object] = field(repr=False)  # of `heatmaps.exports.sheet.release_sheet`

    @property
    def heatmap(self) -> Heatmap:
        """Errors: TypeError for anything but a map: its files are written by other writers."""
        if not isinstance(self.result, Heatmap):
            raise TypeError("this release is no map")
        return self.result

    @property
    def point(self) -> Point:
        """Errors: TypeError for anything but a point."""
        if not isinstance(self.result, Point):
            raise TypeError("this release is no point")
        return self.result

    @property
    def shares(self) -> ZoneShares:
        """Errors: TypeError for anything but shares in zones."""
        if not isinstance(self.result, ZoneShares):
            raise TypeError("this release is of no zones")
        return self.result

    @property
    def distances(self) -> PlaceDistances:
        """Errors: TypeError for anything but distances to places."""
        if not isinstance(self.result, PlaceDistances):
            raise TypeError("this release is of no places")
        return self.result

    @property
    def title(self) -> str:
        """Text of people: each writer escapes it in its own way."""
        return str(self.sheet["title"])
