"""Lays a square lattice over a region: what a move in metres becomes in steps, where a sum of steps lies."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from mechanisms.candidate_net import MICRO, Plane
from mechanisms.check import ParameterError
from mechanisms.records.means import PARTS, RecordMeans
from mechanisms.shuffle.protocol import LARGEST_DOMAIN
from mechanisms.space.grid import Region

ROOT_TWO: Final = Fraction(14142135623731, 10**13)  # above √2


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisLattice:
    """Counts squares of `cell_m` metres in the region's projection from its west and south borders."""

    region: Region
    cell_m: Fraction

    def __post_init__(self) -> None:
        if max(self.domains) > LARGEST_DOMAIN or min(self.domains) < 1:
            allowed = f"at least {float(self.smallest_cell_m(self.region)):.6g} in this region"
            raise ParameterError("cell_m", float(self.cell_m), allowed)

    @staticmethod
    def smallest_cell_m(region: Region) -> Fraction:
        """Returns the smallest square that `LARGEST_DOMAIN` of them still cover."""
        plane = Plane(region)
        return Fraction(max(plane.width_um, plane.height_um), MICRO * LARGEST_DOMAIN)

    @property
    def domains(self) -> tuple[int, int]:
        """Returns k on each axis: persons' values go from 0 to k."""
        plane = Plane(self.region)
        return (math.ceil(plane.width_um / self._cell_um), math.ceil(plane.height_um / self._cell_um))

    @property
    def _cell_um(self) -> Fraction:
        return self.cell_m * MICRO

    @property
    def offset_m(self) -> Fraction:
        """Returns the most that rounding means and sums adds to a move on the ground.

        A sum that moves by a squares on an axis moves by at most ⌈a⌉ once rounded: by less than one more on
        each axis, √2 squares in all.
        """
        plane = Plane(self.region)
        return (ROOT_TWO * self.cell_m + Fraction(plane.rounding_um, MICRO)) / plane.stretch

    @property
    def steps_per_m(self) -> Fraction:
        """Returns squares a metre on the ground, at most."""
        return Plane(self.region).stretch / self.cell_m

    def steps(self, radius_m: Fraction) -> Fraction:
        """Returns squares that a move of `radius_m` on the ground covers at most, before sums are rounded."""
        plane = Plane(self.region)
        return (radius_m * MICRO * plane.stretch + plane.rounding_um) / self._cell_um

    def sums(self, means: RecordMeans) -> tuple[int, int]:
        """Returns persons' values summed on each axis, to the nearest whole number; each within 0 … n·k.

        As if every person's mean had been rounded so that the sum is kept: what is published depends on the
        sum alone.
        """
        plane = Plane(self.region)
        by = PARTS * self._cell_um
        across, along = means.x * plane.width_um / by, means.y * plane.height_um / by
        limits = (means.persons * k for k in self.domains)
        rounded = (math.floor(value + Fraction(1, 2)) for value in (across, along))
        across_sum, along_sum = (min(most, value) for most, value in zip(limits, rounded, strict=True))
        return across_sum, along_sum

    def place(self, across: Fraction, along: Fraction) -> tuple[float, float]:
        """Returns (latitude, longitude) of a place in squares from the south-west corner,
        moved into the region.
        """
        plane, box = Plane(self.region), self.region
        x = min(1.0, max(0.0, float(across * self._cell_um / plane.width_um)))
        y = min(1.0, max(0.0, float(along * self._cell_um / plane.height_um)))
        lat = min(box.north, box.south + (box.north - box.south) * y)
        return lat, min(box.east, box.west + (box.east - box.west) * x)
