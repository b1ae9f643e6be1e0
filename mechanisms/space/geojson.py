"""Reads GeoJSON of people into named zones and places in whole parts of a degree, and stored answers."""

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from mechanisms.check import ParameterError, in_range

LONGEST_TEXT: Final = 200_000  # characters
LONGEST_NAME: Final = 60
PER_DEGREE: Final = 10**7  # corners are whole numbers of a ten-millionth of a degree, about a centimetre
_LARGEST_RESULT: Final = 1_000_000
_MALFORMED: Final = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    RecursionError,
    OverflowError,
)

Corner: TypeAlias = tuple[int, int]  # longitude, latitude
Shape = TypeVar("Shape")


def read(
    parameter: str,
    value: object,
    *,
    most: int,
    allowed: str,
    of_pair: Callable[[Any, Any], Shape],
    of_feature: Callable[[Mapping[str, Any], int], Shape],
) -> tuple[Shape, ...]:
    """Reads GeoJSON, as text or as an object: a geometry, a feature or a collection; or the one spelling,
    a list of [name, content].

    of_pair: reads a name and its content; of_feature: reads a feature and its number.
    Errors: `ParameterError`.
    """
    try:
        body = json.loads(value) if isinstance(value, str) and len(value) <= LONGEST_TEXT else value
        if isinstance(body, list):
            return tuple(of_pair(name, content) for name, content in body)
        features = _features(body, parameter, most)
        return tuple(of_feature(feature, place) for place, feature in enumerate(features, start=1))
    except _MALFORMED as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(parameter, "this text", allowed) from None


def check_name(parameter: str, name: object) -> None:
    """Refuses what is no name of a shape. Errors: `ParameterError`."""
    if not (isinstance(name, str) and name.isprintable() and 1 <= len(name) <= LONGEST_NAME):
        raise ParameterError(parameter, "a name", f"names of 1 to {LONGEST_NAME} characters that print")


def on_earth(corner: Corner) -> bool:
    return abs(corner[0]) <= 180 * PER_DEGREE and abs(corner[1]) <= 90 * PER_DEGREE


def name_of(feature: Mapping[str, Any], otherwise: str) -> str:
    """Returns its property `name` or `title`, a text or a number. Errors: TypeError for anything else."""
    facts = feature.get("properties") or {}
    name = facts.get("name") or facts.get("title") or otherwise
    if not isinstance(name, str | int | float):
        raise TypeError
    return str(name).strip()


def corner(lon: float, lat: float, *_: float) -> Corner:
    """Returns a corner in whole parts of a degree. Errors: TypeError for what are no numbers."""
    if any(isinstance(degrees, bool) or not isinstance(degrees, int | float) for degrees in (lon, lat)):
        raise TypeError
    return round(lon * PER_DEGREE), round(lat * PER_DEGREE)


def packed(magic: bytes, body: object) -> bytes:
    """Compresses a body behind its version; the same body gives the same bytes."""
    return magic + zlib.compress(json.dumps(body).encode(), 6)


def unpacked(magic: bytes, data: bytes) -> Any:
    """Reads what `packed` wrote. Errors: ValueError, zlib.error for anything else."""
    stream = zlib.decompressobj()
    content = stream.decompress(data.removeprefix(magic), _LARGEST_RESULT)
    if not stream.eof or stream.unused_data:
        raise ValueError("cut off, or followed by something")
    return json.loads(content)


def _features(body: Any, parameter: str, most: int) -> Sequence[Mapping[str, Any]]:
    if body["type"] == "FeatureCollection":
        features: Sequence[Mapping[str, Any]] = body["features"]
        in_range(1, most, **{parameter: len(features)})
        return features
    return [body if body["type"] == "Feature" else {"geometry": body}]
