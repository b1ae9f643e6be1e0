"""Reads named polygons from GeoJSON (RFC 7946), for a child: whoever sends them is not trusted."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from mechanisms.check import ParameterError

MOST_AREAS: Final = 1_000
MOST_CORNERS: Final = 10_000  # in all
LONGEST_NAME: Final = 80  # characters; what is longer is cut
LONGEST_LON, LONGEST_LAT = 360.0, 90.0  # degrees, so that a polygon may cross the antimeridian
_PLACES: Final = 7  # of a degree: a centimetre
_LEAST_CORNERS: Final = 4  # of a ring, the first one again at its end
_NAMED: Final = ("name", "title", "label")  # properties that are taken where none is chosen
_MOST_LISTED: Final = 20  # properties in a refusal
_LARGEST: Final = 1 << 26  # bytes of a stored file before it is packed
_DEGREES: Final = ("urn:ogc:def:crs:OGC:1.3:CRS84", "urn:ogc:def:crs:EPSG::4326", "EPSG:4326")
ALLOWED: Final = "a GeoJSON FeatureCollection, Feature, Polygon or MultiPolygon, in UTF-8"
_FEWER: Final = (
    f"at most {MOST_CORNERS:,} corners in all; simplify the borders first, for example with mapshaper"
)
_RING: Final = f"each ring of at least {_LEAST_CORNERS} corners [longitude, latitude] in degrees"
_POLYGONS: Final = f"Polygon and MultiPolygon, {_RING}"

Corner: TypeAlias = tuple[float, float]  # longitude, latitude
Polygons: TypeAlias = list[list[list[Corner]]]  # of each polygon its rings, the first one outside


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """Holds a name and polygons; what lies inside is decided by the even-odd rule over all rings."""

    name: str
    polygons: Polygons

    @property
    def corners(self) -> int:
        return sum(len(ring) for rings in self.polygons for ring in rings)

    @property
    def feature(self) -> dict[str, object]:
        geometry = {"type": "MultiPolygon", "coordinates": self.polygons}
        return {"type": "Feature", "properties": {"name": self.name}, "geometry": geometry}


def read(content: bytes, *, name_property: str = "", field: str = "file") -> list[Area]:
    """Reads the areas of GeoJSON, at most `MOST_AREAS` with `MOST_CORNERS` corners in all.

    name_property: which property has the names; empty: name, title or label, else areas are numbered.
    Errors: `ParameterError` naming `field` or `name_property`.
    """
    areas, corners = [], 0
    for number, feature in enumerate(_features(_parsed(content, field), field), start=1):
        name = _name(feature, number, name_property)
        areas.append(Area(name=name, polygons=_polygons(feature, f"feature {number} ({name})", field)))
        corners += areas[-1].corners
        if corners > MOST_CORNERS:
            raise ParameterError(field, f"more than {MOST_CORNERS:,} corners", _FEWER)
    return areas


def merged_by_name(areas: Iterable[Area]) -> list[Area]:
    """Merges areas of one name, in the order in which names come first: islands of a district, say."""
    by_name: dict[str, Polygons] = {}
    for area in areas:
        by_name.setdefault(area.name, []).extend(area.polygons)
    return [Area(name=name, polygons=polygons) for name, polygons in by_name.items()]


def to_geojson(areas: Sequence[Area]) -> bytes:
    """Returns areas as GeoJSON of names and polygons alone."""
    collection = {"type": "FeatureCollection", "features": [area.feature for area in areas]}
    return json.dumps(collection, ensure_ascii=False, separators=(",", ":")).encode()


def packed(content: bytes) -> bytes:
    """Packs GeoJSON as it is stored."""
    return zlib.compress(content, 6)


def unpacked(content: bytes) -> bytes:
    """Unpacks GeoJSON that was stored."""
    return zlib.decompressobj().decompress(content, _LARGEST)


def _parsed(content: bytes, field: str) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise ParameterError(field, "this text", ALLOWED) from None


def _no_number(_text: str) -> None:
    raise ValueError("NaN and infinities are no JSON")


def _features(body: Any, field: str) -> list[Any]:
    if not isinstance(body, Mapping):
        raise ParameterError(field, "this text", ALLOWED)
    _check_degrees(body, field)
    if body.get("type") != "FeatureCollection":
        return [body if body.get("type") == "Feature" else {"geometry": body}]
    features = body.get("features")
    if not isinstance(features, list) or not 1 <= len(features) <= MOST_AREAS:
        count = f"{len(features):,} features" if isinstance(features, list) else "no list of features"
        raise ParameterError(field, count, f"1 to {MOST_AREAS:,} features")
    return features


def _check_degrees(body: Mapping[str, Any], field: str) -> None:
    """Refuses other coordinates than degrees: files of before RFC 7946 may name another coordinate system."""
    match body.get("crs"):
        case {"properties": {"name": str(name)}} if name not in _DEGREES:
            raise ParameterError(field, f"coordinates in {name}", "longitude and latitude in degrees (WGS84)")


def _name(feature: Any, number: int, name_property: str) -> str:
    facts = feature.get("properties") if isinstance(feature, Mapping) else None
    facts = facts if isinstance(facts, Mapping) else {}
    key = name_property or next((key for key in facts if key.lower() in _NAMED), "")
    value = facts.get(key)
    is_named = isinstance(value, str | int | float) and not isinstance(value, bool)
    text = "".join(filter(str.isprintable, " ".join(str(value).split()))) if is_named else ""
    if name_property and not text:
        raise ParameterError("name_property", name_property, _offered(facts, number))
    return text[:LONGEST_NAME] or f"Area {number}"


def _offered(facts: Mapping[str, Any], number: int) -> str:
    names = [
        key for key, value in facts.items() if isinstance(value, str | int | float) and key.isprintable()
    ]
    listed = ", ".join(key[:LONGEST_NAME] for key in names[:_MOST_LISTED])
    return f"a property with a text or a number in every feature; feature {number} has {listed or 'none'}"


def _polygons(feature: Any, subject: str, field: str) -> Polygons:
    geometry = feature.get("geometry") if isinstance(feature, Mapping) else None
    match geometry:
        case {"type": "Polygon", "coordinates": list(rings)}:
            polygons = [rings]
        case {"type": "MultiPolygon", "coordinates": list(found)} if found:
            polygons = found
        case {"type": str(kind)}:
            raise ParameterError(field, f"the {kind[:20]} of {subject}", _POLYGONS)
        case _:
            raise ParameterError(field, f"the geometry of {subject}", _POLYGONS)
    if not all(isinstance(rings, list) and rings for rings in polygons):
        raise ParameterError(field, f"the polygon of {subject}", _POLYGONS)
    return [[list(_ring(ring, subject, field)) for ring in rings] for rings in polygons]


def _ring(ring: Any, subject: str, field: str) -> Iterator[Corner]:
    """Returns its corners, the first one again at the end."""
    if not isinstance(ring, list) or len(ring) < _LEAST_CORNERS:
        raise ParameterError(field, f"a ring of {subject}", _POLYGONS)
    corners = [_corner(corner, subject, field) for corner in ring]
    yield from corners
    if corners[0] != corners[-1]:
        yield corners[0]


def _corner(corner: Any, subject: str, field: str) -> Corner:
    if not isinstance(corner, list) or len(corner) < 2 or not all(map(_is_number, corner[:2])):
        raise ParameterError(field, f"a corner of {subject}", _POLYGONS)
    lon, lat = corner[:2]
    if abs(lon) > LONGEST_LON or abs(lat) > LONGEST_LAT:
        allowed = "longitude within 360 and latitude within 90 degrees; files in metres are converted first"
        raise ParameterError(field, f"a corner of {subject} at {str(lon)[:12]}, {str(lat)[:12]}", allowed)
    return round(float(lon), _PLACES), round(float(lat), _PLACES)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
