"""Reads streets, water, land use, buildings and places from an OpenStreetMap extract (`.osm.pbf`)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np
import osmium
import shapely
from numpy.typing import NDArray

from heatmaps.maps.streets import layers
from heatmaps.maps.streets.layers import Properties, Sorted
from mechanisms.space.grid import Region

_CHUNK: Final = 100_000
_BESIDE: Final = 5e-7  # degrees


Outline = NDArray[np.float64]  # (n, 2), east and north


@dataclass(frozen=True, slots=True, kw_only=True)
class OsmFeatures:
    """Collects features in one order: layers, first zooms, properties, and geometries in degrees."""

    layers: list[str] = field(default_factory=list)
    first_zooms: list[int] = field(default_factory=list)
    properties: list[Properties] = field(default_factory=list)
    geometries: list[Any] = field(default_factory=list)

    def add(self, kind: Sorted, geometry: Any) -> None:
        self.layers.append(kind.layer)
        self.first_zooms.append(kind.first_zoom)
        self.properties.append(kind.properties)
        self.geometries.append(geometry)

    def pop_layer(self, layer: str) -> list[Any]:
        """Takes the geometries of a layer out of the features, and returns them."""
        own = [number for number, name in enumerate(self.layers) if name == layer]
        geometries = [self.geometries[number] for number in own]
        for number in reversed(own):
            for column in (self.layers, self.first_zooms, self.properties, self.geometries):
                del column[number]
        return geometries


def read(path: Path, region: Region, *, progress: Callable[[int], object]) -> OsmFeatures:
    """Reads what of the file lies in the region. `progress` takes how many features were read, now and then.

    Errors: RuntimeError for what is no OpenStreetMap file.
    """
    features = OsmFeatures()
    for number, (kind, geometry) in enumerate(_things(path), start=1):
        inside = None if geometry is None else shapely.clip_by_rect(geometry, *region)
        if inside is not None and not inside.is_empty:
            features.add(kind, inside)
        if number % _CHUNK == 0:
            progress(number)
    return features


def _things(path: Path) -> Iterator[tuple[Sorted, Any]]:
    keys = osmium.filter.KeyFilter(*layers.KEYS)
    factory = osmium.geom.WKBFactory()
    for osm_object in osmium.FileProcessor(str(path)).with_locations().with_areas().with_filter(keys):
        tags = dict(osm_object.tags)
        if osm_object.is_node():
            kind, shape = layers.of_point(tags), factory.create_point
        elif osm_object.is_way():
            kind, shape = layers.of_line(tags), _lines
        elif osm_object.is_area():
            kind, shape = layers.of_area(tags), factory.create_multipolygon
        else:
            continue
        if kind is not None:
            yield kind, _geometry(shape, osm_object)


def _geometry(shape: Any, osm_object: Any) -> Any:
    """Returns the geometry of an OpenStreetMap object; None where an extract cut off what it needs."""
    try:
        geometry = shape(osm_object)
    except (osmium.InvalidLocationError, RuntimeError):
        return None
    return shapely.from_wkb(geometry) if isinstance(geometry, str) else geometry


def _lines(way: Any) -> Any:
    """Returns the way without points that an extract cut off."""
    runs = groupby(way.nodes, key=lambda node: node.location.valid())
    paths = [[(node.lon, node.lat) for node in nodes] for is_there, nodes in runs if is_there]
    return shapely.MultiLineString([path for path in paths if len(path) > 1])


def sea_by_rings(region: Region, rings: Iterable[Outline]) -> Any:
    """Returns the sea: the area that an odd number of the sea's rings (degrees) is around."""
    parts = (shapely.make_valid(shapely.Polygon(ring)) for ring in rings)
    sea = reduce(shapely.symmetric_difference, parts, shapely.Polygon())
    return areas(shapely.intersection(sea, shapely.box(*region)))


def sea_by_coast(region: Region, lines: Sequence[Any]) -> Any:
    """Returns the sea: the area to the right of coastlines, as OpenStreetMap draws them.

    None where there are none, or where one ends inside the region: then land and sea are not parted.
    """
    edges = shapely.union_all([*lines, shapely.box(*region).boundary])
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(edges)))
    land, sea = (_faces_beside(faces, lines, side) for side in (-1, 1))
    if not lines or (land & sea).any():
        return None
    return areas(shapely.union_all(faces[sea]))


def _faces_beside(faces: NDArray[Any], lines: Sequence[Any], side: int) -> NDArray[np.bool_]:
    """Returns which of the faces lie on a side of a line: 1 for its right."""
    points = np.array([_beside(line, side) for line in shapely.get_parts(lines)]).reshape(-1, 2)
    return np.asarray(shapely.contains_xy(faces[:, np.newaxis], *points.T).any(axis=1))


def _beside(line: Any, side: int) -> NDArray[np.float64]:
    """Returns a point a few centimetres from the middle of its longest piece."""
    points = shapely.get_coordinates(line)
    steps = np.diff(points, axis=0)
    longest = int(np.argmax(np.hypot(*steps.T)))
    east, north = steps[longest]
    away = side * _BESIDE / np.hypot(east, north) * np.array([north, -east])
    return np.asarray(points[longest] + steps[longest] / 2 + away)


def areas(geometry: Any) -> Any:
    """Returns its polygons; lines and points are left where polygons touch themselves or a border."""
    parts = [part for part in _parts(geometry) if part.geom_type == "Polygon"]
    return parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)


def _parts(geometry: Any) -> Iterator[Any]:
    for part in getattr(geometry, "geoms", [geometry]):
        if part is geometry:
            yield part
        else:
            yield from _parts(part)
