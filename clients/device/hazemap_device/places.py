"""Turns places in degrees into the finest cells of a region, 2^31 a side."""

import math
import re
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from hazemap_device.errors import DeviceError

FINEST_LEVEL: Final = 31
LAST_CELL: Final = (1 << FINEST_LEVEL) - 1
MIN_EXTENT_DEG: Final = 1e-4
_EQUATOR_RADIUS_M: Final = 6_378_137.0  # WGS84
_ECCENTRICITY_SQUARED: Final = 0.00669437999014

Cell: TypeAlias = tuple[int, int]  # column from the west, row from the south

_DEGREES = r" *([+-]?[0-9]{1,3}(?:\.[0-9]{0,30})?) *"
_PLACE: Final = re.compile(f"{_DEGREES},{_DEGREES}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Place:
    """Holds a place in degrees. Its repr says nothing."""

    lat: float = field(repr=False)
    lon: float = field(repr=False)

    def __post_init__(self) -> None:
        # Comparisons that are false for NaN.
        if not (-90 <= self.lat <= 90 and -180 <= self.lon <= 180):
            raise DeviceError("bad_place", "Give a latitude from -90 to 90 and a longitude from -180 to 180.")

    @classmethod
    def parse(cls, text: str) -> "Place":
        """Reads "LAT,LON"."""
        match = _PLACE.fullmatch(text.strip()) if len(text) <= 200 else None
        if match is None:
            raise DeviceError("bad_place", "Write a place as LAT,LON in decimal degrees, such as 48.2,16.37.")
        return cls(lat=float(match[1]), lon=float(match[2]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Bounds a public rectangle in degrees."""

    west: float
    south: float
    east: float
    north: float

    def __post_init__(self) -> None:
        upright = -180 <= self.west < self.east <= 180 and -90 <= self.south < self.north <= 90
        if not upright or min(self.east - self.west, self.north - self.south) < MIN_EXTENT_DEG:
            raise DeviceError("bad_facts", "The round's region is no rectangle in degrees. Do not take part.")

    @property
    def width_m(self) -> float:
        """Returns metres from west to east at the middle latitude."""
        return (self.east - self.west) * _degree_lengths_m(self.centre.lat)[1]

    @property
    def height_m(self) -> float:
        return (self.north - self.south) * _degree_lengths_m(self.centre.lat)[0]

    @property
    def centre(self) -> Place:
        return Place(lat=(self.south + self.north) / 2, lon=(self.west + self.east) / 2)

    def cell(self, place: Place) -> Cell:
        """Finds the finest cell of a place, moved to the nearest edge where it is outside."""
        lat = min(max(place.lat, self.south), self.north)
        return _index(self._longitude(place.lon), self.west, self.east), _index(lat, self.south, self.north)

    def _longitude(self, lon: float) -> float:
        """Returns the edge nearer around the earth where the place is outside; the eastern one on a tie."""
        behind, ahead = self.west - lon, lon - self.east
        if behind > 0:
            return self.east if 360 - (self.east - lon) <= behind else self.west
        if ahead > 0:
            return self.east if ahead <= 360 - (lon - self.west) else self.west
        return lon


def _degree_lengths_m(latitude: float) -> tuple[float, float]:
    """Returns metres of a degree northwards and eastwards on WGS84."""
    phi = math.radians(latitude)
    w = 1 - _ECCENTRICITY_SQUARED * math.sin(phi) ** 2
    meridian = _EQUATOR_RADIUS_M * (1 - _ECCENTRICITY_SQUARED) / w**1.5
    return math.radians(meridian), math.radians(_EQUATOR_RADIUS_M * math.cos(phi) / math.sqrt(w))


def _index(coordinate: float, low: float, high: float) -> int:
    """Returns the last cell of an axis whose lower edge is not above the coordinate."""
    step = (high - low) / (LAST_CELL + 1)
    index = min(max(math.floor((coordinate - low) / step), 0), LAST_CELL)
    # The division may round across an edge, by one cell at most: the edges as printed decide.
    if index < LAST_CELL and coordinate >= low + (index + 1) * step:
        return index + 1
    if index > 0 and coordinate < low + index * step:
        return index - 1
    return index
