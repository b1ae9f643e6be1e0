"""Holds zones that people draw, named polygons in degrees in one exact spelling, and released shares."""

import hashlib
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

from mechanisms.check import ParameterError
from mechanisms.space import geojson
from mechanisms.space.geojson import PER_DEGREE, Corner

MOST_ZONES: Final = 12
MOST_CORNERS: Final = 1_000  # of all zones together
MAGIC: Final = b"HZZ1"
_POLYGONS: Final = f"GeoJSON with 1 to {MOST_ZONES} polygons without holes, in degrees"
_ALLOWED: Final = f"{_POLYGONS}, {MOST_CORNERS} corners at most in all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """Bounds a zone by a polygon, not closed: its last corner is joined to the first."""

    name: str
    corners: tuple[Corner, ...]

    def __post_init__(self) -> None:
        geojson.check_name("zones", self.name)
        if len(set(self.corners)) < 3 or not all(map(geojson.on_earth, self.corners)):
            raise ParameterError("zones", f"the corners of “{self.name}”", _ALLOWED)

    @property
    def degrees(self) -> list[tuple[float, float]]:
        """Returns (longitude, latitude) of each corner, closed."""
        corners = [(lon / PER_DEGREE, lat / PER_DEGREE) for lon, lat in self.corners]
        return [*corners, corners[0]]


@dataclass(frozen=True, slots=True)
class Zones:
    """Holds up to `MOST_ZONES` zones; they may overlap."""

    zones: tuple[Zone, ...]

    def __post_init__(self) -> None:
        corners = sum(len(zone.corners) for zone in self.zones)
        if not 1 <= len(self.zones) <= MOST_ZONES or corners > MOST_CORNERS:
            raise ParameterError("zones", f"{len(self.zones)} zones with {corners} corners", _ALLOWED)

    def __len__(self) -> int:
        return len(self.zones)

    def __iter__(self) -> Iterator[Zone]:
        return iter(self.zones)

    @property
    def text(self) -> str:
        """Returns the one spelling, which `parse` reads back."""
        body = [[zone.name, [list(corner) for corner in zone.corners]] for zone in self.zones]
        return json.dumps(body, separators=(",", ":"))

    @classmethod
    def parse(cls, value: object) -> Self:
        """Reads GeoJSON, as text or as an object: a polygon, a feature or a collection of them; or `text`.

        A zone is named by its property `name` or `title`. Errors: `ParameterError` naming `zones`.
        """
        if isinstance(value, cls):
            return value
        return cls(
            geojson.read(
                "zones", value, most=MOST_ZONES, allowed=_ALLOWED, of_pair=_zone_of_text, of_feature=_zone
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneShares:
    """Holds released shares of all persons in zones, each from 0 to 1, and how far off they may be.

    Errors: ValueError for numbers that are no shares.
    """

    resolution: ClassVar[None] = None  # no cells
    zones: Zones
    margin_m: Fraction  # over which a zone's edge falls off
    shares: tuple[float, ...] = field(repr=False)
    standard_error: float  # of each, from public facts alone

    def __post_init__(self) -> None:
        if len(self.shares) != len(self.zones) or not all(0 <= share <= 1 for share in self.shares):
            raise ValueError("a share a zone, each from 0 to 1")
        if not (math.isfinite(self.standard_error) and self.standard_error >= 0):
            raise ValueError("a standard error is finite and at least 0")

    def to_bytes(self) -> bytes:
        """Returns bytes, versioned and compressed; the same shares give the same bytes."""
        body = [self.zones.text, str(self.margin_m), list(self.shares), self.standard_error]
        return geojson.packed(MAGIC, body)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads what `to_bytes` wrote. Errors: ValueError for anything else."""
        try:
            text, margin_m, shares, standard_error = geojson.unpacked(MAGIC, data)
            return cls(
                zones=Zones.parse(text),
                margin_m=Fraction(margin_m),
                shares=tuple(map(float, shares)),
                standard_error=float(standard_error),
            )
        except (zlib.error, TypeError, ValueError) as error:
            raise ValueError("the shares are damaged") from error

    @property
    def sha256(self) -> str:
        """Returns the hexadecimal digest of `to_bytes`."""
        return hashlib.sha256(self.to_bytes()).hexdigest()


def _zone(feature: Mapping[str, Any], number: int) -> Zone:
    geometry = feature["geometry"]
    if geometry["type"] != "Polygon" or len(geometry["coordinates"]) != 1:
        raise ValueError
    ring = [geojson.corner(*place) for place in geometry["coordinates"][0]]
    if len(ring) > 1 and ring[0] == ring[-1]:
        ring.pop()
    return Zone(name=geojson.name_of(feature, f"Zone {number}"), corners=tuple(ring))


def _zone_of_text(name: Any, corners: Any) -> Zone:
    if not all(type(part) is int for corner in corners for part in corner):
        raise TypeError
    return Zone(name=name, corners=tuple((lon, lat) for lon, lat in corners))
