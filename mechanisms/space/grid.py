"""Divides regions in degrees into quadtree cells with Morton codes."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanisms.check import ParameterError, in_range

FINEST_LEVEL: Final = 31  # 2^31 cells a side: 62-bit codes, below a millimetre in a region of 1,000 km
MIN_EXTENT_DEG: Final = 1e-4  # about 11 m; below it a finest cell is no longer wider than a float's step
EARTH_RADIUS_M: Final = 6_371_008.8  # of the sphere on which great-circle distances are taken

_EQUATOR_RADIUS_M = 6_378_137.0  # WGS84
_ECCENTRICITY_SQUARED = 0.00669437999014
_POLAR_AXIS = math.sqrt(1 - _ECCENTRICITY_SQUARED)  # 1 - f, of the equator's
_ROUNDING = 1e-9  # relative; far more than what the bounds on distances lose in floating point

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Region:
    """Holds a public rectangle in WGS84 degrees. Cells are half-open to the east and north; the region's own
    east and north border belongs to its last cells.

    Metres are those of a local equirectangular projection: WGS84 lengths of a degree at the middle
    latitude. `stretch` and `shrink` bound how far they are from geodesics: `stretch` is 1.005 for a box of
    100 km at 30° latitude, 1.025 for one of 300 km at 45° and 1.42 for one of 3,000 km there.
    Positional fields: west, south, east, north is the one order every box of this project is written in.
    """

    west: float
    south: float
    east: float
    north: float

    def __post_init__(self) -> None:
        for name, bound in (("west", 180.0), ("south", 90.0), ("east", 180.0), ("north", 90.0)):
            in_range(-bound, bound, **{name: getattr(self, name)})
            object.__setattr__(self, name, float(getattr(self, name)))
        if self.east <= self.west:
            raise ParameterError("east", self.east, f"above west ({self.west}); {_ANTIMERIDIAN}")
        if self.north <= self.south:
            raise ParameterError("north", self.north, f"above south ({self.south})")
        for name, extent in (("east", self.east - self.west), ("north", self.north - self.south)):
            if extent < MIN_EXTENT_DEG:
                low = self.west if name == "east" else self.south
                raise ParameterError(name, getattr(self, name), f"at least {low} + {MIN_EXTENT_DEG} degrees")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads the region of "west,south,east,north" in degrees. Errors: `ParameterError`."""
        parts = text.split(",") if len(text) <= 200 else []
        if len(parts) != 4 or not all(_DEGREES.fullmatch(part) for part in parts):
            raise ParameterError("bbox", text, "four decimal numbers west,south,east,north in degrees")
        return cls(*map(float, parts))

    def __iter__(self) -> Iterator[float]:
        return iter((self.west, self.south, self.east, self.north))

    @property
    def width_m(self) -> float:
        """Returns metres from west to east at the middle latitude."""
        return (self.east - self.west) * _degree_lengths_m(self._middle)[1]

    @property
    def height_m(self) -> float:
        """Returns metres from south to north."""
        return (self.north - self.south) * _degree_lengths_m(self._middle)[0]

    @property
    def diameter_m(self) -> float:
        """Returns the largest straight distance between two points of the region, in metres.

        A geodesic may be longer. Yet a loss that is claimed for so many metres on the ground covers any two
        places of the region: it is the one at `stretch` times as many in the projection, and `stretch` ≥ 1.
        """
        return math.hypot(self.width_m, self.height_m)

    @property
    def stretch(self) -> float:
        """Bounds projected distance / geodesic on WGS84 for any two places of the region, at least 1;
        infinite at a pole and from about 179.4 degrees of longitude on.

        Proof. Take a shortest geodesic between them. With reduced latitudes, tan β = (1 - f) tan φ, it is an
        arc of a great circle (Bessel 1825) whose longitudes differ by ω, and dλ = √(1 - e² cos² β) dω, so
        that ω ≤ Δλ / (1 - f). Where it is highest inside the arc, at β₀, tan β = tan β₀ · cos u at the
        longitude u from there. One of its ends has u ≤ ω/2, and no end is above the region's highest β:
        tan β₀ ≤ tan β / cos(ω/2). It comes no nearer to the equator than its ends, or crosses it. In the
        projection a step of it grows at most by the ratio of the parallels' radii a·cos β, in the middle and
        at β₀, or by that of the meridians' radii M, in the middle and nearest to the equator. The whole of
        it is no shorter there than the straight line. The second ratio is never the larger one: (log M)' is
        at most 3.1 e² tan φ, (-log cos β)' at least 0.99 tan φ, and the middle is as far from the highest
        latitude as from the other edge.
        """
        turn = math.radians(self.east - self.west) / _POLAR_AXIS  # ω at most
        highest = max(abs(self.south), abs(self.north))
        if turn >= math.pi or highest == 90:
            return math.inf
        apex = math.atan(_reduced_tangent(highest) / math.cos(turn / 2))
        return math.cos(math.atan(_reduced_tangent(self._middle))) / math.cos(apex) * (1 + _ROUNDING)

    @property
    def shrink(self) -> float:
        """Bounds geodesic / projected distance for any two places of the region, at least 1.

        The straight line between them stays in the region, and no geodesic is longer than it is on the
        ground: a step of it grows at most by the ratio of parallels where they are longest, or of meridians.
        """
        ours = _degree_lengths_m(self._middle)
        farthest = max(abs(self.south), abs(self.north))
        meridians = _degree_lengths_m(farthest)[0] / ours[0]
        return max(_degree_lengths_m(self._nearest_to_equator)[1] / ours[1], meridians) * (1 + _ROUNDING)

    def contains(self, lat: ArrayLike, lon: ArrayLike) -> NDArray[np.bool_]:
        """Tells which points (degrees) lie in the region, its whole border included; NaN does not."""
        y, x = np.asarray(lat, np.float64), np.asarray(lon, np.float64)
        return (x >= self.west) & (x <= self.east) & (y >= self.south) & (y <= self.north)

    def clamped(self, lat: ArrayLike, lon: ArrayLike) -> tuple[Floats, Floats]:
        """Returns latitudes and longitudes of points (degrees), each cut to the region by itself.

        A longitude goes to the border that is nearer around the earth, to the east one where both are as
        near: 179.9° W lies just east of a region that ends at 180°.
        """
        x = np.asarray(lon, np.float64)
        behind, ahead = self.west - x, x - self.east  # degrees outside, 0 or less on the inner side
        eastwards = np.where(behind > 0, 360 - (self.east - x) <= behind, ahead <= 360 - (x - self.west))
        outside = (behind > 0) | (ahead > 0)
        x = np.where(outside, np.where(eastwards, self.east, self.west), x)
        return np.clip(np.asarray(lat, np.float64), self.south, self.north), x

    def morton(self, lat: ArrayLike, lon: ArrayLike, level: int = FINEST_LEVEL) -> Codes:
        """Returns codes of the cells that hold the points (degrees), `clamped` to the region."""
        in_range(0, FINEST_LEVEL, level=level)
        y, x = self.clamped(lat, lon)
        columns = _index(x, self.west, self.east, level)
        return morton_encode(columns, _index(y, self.south, self.north, level), level)

    def cell_bounds(self, level: int, prefixes: ArrayLike) -> tuple[Floats, Floats, Floats, Floats]:
        """Returns west, south, east and north (degrees) of cells of one level, each shaped as `prefixes`."""
        x, y = morton_decode(prefixes, level)
        west, east = _edges(x, self.west, self.east, level)
        south, north = _edges(y, self.south, self.north, level)
        return west, south, east, north

    def to_metres(self, lat: ArrayLike, lon: ArrayLike) -> tuple[Floats, Floats]:
        """Returns (x, y) in metres east and north of the south-west corner."""
        north_m, east_m = _degree_lengths_m(self._middle)
        x = (np.asarray(lon, np.float64) - self.west) * east_m
        return x, (np.asarray(lat, np.float64) - self.south) * north_m

    @property
    def _middle(self) -> float:
        return (self.south + self.north) / 2

    @property
    def _nearest_to_equator(self) -> float:
        return min(max(0.0, self.south), self.north)


def morton_encode(x: ArrayLike, y: ArrayLike, level: int) -> Codes:
    """Returns codes of cells by column from the west and row from the south.

    y gives the higher bit of each pair.
    """
    columns, rows = _checked(x, 1 << level, "x"), _checked(y, 1 << level, "y")
    return (_spread(columns) | (_spread(rows) << np.uint64(1))).astype(np.int64)


def morton_decode(codes: ArrayLike, level: int) -> tuple[Codes, Codes]:
    """Returns (x, y) of codes: column from the west, row from the south."""
    bits = _checked(codes, 4**level, "codes")
    return _gather(bits).astype(np.int64), _gather(bits >> np.uint64(1)).astype(np.int64)


def parent(codes: ArrayLike, up: int = 1) -> Codes:
    """Returns codes of the cells that hold them, `up` levels coarser."""
    return np.asarray(codes, np.int64) >> (2 * up)


def children(codes: ArrayLike) -> Codes:
    """Returns the four cells of each code one level finer, in Morton order: shape `(4 · m,)` for `(m,)`."""
    first = np.asarray(codes, np.int64).reshape(-1, 1) << 2
    return (first + np.arange(4, dtype=np.int64)).ravel()


_ANTIMERIDIAN = "a box over the antimeridian (180°) must be split into one box on each side of it"
_DEGREES = re.compile(r" *[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})? *", re.ASCII)


def paint(grid: NDArray[Any], levels: NDArray[np.uint8], prefixes: Codes, values: NDArray[Any]) -> None:
    """Gives the cells of each square its value. grid: `(side, side)`, row 0 north, column 0 west."""
    for level in np.unique(levels).tolist():
        of_level = levels == level
        across, block = 1 << level, len(grid) >> level
        x, y = morton_decode(prefixes[of_level], level)
        blocks = grid.reshape(across, block, across, block)
        blocks[across - 1 - y, :, x, :] = values[of_level][:, np.newaxis, np.newaxis]


def _degree_lengths_m(latitude: float) -> tuple[float, float]:
    """Returns metres of a degree northwards (meridian) and eastwards (parallel) on WGS84."""
    phi = math.radians(latitude)
    w = 1 - _ECCENTRICITY_SQUARED * math.sin(phi) ** 2
    meridian = _EQUATOR_RADIUS_M * (1 - _ECCENTRICITY_SQUARED) / w**1.5
    parallel = _EQUATOR_RADIUS_M * math.cos(phi) / math.sqrt(w)
    return math.radians(meridian), math.radians(parallel)


def _reduced_tangent(latitude: float) -> float:
    """Returns tan β of a latitude in degrees."""
    return _POLAR_AXIS * math.tan(math.radians(latitude))


def _index(coordinate: Floats, low: float, high: float, level: int) -> Codes:
    """Returns the last cell of an axis whose lower edge is not above the coordinate, clamped to the axis."""
    count = 1 << level
    guess = np.floor((coordinate - low) / ((high - low) / count))
    index = np.fmax(np.fmin(guess, count - 1), 0).astype(np.int64)  # fmin, fmax: total even for NaN
    # The division may round across an edge, by one cell at most: the published edges decide.
    lower, upper = _edges(index, low, high, level)
    index += (coordinate >= upper) & (index < count - 1)
    index -= (coordinate < lower) & (index > 0)
    return index


def _edges(index: Codes, low: float, high: float, level: int) -> tuple[Floats, Floats]:
    """Returns lower and upper edges of cells of an axis."""
    # Dividing by 2^level is exact, so levels share their edges bit for bit.
    step = (high - low) / (1 << level)
    position = index.astype(np.float64)
    upper = np.where(index == (1 << level) - 1, high, low + (position + 1) * step)
    return low + position * step, upper


def _checked(values: ArrayLike, limit: int, name: str) -> NDArray[np.uint64]:
    array = np.asarray(values, np.int64)
    if array.size and (array.min() < 0 or array.max() >= limit):
        raise ParameterError(name, "outside the grid", f"0 to {limit - 1}")
    return array.astype(np.uint64)


# Masks that keep blocks of 16, 8, 4, 2 and 1 bits apart by their own width.
_MASKS = tuple(
    (np.uint64(shift), np.uint64(mask))
    for shift, mask in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    )
)

_LOW_HALF = (np.uint64(0), np.uint64(0x00000000FFFFFFFF))


def _spread(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Moves bit i to bit 2i."""
    for shift, mask in _MASKS:
        bits = (bits | (bits << shift)) & mask
    return bits


def _gather(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Moves bit 2i to bit i; drops odd bits."""
    bits = bits & _MASKS[-1][1]
    for (shift, _), (_, mask) in zip(reversed(_MASKS), [*reversed(_MASKS[:-1]), _LOW_HALF], strict=True):
        bits = (bits | (bits >> shift)) & mask
    return bits
