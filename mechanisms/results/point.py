"""Holds a released point."""

import hashlib
import math
import struct
from dataclasses import dataclass
from typing import ClassVar, Final, Self

MAGIC: Final = b"HZP1"
_BODY: Final = struct.Struct("<4d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Holds a released point in WGS84 degrees and how far off it may be, in metres, from public facts alone.

    Errors: ValueError for numbers that are not finite, off the globe or below 0.
    """

    resolution: ClassVar[None] = None  # no cells
    lat: float
    lon: float
    expected_m: float  # expected distance from the truth
    within_m: float  # distance that is kept with probability 95 %

    def __post_init__(self) -> None:
        numbers = (self.lat, self.lon, self.expected_m, self.within_m)
        if not all(isinstance(number, float) and math.isfinite(number) for number in numbers):
            raise ValueError("a point has finite numbers")
        if abs(self.lat) > 90 or abs(self.lon) > 180 or min(self.expected_m, self.within_m) < 0:
            raise ValueError("a point lies on the globe, and distances are at least 0")

    def to_bytes(self) -> bytes:
        """Returns bytes, versioned; the same point gives the same bytes."""
        return MAGIC + _BODY.pack(self.lat, self.lon, self.expected_m, self.within_m)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads the point that `to_bytes` wrote. Errors: ValueError for anything else."""
        if not data.startswith(MAGIC) or len(data) != len(MAGIC) + _BODY.size:
            raise ValueError("not a point of a known version")
        lat, lon, expected_m, within_m = _BODY.unpack_from(data, len(MAGIC))
        return cls(lat=lat, lon=lon, expected_m=expected_m, within_m=within_m)

    @property
    def sha256(self) -> str:
        """Returns the hexadecimal digest of `to_bytes`."""
        return hashlib.sha256(self.to_bytes()).hexdigest()
