"""Draws where a region lies as an SVG of public facts: water, borders, place names and its rectangle."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from heatmaps.exports.scene import fitted, view_of
from heatmaps.maps import image
from heatmaps.maps.ground import ground_of
from heatmaps.places.whereabouts import places_in
from mechanisms.space.grid import Region

SIZE: Final = (900, 450)  # units of the picture; it is smaller where the earth ends
_AROUND: Final = 0.35  # of the extent of the region, on each side
_FINENESS: Final = 2  # of outlines: lattice points a unit
_MOST_NAMES: Final = 6
_LETTER, _LINE = 7.5, 20.0  # units that a name takes: a letter across, a line down
_FEWEST_POINTS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceName:
    name: str
    x: str
    y: str
    before: bool  # whether the name ends at the place, as it would not fit behind it


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """Holds paths in units of the picture; `box`: left, top, width and height of the region."""

    width: int
    height: int
    water: str
    borders: str
    box: tuple[str, str, str, str]
    names: tuple[PlaceName, ...]
    credit: str


def outline(region: Region) -> Outline:
    """Draws a picture of the region and its surroundings; of land alone where the ground is not installed."""
    frame = _Frame.around(region)
    ground: Any = ground_of(frame.view)
    left, top = frame.at(lat=region.north, lon=region.west)
    right, bottom = frame.at(lat=region.south, lon=region.east)
    return Outline(
        width=frame.width,
        height=frame.height,
        water="".join(path + "Z" for kind in ("sea", "lakes") for path in _paths(ground, kind, frame)),
        borders="".join(_paths(ground, "borders", frame)),
        box=(f"{left:.1f}", f"{top:.1f}", f"{right - left:.1f}", f"{bottom - top:.1f}"),
        names=tuple(_names(frame)),
        credit=ground.get("attribution", ""),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    view: Region
    width: int
    height: int

    @classmethod
    def around(cls, region: Region) -> Self:
        view = view_of(region, SIZE, around=_AROUND)
        width, height = fitted(view, SIZE)
        return cls(view=view, width=width, height=height)

    def at(self, *, lat: float, lon: float) -> tuple[float, float]:
        across, down = image.position(self.view, lat=lat, lon=lon)
        return across * self.width, down * self.height


def _paths(ground: Any, kind: str, frame: _Frame) -> Iterator[str]:
    """Yields paths one after the other, each as fine as can be seen."""
    for steps in ground.get(kind, []):
        lattice = np.cumsum(np.array(steps).reshape(-1, 2), axis=0)
        lon, lat = (lattice * ground["unit"] + ground["origin"]).T
        x, y = image.positions(frame.view, lat=lat, lon=lon)
        points = np.rint(np.column_stack((x * frame.width, y * frame.height)) * _FINENESS)
        points = points[np.append(True, np.any(np.diff(points, axis=0), axis=1))] / _FINENESS
        if len(points) >= (2 if kind == "borders" else _FEWEST_POINTS):
            yield "M" + " ".join(f"{across:g},{down:g}" for across, down in points.tolist())


def _names(frame: _Frame) -> Iterator[PlaceName]:
    """Yields the names of the most populous places; none over another."""
    occupied: list[tuple[float, float, float]] = []
    for place in places_in(frame.view, most=_MOST_NAMES):
        x, y = frame.at(lat=place.lat, lon=place.lon)
        width = _LETTER * len(place.name) + _LINE
        before = x + width > frame.width
        start = x - width if before else x
        if any(abs(y - other) < _LINE and start < to and start + width > at for at, to, other in occupied):
            continue
        occupied.append((start, start + width, y))
        yield PlaceName(name=place.name, x=f"{x:.1f}", y=f"{y:.1f}", before=before)
