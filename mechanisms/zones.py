"""Zones that people draw: named polygons in degrees, in one exact spelling; and released shares in them."""

import hashlib
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, Self, TypeAlias

from mechanisms.check import ParameterError, in_range

MOST_ZONES: Final = 12
MOST_CORNERS: Final = 1_000  # of all zones together
LONGEST_TEXT: Final = 200_000  # characters
LONGEST_NAME: Final = 60
MAGIC: Final = b"HZZ1"
PER_DEGREE: Final = 10**7  # corners are whole numbers of a ten-millionth of a degree, about a centimetre
# Standard errors that 95 % of draws keep: ln 20/√2 for Laplace noise, and no more for what falls off faster.
WITHIN_ERRORS: Final = 2.12
_LARGEST_RESULT: Final = 1_000_000
_POLYGONS: Final = f"GeoJSON with 1 to {MOST_ZONES} polygons without holes, in degrees"
_ALLOWED: Final = f"{_POLYGONS}, {MOST_CORNERS} corners at most in all"

Corner: TypeAlias = tuple[int, int]  # longitude, latitude


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """A polygon, not closed: its last corner is joined to the first."""

    name: str
    corners: tuple[Corner, ...]

    def __post_init__(self) -> None:
        if not (
            isinstance(self.name, str) and self.name.isprintable() and 1 <= len(self.name) <= LONGEST_NAME
        ):
            raise ParameterError("zones", "a name", f"names of 1 to {LONGEST_NAME} characters that print")
        if len(set(self.corners)) < 3 or not all(
            abs(lon) <= 180 * PER_DEGREE and abs(lat) <= 90 * PER_DEGREE for lon, lat in self.corners
        ):
            raise ParameterError("zones", f"the corners of “{self.name}”", _ALLOWED)

    @property
    def degrees(self) -> list[tuple[float, float]]:
        """(longitude, latitude) of each corner, closed."""
        found = [(lon / PER_DEGREE, lat / PER_DEGREE) for lon, lat in self.corners]
        return [*found, found[0]]


@dataclass(frozen=True, slots=True)
class Zones:
    """Up to `MOST_ZONES` zones; they may overlap."""

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
        """The one spelling, which `parse` reads back."""
        body = [[zone.name, [list(corner) for corner in zone.corners]] for zone in self.zones]
        return json.dumps(body, separators=(",", ":"))

    @classmethod
    def parse(cls, value: object) -> Self:
        """From GeoJSON, as text or as an object: a polygon, a feature or a collection of them; or `text`.

        A zone is named by its property `name` or `title`. Errors: `ParameterError` naming `zones`.
        """
        if isinstance(value, cls):
            return value
        try:
            body = json.loads(value) if isinstance(value, str) and len(value) <= LONGEST_TEXT else value
            if isinstance(body, list):
                return cls(tuple(_spelled(name, corners) for name, corners in body))
            found = [_zone(feature, place) for place, feature in enumerate(_features(body), start=1)]
        except (ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError("zones", "this text", _ALLOWED) from None
        return cls(tuple(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneShares:
    """Released shares of all persons in zones, each from 0 to 1, and how far off they may be.

    Errors: ValueError for numbers that are no shares.
    """

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
        """Versioned and compressed; the same shares give the same bytes."""
        body = [self.zones.text, str(self.margin_m), list(self.shares), self.standard_error]
        return MAGIC + zlib.compress(json.dumps(body).encode(), 6)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """What `to_bytes` wrote. Errors: ValueError for anything else."""
        try:
            stream = zlib.decompressobj()
            content = stream.decompress(data.removeprefix(MAGIC), _LARGEST_RESULT)
            if not stream.eof or stream.unused_data:
                raise ValueError("cut off, or followed by something")
            text, margin_m, shares, standard_error = json.loads(content)
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
        """Hexadecimal digest of `to_bytes`."""
        return hashlib.sha256(self.to_bytes()).hexdigest()


def _features(body: Any) -> Sequence[Mapping[str, Any]]:
    if body["type"] == "FeatureCollection":
        found: Sequence[Mapping[str, Any]] = body["features"]
        in_range(1, MOST_ZONES, zones=len(found))
        return found
    return [body if body["type"] == "Feature" else {"geometry": body}]


def _zone(feature: Mapping[str, Any], place: int) -> Zone:
    geometry, facts = feature["geometry"], feature.get("properties") or {}
    if geometry["type"] != "Polygon" or len(geometry["coordinates"]) != 1:
        raise ValueError
    ring = [_corner(lon, lat) for lon, lat, *_ in geometry["coordinates"][0]]
    if len(ring) > 1 and ring[0] == ring[-1]:
        ring.pop()
    name = facts.get("name") or facts.get("title") or f"Zone {place}"
    return Zone(name=str(name).strip(), corners=tuple(ring))


def _corner(lon: float, lat: float) -> Corner:
    if any(isinstance(degrees, bool) or not isinstance(degrees, int | float) for degrees in (lon, lat)):
        raise TypeError
    return round(lon * PER_DEGREE), round(lat * PER_DEGREE)


def _spelled(name: Any, corners: Any) -> Zone:
    if not all(type(part) is int for corner in corners for part in corner):
        raise TypeError
    return Zone(name=name, corners=tuple((lon, lat) for lon, lat in corners))
