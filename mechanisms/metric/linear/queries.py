"""Defines queries that are means over a record's check-ins, and how far a metre can move the answer.

A query is f: place → ℝᵈ; a record's answer is the mean of f over its check-ins. Where f is ℓ-Lipschitz from
metres on the ground to the Euclidean norm, so is the answer from earth mover's metres (Theorem 4.1 of Imola
et al. 2024). ℓ is computed from the query's own parameters, rounded up, never declared.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mechanisms.candidate_net import Plane
from mechanisms.check import ParameterError, in_range
from mechanisms.space.grid import EARTH_RADIUS_M, Region

SMALLEST_CURVATURE_M: Final = 6_335_439  # of WGS84's meridians at the equator, rounded down
SPHERE_STRETCH: Final = Fraction(63_710_088, 10 * SMALLEST_CURVATURE_M)
MOST_ANSWERS: Final = 12
MOST_CORNERS: Final = 10_000
_UP: Final = Fraction(1, 10**9)  # covers the rounding of what floats said

Floats: TypeAlias = NDArray[np.float64]
Ring: TypeAlias = tuple[tuple[float, float], ...]


class LinearQuery(Protocol):
    """Asks a linear question: a frozen value of public parameters."""

    @property
    def dimensions(self) -> int:
        """Returns d: numbers in an answer."""
        ...

    @property
    def lipschitz_per_m(self) -> Fraction:
        """Returns ℓ, rounded up: how far, in the Euclidean norm, a metre on the ground moves f at most."""
        ...

    @property
    def diameter(self) -> Fraction:
        """Returns the largest distance of two answers, in the Euclidean norm; rounded up."""
        ...

    def values(self, lat: Floats, lon: Floats) -> Floats:
        """Returns `(m, d)` f of m places in degrees; places outside the region count as on its border."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanLocation:
    """Returns metres east and north of the region's south-western corner, in its projection."""

    region: Region

    @property
    def dimensions(self) -> int:
        return 2

    @property
    def lipschitz_per_m(self) -> Fraction:
        return Plane(self.region).stretch

    @property
    def diameter(self) -> Fraction:
        return Fraction(Plane(self.region).diameter_um, 10**6)

    def values(self, lat: Floats, lon: Floats) -> Floats:
        return _projected(self.region, lat, lon)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanDistance:
    """Measures great-circle distances in metres to given places (latitude, longitude in degrees).

    By the triangle inequality each is 1-Lipschitz in great circles, d of them √d together; a great circle
    of the sphere is at most `SPHERE_STRETCH` times as long as the geodesic on the ground.
    """

    places: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        in_range(1, MOST_ANSWERS, places=len(self.places))
        for lat, lon in self.places:
            in_range(-90, 90, latitude=lat)
            in_range(-180, 180, longitude=lon)

    @property
    def dimensions(self) -> int:
        return len(self.places)

    @property
    def lipschitz_per_m(self) -> Fraction:
        return SPHERE_STRETCH * root_up(len(self.places))

    @property
    def diameter(self) -> Fraction:
        return root_up(len(self.places)) * Fraction(math.pi * EARTH_RADIUS_M) * (1 + _UP)

    def values(self, lat: Floats, lon: Floats) -> Floats:
        columns = [great_circle_m(lat, lon, *place) for place in self.places]
        return np.stack(columns, axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionFractions:
    """Measures shares of check-ins in some areas with soft edges: 1 inside, falling to 0 over `margin_m`.

    An area is a ring of corners (east, north) in metres of the region's projection. f of one area falls by
    1/margin a metre. Of several, only those change that are nearer than the margin: at most as many as there
    are areas within two margins of one of them.
    """

    region: Region
    rings: tuple[Ring, ...]
    margin_m: Fraction

    def __post_init__(self) -> None:
        in_range(1, MOST_ANSWERS, areas=len(self.rings))
        if not isinstance(self.margin_m, Fraction) or self.margin_m <= 0:
            raise ParameterError("margin_m", self.margin_m, "an exact number of metres above 0")
        for ring in self.rings:
            if not 3 <= len(ring) <= MOST_CORNERS or not np.isfinite(np.array(ring)).all():
                raise ParameterError("area", f"{len(ring)} corners", f"3 to {MOST_CORNERS} finite corners")

    @classmethod
    def of_rings(
        cls, region: Region, rings: Sequence[Sequence[tuple[float, float]]], *, margin_m: Fraction
    ) -> Self:
        """Returns the query of rings of corners (latitude, longitude) in degrees."""
        projected = []
        for ring in rings:
            corners = _plane(region, *np.array(ring, np.float64).T)
            projected.append(tuple((float(x), float(y)) for x, y in corners))
        return cls(region=region, rings=tuple(projected), margin_m=margin_m)

    @property
    def dimensions(self) -> int:
        return len(self.rings)

    @property
    def lipschitz_per_m(self) -> Fraction:
        return Plane(self.region).stretch * root_up(self.together) / self.margin_m

    @property
    def diameter(self) -> Fraction:
        return root_up(len(self.rings))

    def values(self, lat: Floats, lon: Floats) -> Floats:
        points = _projected(self.region, lat, lon)
        return np.stack([self._value(points, np.array(ring)) for ring in self.rings], axis=1)

    def _value(self, points: Floats, ring: Floats) -> Floats:
        """Returns `(m,)` values of one area; 0 without a look at its sides
        where a point is far from its box.
        """
        margin_m = float(self.margin_m)
        low, high = ring.min(axis=0) - margin_m, ring.max(axis=0) + margin_m
        near = ((points >= low) & (points <= high)).all(axis=1)
        values = np.zeros(len(points))
        values[near] = np.clip(1 - _outside_m(points[near], ring) / margin_m, 0, 1)
        return values

    @property
    def reach_m(self) -> Fraction:
        """Returns metres of the projection over which one number falls from 1 to 0."""
        return self.margin_m

    @property
    def together(self) -> int:
        """Returns the most areas whose values may be above 0, or change, at one place: those whose boxes lie
        within two margins of each other."""
        boxes = np.array([[*np.min(ring, axis=0), *np.max(ring, axis=0)] for ring in self.rings])
        low, high = boxes[:, :2], boxes[:, 2:]
        gaps = np.maximum(0, np.maximum(low[:, None] - high[None], low[None] - high[:, None]))
        near = np.hypot(*np.moveaxis(gaps, -1, 0)) <= 2 * float(self.margin_m) * (1 + 1e-9)
        return int(near.sum(axis=1).max())


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionDistances:
    """Measures straight distances in a region's projection to places (latitude, longitude) in it.

    They are parts of its diameter; the mean of check-ins' values is thus from 0 to 1.

    By the triangle inequality each is 1-Lipschitz in metres of the projection, before the division. Towards
    or away from places that lie in one direction all change at once, so that no k below d will do.
    """

    region: Region
    places: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        in_range(1, MOST_ANSWERS, places=len(self.places))
        for lat, lon in self.places:
            if not self.region.contains(lat, lon):
                raise ParameterError("places", f"{lat}, {lon}", "places in the dataset's region")

    @property
    def dimensions(self) -> int:
        return len(self.places)

    @property
    def together(self) -> int:
        return len(self.places)

    @property
    def reach_m(self) -> Fraction:
        return Fraction(Plane(self.region).diameter_um, 10**6)

    @property
    def lipschitz_per_m(self) -> Fraction:
        return Plane(self.region).stretch * root_up(self.together) / self.reach_m

    @property
    def diameter(self) -> Fraction:
        return root_up(self.dimensions)

    def values(self, lat: Floats, lon: Floats) -> Floats:
        points = _projected(self.region, lat, lon)
        places = _plane(self.region, *np.array(self.places, np.float64).T)
        apart = points[:, np.newaxis] - places
        return np.clip(np.hypot(apart[..., 0], apart[..., 1]) / float(self.reach_m), 0, 1)


def great_circle_m(lat: Floats, lon: Floats, place_lat: float, place_lon: float) -> Floats:
    """Returns `(m,)` metres on the sphere, by the haversine formula."""
    phi, place_phi = np.radians(lat), math.radians(place_lat)
    turn = np.radians(lon - place_lon)
    half = np.sin((phi - place_phi) / 2) ** 2 + np.cos(phi) * math.cos(place_phi) * np.sin(turn / 2) ** 2
    return np.asarray(2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(np.clip(half, 0, 1))))


def root_up(count: int) -> Fraction:
    """Returns √count, rounded up; exact for squares."""
    root = math.isqrt(count)
    return Fraction(root) if root * root == count else Fraction(math.isqrt(count << 80) + 1, 1 << 40)


def _projected(region: Region, lat: Floats, lon: Floats) -> Floats:
    """Returns `(m, 2)` metres, of places clamped to the region."""
    return _plane(region, *region.clamped(lat, lon))


def _plane(region: Region, lat: Floats, lon: Floats) -> Floats:
    east = (np.asarray(lon) - region.west) / (region.east - region.west) * region.width_m
    north = (np.asarray(lat) - region.south) / (region.north - region.south) * region.height_m
    return np.stack([east, north], axis=1)


def _outside_m(points: Floats, ring: Floats) -> Floats:
    """Returns `(m,)` distance to an area, 0 inside (even-odd rule)."""
    start, end = ring, np.roll(ring, -1, axis=0)
    nearest, inside = np.full(len(points), np.inf), np.zeros(len(points), np.bool_)
    for (x0, y0), (x1, y1) in zip(start.tolist(), end.tolist(), strict=True):
        along, across = x1 - x0, y1 - y0
        length = along**2 + across**2
        x, y = points[:, 0] - x0, points[:, 1] - y0
        part = np.clip((x * along + y * across) / length, 0, 1) if length else np.zeros(len(points))
        nearest = np.minimum(nearest, np.hypot(x - part * along, y - part * across))
        crosses = (y0 > points[:, 1]) != (y1 > points[:, 1])
        if across:
            inside ^= crosses & (x < y / across * along)
    return np.where(inside, 0.0, nearest)
