"""Cuts what is drawn into vector tiles, from the whole world down to the finest zoom."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import mapbox_vector_tile
import numpy as np
import shapely
from numpy.typing import NDArray

from heatmaps.maps.streets.extract import OsmFeatures, areas
from heatmaps.maps.streets.layers import FINEST_ZOOM, LAYERS

Tile = tuple[int, int, int]  # zoom, column from the west, row from the north

_UNITS: Final = 4_096  # along a tile's side
_AROUND: Final = 64  # units beyond a tile's border, so that no line ends visibly there
_PIXEL: Final = 8  # units, where a tile is drawn 512 pixels wide
_FIRST_NAMES: Final = 11  # of streets: further away nobody reads them
_POLYGONS: Final = (3, 6)  # shapely's numbers of types
_LINES: Final = (1, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Selects some of the features: their numbers, and their geometries as far as they are needed."""

    numbers: NDArray[np.int64]
    geometries: NDArray[Any]

    def within(self, box: tuple[float, float, float, float]) -> "_Part":
        west, south, east, north = shapely.bounds(self.geometries).T
        meets = (west <= box[2]) & (east >= box[0]) & (south <= box[3]) & (north >= box[1])
        holds = (west >= box[0]) & (south >= box[1]) & (east <= box[2]) & (north <= box[3])
        geometries = self.geometries.copy()
        indexes_to_cut = np.flatnonzero(meets & ~holds)
        geometries[indexes_to_cut] = shapely.clip_by_rect(geometries[indexes_to_cut], *box)
        indexes = np.flatnonzero(meets)
        indexes = indexes[~shapely.is_empty(geometries[indexes])]
        return _Part(numbers=self.numbers[indexes], geometries=geometries[indexes])


class Pyramid:
    """Cuts all tiles of some things; `tiles` gives those that hold anything."""

    def __init__(self, things: OsmFeatures) -> None:
        self._layers = np.array([LAYERS.index(name) for name in things.layers], dtype=np.int64)
        self._first_zooms = np.array(things.first_zooms, dtype=np.int64)
        self._properties = things.properties
        self._whole = _Part(
            numbers=np.arange(len(things.layers)),
            geometries=shapely.transform(np.array(things.geometries, dtype=object), _mercator),
        )

    def tiles(self) -> Iterator[tuple[Tile, bytes]]:
        yield from self._below((0, 0, 0), self._whole)

    def _below(self, tile: Tile, part: _Part) -> Iterator[tuple[Tile, bytes]]:
        if not part.numbers.size:
            return
        if content := self._encoded(tile, part):
            yield tile, content
        zoom, x, y = tile
        if zoom < FINEST_ZOOM:
            for child in ((zoom + 1, 2 * x + right, 2 * y + down) for right in (0, 1) for down in (0, 1)):
                yield from self._below(child, part.within(_box(child)))

    def _encoded(self, tile: Tile, part: _Part) -> bytes:
        """Encodes a tile; empty where nothing of it is large enough to be seen."""
        zoom = tile[0]
        visible = np.flatnonzero(self._first_zooms[part.numbers] <= zoom)
        geometries = _simplified(shapely.transform(part.geometries[visible], _units(tile)), zoom)
        numbers = part.numbers[visible]
        layers = []
        for layer, name in enumerate(LAYERS):
            own = np.flatnonzero((self._layers[numbers] == layer) & ~shapely.is_empty(geometries))
            features = self._features(numbers[own], geometries[own], zoom)
            if features:
                layers.append({"name": name, "features": features})
        if not layers:
            return b""
        return bytes(mapbox_vector_tile.encode(layers, default_options={"y_coord_down": True}))

    def _features(
        self, numbers: NDArray[np.int64], geometries: NDArray[Any], zoom: int
    ) -> list[dict[str, Any]]:
        """Returns lines of the same properties as one feature; everything else by itself."""
        features, lines = [], dict[tuple[Any, ...], list[Any]]()
        for number, geometry in zip(numbers.tolist(), geometries, strict=True):
            properties = self._properties[number]
            if geometry.geom_type.endswith("LineString"):
                line_properties = {
                    k: v for k, v in properties.items() if zoom >= _FIRST_NAMES or "name" not in k
                }
                lines.setdefault(tuple(line_properties.items()), []).append(geometry)
            else:
                shape = areas(geometry) if geometry.geom_type == "GeometryCollection" else geometry
                features.append({"geometry": shape, "properties": properties})
        for key, parts in lines.items():
            merged = shapely.line_merge(shapely.multilinestrings(shapely.get_parts(parts).tolist()))
            features.append({"geometry": merged, "properties": dict(key)})
        return features


def _simplified(geometries: NDArray[Any], zoom: int) -> NDArray[Any]:
    """Simplifies geometries for a zoom; what is smaller than a pixel or two is empty."""
    finest = zoom == FINEST_ZOOM
    types = shapely.get_type_id(geometries)
    areas, lines = np.isin(types, _POLYGONS), np.isin(types, _LINES)
    simplified = shapely.simplify(geometries, 1 if finest else _PIXEL / 2)
    least = 1 if finest else _PIXEL
    small = areas & (shapely.area(simplified) < 4 * least**2) | lines & (shapely.length(simplified) < least)
    return np.asarray(np.where(small, shapely.Point(), simplified), dtype=object)


def _mercator(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Projects degrees to a square of side 1, from the north-west."""
    lon, lat = points.T
    sine = np.sin(np.radians(np.clip(lat, -85.05, 85.05)))
    return np.column_stack((lon / 360 + 0.5, 0.5 - np.log((1 + sine) / (1 - sine)) / (4 * np.pi)))


def _box(tile: Tile) -> tuple[float, float, float, float]:
    zoom, x, y = tile
    side, around = 0.5**zoom, _AROUND / _UNITS
    return (x - around) * side, (y - around) * side, (x + 1 + around) * side, (y + 1 + around) * side


def _units(tile: Tile) -> Any:
    zoom, x, y = tile
    return lambda points: (points * 2**zoom - (x, y)) * _UNITS
