"""Plans central points of devices: what the protocols of `mechanisms.shuffle.centroid` are to a round."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar

import numpy as np

from mechanisms.candidate_net import MICRO, Plane
from mechanisms.check import ParameterError
from mechanisms.devices.plan import Influence, Json, Kind, Messages, check_reports, in_parts
from mechanisms.devices.several import several
from mechanisms.expected_error import PointError
from mechanisms.guarantee import Guarantee, Trust
from mechanisms.results.point import Point
from mechanisms.shuffle.lattice import AxisLattice
from mechanisms.shuffle.shuffled_centroid import ShuffledCentroid

_QUANTITY = (
    "Expected distance between the released point and the mean of all reported places; with probability 95 % "
    "it is at most the second distance."
)
_ASSUMPTIONS = (
    "Every report is honest. Distances are those of the region's projection; half a square on each axis is "
    "counted for rounding places to squares, which everybody's places may do in the same direction."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BitsPlan(ABC):
    """Plans a place as two whole numbers of squares, each sent as bits that are all shuffled; a base.

    Guarantee: that of the mechanism on devices. A device rounds its own place where the stored mechanism
    rounds a sum: a place that moves by a squares on an axis moves by at most ⌈a⌉ once rounded, less than one
    more on each axis, √2 squares in all, which `offset_m` holds (`mechanisms.shuffle.lattice`).
    Edge cases: what is no bit of an axis is left out; the point is moved into the region.
    """

    trust: ClassVar[Trust] = Trust.SHUFFLE
    kind: ClassVar[Kind] = "centroid"
    resolution: ClassVar[None] = None
    message_bytes: ClassVar[int] = 1
    most_reports: int

    @property
    @abstractmethod
    def mechanism(self) -> ShuffledCentroid: ...

    @property
    @abstractmethod
    def messages(self) -> int: ...

    @property
    @abstractmethod
    def per_report(self) -> Guarantee: ...

    @property
    def name(self) -> str:
        return self.mechanism.name

    def guarantee(self, reports: int) -> Guarantee:
        return several(self.per_report, reports, diameter_m=self.mechanism.region.diameter_m)

    def expected_error(self, reports: int) -> PointError:
        check_reports(reports, self.most_reports)
        rounding_m = float(self.mechanism.cell_m) / math.sqrt(2)
        farthest_m = self.mechanism.region.diameter_m
        expected, within = (
            min(steps * float(self.mechanism.cell_m) / reports + rounding_m, farthest_m)
            for steps in self._noise_length(reports)
        )
        return PointError(expected_m=expected, within_m=within, quantity=_QUANTITY, assumptions=_ASSUMPTIONS)

    def analyse(self, messages: Messages, reports: int) -> Point:
        check_reports(reports, self.most_reports)
        counted = np.zeros(256, np.int64)
        for part in in_parts(messages):
            counted += np.bincount(part.ravel(), minlength=256)
        across, along = (
            self._squares(axis, Fraction(int(counted[2 * axis + 1])), reports) / reports for axis in (0, 1)
        )
        lat, lon = self.mechanism.lattice.place(across, along)
        error = self.expected_error(reports)
        return Point(lat=lat, lon=lon, expected_m=error.expected_m, within_m=error.within_m)

    def influence(self, dishonest: int, reports: int) -> Influence:
        """Bounds what dishonest devices can do: each has `messages` bits,
        and may send all of them as ones of one axis.
        """
        check_reports(reports, self.most_reports)
        ends = [(0, 0), (self.messages, 0), (0, self.messages)]
        corners = product((0, self._domains[0]), (0, self._domains[1]))
        farthest = max(
            math.hypot(*(float(self._squares(axis, Fraction(ones[axis]), 1)) - true[axis] for axis in (0, 1)))
            for ones, true in product(ends, list(corners))
        )
        moved_m = dishonest * farthest * float(self.mechanism.cell_m) / reports
        limit_m = min(moved_m, self.mechanism.region.diameter_m)
        return Influence(
            number=limit_m,
            unit="metres",
            sentence="Devices that send other bits than the protocol asks for can move the point by at most "
            "this distance.",
        )

    @property
    def _domains(self) -> tuple[int, int]:
        return self.mechanism.lattice.domains

    @property
    def _places(self) -> dict[str, Json]:
        """Returns the facts that turn a place into squares."""
        return places_of(self.mechanism.lattice)

    @abstractmethod
    def _squares(self, axis: int, ones: Fraction, reports: int) -> Fraction:
        """Returns the unbiased estimate of the sum of squares on an axis from the number of ones."""

    @abstractmethod
    def _noise_length(self, reports: int) -> tuple[float, float]:
        """Returns (mean, 95 % quantile) of the length of the noise of the sum, in squares."""


def places_of(lattice: AxisLattice) -> dict[str, Json]:
    """Returns the facts that turn a place into squares.

    Errors: `ParameterError` for squares of a part of a micrometre.
    """
    plane, cell_um = Plane(lattice.region), lattice.cell_m * MICRO
    if cell_um.denominator != 1:
        raise ParameterError("cell_m", float(lattice.cell_m), "a whole number of micrometres")
    return {
        "width_um": plane.width_um,
        "height_um": plane.height_um,
        "cell_um": int(cell_um),
        "domains": list(lattice.domains),
    }
