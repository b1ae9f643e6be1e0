"""Holds places that people name, points in degrees in one exact spelling, and released mean distances."""

import hashlib
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self

from mechanisms.check import ParameterError
from mechanisms.space import geojson
from mechanisms.space.geojson import PER_DEGREE, Corner

MOST_PLACES: Final = 12
MAGIC: Final = b"HZD1"
_ALLOWED: Final = f"GeoJSON with 1 to {MOST_PLACES} points, in degrees"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPlace:
    """Names a point on the globe. Errors: `ParameterError`."""

    name: str
    at: Corner

    def __post_init__(self) -> None:
        geojson.check_name("places", self.name)
        if not geojson.on_earth(self.at):
            raise ParameterError("places", f"“{self.name}”", _ALLOWED)

    @property
    def degrees(self) -> tuple[float, float]:
        """Returns (latitude, longitude)."""
        return self.at[1] / PER_DEGREE, self.at[0] / PER_DEGREE


@dataclass(frozen=True, slots=True)
class Places:
    """Holds up to `MOST_PLACES` places."""

    places: tuple[NamedPlace, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.places) <= MOST_PLACES:
            raise ParameterError("places", f"{len(self.places)} places", _ALLOWED)

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[NamedPlace]:
        return iter(self.places)

    @property
    def text(self) -> str:
        """Returns the one spelling, which `parse` reads back."""
        return json.dumps([[place.name, list(place.at)] for place in self.places], separators=(",", ":"))

    @classmethod
    def parse(cls, value: object) -> Self:
        """Reads GeoJSON, as text or as an object: a point, a feature or a collection of them; or `text`.

        A place is named by its property `name` or `title`. Errors: `ParameterError` naming `places`.
        """
        if isinstance(value, cls):
            return value
        places = geojson.read(
            "places", value, most=MOST_PLACES, allowed=_ALLOWED, of_pair=_place_of_text, of_feature=_place
        )
        return cls(places)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceDistances:
    """Holds released mean distances of all persons to places, and how far off they may be, in metres.

    Errors: ValueError for numbers that are no distances.
    """

    resolution: ClassVar[None] = None  # no cells
    places: Places
    distances_m: tuple[float, ...] = field(repr=False)
    standard_error_m: float  # of each, from public facts alone

    def __post_init__(self) -> None:
        numbers = (*self.distances_m, self.standard_error_m)
        if len(self.distances_m) != len(self.places):
            raise ValueError("a distance a place")
        if not all(math.isfinite(number) and number >= 0 for number in numbers):
            raise ValueError("distances and their error are finite and at least 0")

    def to_bytes(self) -> bytes:
        """Returns bytes, versioned and compressed; the same distances give the same bytes."""
        return geojson.packed(MAGIC, [self.places.text, list(self.distances_m), self.standard_error_m])

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads what `to_bytes` wrote. Errors: ValueError for anything else."""
        try:
            text, distances_m, standard_error_m = geojson.unpacked(MAGIC, data)
            return cls(
                places=Places.parse(text),
                distances_m=tuple(map(float, distances_m)),
                standard_error_m=float(standard_error_m),
            )
        except (zlib.error, TypeError, ValueError) as error:
            raise ValueError("the distances are damaged") from error

    @property
    def sha256(self) -> str:
        """Returns the hexadecimal digest of `to_bytes`."""
        return hashlib.sha256(self.to_bytes()).hexdigest()


def _place(feature: Mapping[str, Any], number: int) -> NamedPlace:
    geometry = feature["geometry"]
    if geometry["type"] != "Point":
        raise ValueError
    return NamedPlace(
        name=geojson.name_of(feature, f"Place {number}"), at=geojson.corner(*geometry["coordinates"])
    )


def _place_of_text(name: Any, at: Any) -> NamedPlace:
    lon, lat = at
    if type(lon) is not int or type(lat) is not int:
        raise TypeError
    return NamedPlace(name=name, at=(lon, lat))
