"""Finds where on a map a country's name stands: in its widest part."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from heatmaps.maps.ground.shapes import UNITS, Box

_SHORTER: Final = {"United States of America": "United States"}
_PARALLELS: Final = 24  # on which a country is measured

Ring = NDArray[np.float64]  # (points, 2): longitude, latitude; it ends where it begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Country:
    """Holds a name, and the middle and width of the country there, in degrees."""

    name: str
    lat: float
    lon: float
    width: float

    @classmethod
    def of(cls, name: str, rings: list[Ring]) -> Self:
        """Makes a country of its rings. rings: outlines without holes; the name stands in the largest."""
        ring = max(rings, key=_size)
        middle = (ring[:, 1].min() + ring[:, 1].max()) / 2
        half = (ring[:, 1].max() - ring[:, 1].min()) / 2
        # Where it is broad, and rather in the middle than at an end.
        width, lon, lat = max(_spans(ring), key=lambda span: span[0] * (1 - ((span[2] - middle) / half) ** 2))
        return cls(name=name, lat=round(lat, 2), lon=round((lon + 540) % 360 - 180, 2), width=round(width, 2))

    def is_in(self, box: Box) -> bool:
        return box[0] <= self.lon * UNITS <= box[2] and box[1] <= self.lat * UNITS <= box[3]


def countries_of(topology: dict[str, Any]) -> list[Country]:
    """Returns every country of a world-atlas file but that around a pole, the widest first."""
    scale, origin = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs = [np.cumsum(arc, axis=0) * scale + origin for arc in topology["arcs"]]
    names_and_rings = [
        (_name(shape), [_ring(outer, arcs) for outer in _outer_rings(shape)])
        for shape in topology["objects"]["countries"]["geometries"]
    ]
    countries = [Country.of(name, rings) for name, rings in names_and_rings if all(map(_is_closed, rings))]
    return sorted(countries, key=lambda country: -country.width)


def _name(shape: dict[str, Any]) -> str:
    name: str = shape["properties"]["name"]
    return _SHORTER.get(name, name)


def _outer_rings(shape: dict[str, Any]) -> list[list[int]]:
    """Returns numbers of the arcs of each."""
    polygons = [shape["arcs"]] if shape["type"] == "Polygon" else shape["arcs"]
    return [polygon[0] for polygon in polygons]


def _ring(numbers: list[int], arcs: list[Ring]) -> Ring:
    """Joins a ring's arcs; across the antimeridian longitudes go on.

    A negative number is its complement's arc, backwards.
    """
    ring = np.concatenate([arcs[number] if number >= 0 else arcs[~number][::-1] for number in numbers])
    return np.column_stack((np.unwrap(ring[:, 0], period=360), ring[:, 1]))


def _is_closed(ring: Ring) -> bool:
    return abs(float(ring[0, 0] - ring[-1, 0])) < 180


def _size(ring: Ring) -> float:
    """Returns its area, in square degrees of the equator, nearly."""
    x, y = ring.T
    return abs(float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))) * math.cos(math.radians(float(y.mean())))


def _spans(ring: Ring) -> Iterator[tuple[float, float, float]]:
    """Yields (width, middle longitude, latitude) of what lies inside on each parallel."""
    (x1, y1), (x2, y2) = ring[:-1].T, ring[1:].T
    for lat in np.linspace(y1.min(), y1.max(), 2 * _PARALLELS + 1)[1::2].tolist():
        crosses = (y1 > lat) != (y2 > lat)
        x = np.sort((x1 + (lat - y1) / np.where(crosses, y2 - y1, 1) * (x2 - x1))[crosses])
        for west, east in zip(x[::2].tolist(), x[1::2].tolist(), strict=True):
            yield east - west, (west + east) / 2, lat
