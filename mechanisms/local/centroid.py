"""Releases the central point of persons whose devices blur their own place, run on stored check-ins.

Whoever runs it sees the check-ins: trust is CENTRAL, `simulated`. On devices nobody would have to be trusted.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, Self

import numpy as np

from mechanisms.candidate_net import MICRO, Plane
from mechanisms.check import ParameterError, whole
from mechanisms.expected_error import POINT_QUANTITY, PointError
from mechanisms.guarantee import Guarantee, Term, Trust
from mechanisms.local.geo_local import axis_table
from mechanisms.local.lattice import LONGEST_ROW
from mechanisms.local.noise_table import NoiseTable
from mechanisms.local.reports import fitted, short
from mechanisms.mechanism import CentroidMechanism, Target
from mechanisms.randomness import RandomSource
from mechanisms.records.means import RecordMeans
from mechanisms.shuffle.lattice import ROOT_TWO, AxisLattice
from mechanisms.shuffle.plane_noise import noise_length
from mechanisms.shuffle.protocol import MOST_PERSONS
from mechanisms.space.grid import Region

_USUAL_STEPS: Final = 64  # squares in the radius: what rounding to them adds costs 2 % then
_CERTAIN: Final = 6  # a report is stopped at a border exp(-6) as often as one error of the mean is wide
_NORMAL: Final = 400  # persons, from where on their noise is taken for normal
_AT_A_TIME: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class GeoLocalCentroid(CentroidMechanism):
    """Averages n reports, each blurred by `geo-local`: two-sided geometric noise on columns and rows.

    A report may lie outside the region, so that stopping at a border does not pull the mean inwards: the
    lattice is continued on every side until that next to never happens (`Device`).

    Guarantee: one term, delta 0, under REPLACE. λ is the loss of one square on one axis, measured on the
    integers of the table. Given the sum S of all persons' squares on an axis, report i is blurred from square
    ⌊(S + i) / n⌋: these sum to S, and one person who moves by m squares moves as many reports as it takes by
    m squares in all, at a loss of λm. Both axes: λ(|i| + |j|) ≤ √2·λ·|(i, j)|; a move of d metres on the
    ground, of records as read (`Guarantee`), is at most (d + offset)·squares a metre, rounding of the sums
    included (`AxisLattice`). On devices each
    report by itself has that guarantee (`guarantee_on_devices`), and their mean the same law as here but for
    reports that are stopped at a border.
    Edge cases: persons without check-ins stand at the region's centre; the released point is moved into the
    region. A report is a uniform square about once in a million; the mean is corrected for it.
    Error: `expected_error`: √n times that of a trusted server.
    References: Athanasiou, Chatzikokolakis, Palamidessi, PoPETs 2025, "Geo-Local"; Ghosh, Roughgarden,
    Sundararajan 2012.
    """

    name: ClassVar[str] = "geo-local"
    most_persons: ClassVar[int] = MOST_PERSONS
    lengths: ClassVar[tuple[str, ...]] = ("radius_m", "cell_m")
    cell_m: Fraction

    def __post_init__(self) -> None:
        # super() knows the class only as it was before slots were added.
        CentroidMechanism.__post_init__(self)
        if _row(self)[1] > LONGEST_ROW:
            least = _span(self.persons) * (1 + ROOT_TWO) / LONGEST_ROW
            allowed = f"at least {float(least):.2g}, with squares as large as the radius"
            raise ParameterError("epsilon", float(self.epsilon), allowed)

    @classmethod
    def calibrate(
        cls,
        target: Target,
        *,
        region: Region,
        persons: int,
        cell_m: Fraction | None = None,
        **parameters: Any,
    ) -> Self:
        """Returns the mechanism; without `cell_m`, squares small enough that rounding to them costs next to
        nothing, or as small as tables can follow."""
        if cell_m is None:
            whole(1, MOST_PERSONS, persons=persons)
            cell_m = _usual_cell_m(region, target.epsilon, target.needed_radius_m, persons)
        return cls.spending(target, region=region, persons=persons, cell_m=cell_m, **parameters)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(relation=self.relation, terms=(self._term(self._farthest_loss),), simulated=True)

    @property
    def guarantee_on_devices(self) -> Guarantee:
        """Returns the guarantee of one person's report."""
        cap = min(self._farthest_loss, 2 * self.device.table.cap())
        return Guarantee(relation=self.relation, trust=Trust.LOCAL, terms=(self._term(cap),))

    def _draw(self, means: RecordMeans, rng: RandomSource) -> tuple[float, float]:
        across, along = self.noisy_sums(means, rng)
        return self.lattice.place(across / self.persons, along / self.persons)

    def noisy_sums(self, means: RecordMeans, rng: RandomSource) -> tuple[Fraction, Fraction]:
        """Returns unbiased sums of squares on each axis, from the reports;
        the released point is a function of it.
        """
        across, along = (self._summed(total, rng) for total in self.lattice.sums(means))
        return across, along

    def expected_error(self) -> PointError:
        farthest_m, cell_m = self.region.diameter_m, float(self.cell_m)
        rounding_m = cell_m / self.persons / math.sqrt(2)
        expected, within = (steps * cell_m + rounding_m for steps in _noise_lengths(self))
        return PointError(
            expected_m=min(expected, farthest_m),
            within_m=min(within, farthest_m),
            quantity=POINT_QUANTITY,
            assumptions="Distances are those of the region's projection.",
        )

    @property
    def lattice(self) -> AxisLattice:
        return AxisLattice(region=self.region, cell_m=self.cell_m)

    @property
    def device(self) -> "Device":
        """Returns the device that blurs one axis of a report."""
        return _device(self)

    @property
    def loss_a_square(self) -> Fraction:
        """Returns λ, measured on the integers of the table."""
        return self.device.loss

    @property
    def _target_loss(self) -> Fraction:
        """Returns λ that would spend exactly epsilon."""
        steps = _projected_m(self.region, self.radius_m) / self.cell_m
        return self.epsilon / (ROOT_TWO * (steps + ROOT_TWO))

    @property
    def _farthest_loss(self) -> Fraction:
        """Returns the loss of the farthest move: nobody moves by more squares than there are on both axes."""
        return self.loss_a_square * sum(self.lattice.domains)

    def _term(self, cap: Fraction) -> Term:
        alpha_per_m = self.loss_a_square * ROOT_TWO * self.lattice.steps_per_m
        return Term(cap=cap, alpha_per_m=alpha_per_m, offset_m=self.lattice.offset_m)

    def _summed(self, total: int, rng: RandomSource) -> Fraction:
        """Returns an unbiased sum from n reports, each from square ⌊(total + i) / n⌋."""
        reported, device = 0, self.device
        for first in range(0, self.persons, _AT_A_TIME):
            index = np.arange(first, min(first + _AT_A_TIME, self.persons), dtype=np.int64)
            square = (total + index) // self.persons + device.margin
            reported += int(device.table.draw((square, np.zeros_like(square)), rng)[0].sum())
        middle, uniform = Fraction(device.side - 1, 2), device.uniform
        return (reported - self.persons * uniform * middle) / (1 - uniform) - self.persons * device.margin


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Device:
    """Draws the noise of one axis on a row of `side` squares: the region's and `margin` on each side."""

    margin: int
    side: int
    table: NoiseTable
    loss: Fraction  # of one square

    @property
    def uniform(self) -> Fraction:
        """Returns the probability of a report being a uniform square, whatever the place."""
        return Fraction(self.side * self.table.uniform, self.table.total)


def _tail(persons: int) -> int:
    """Returns decay lengths that the lattice is continued by.

    A report beyond them is stopped with probability exp(-tail) / 2 on a side, one decay length short: that
    moves the mean by exp(-tail) lengths at most, where its own error is √(2 / n) of them.
    """
    return math.ceil(_CERTAIN + math.log(persons) / 2)


def _span(persons: int) -> Fraction:
    """Returns squares beside the region, times the loss of one: twice the tail, and √2 for both axes."""
    return 2 * _tail(persons) * ROOT_TWO


def _projected_m(region: Region, radius_m: Fraction) -> Fraction:
    """Returns the longest length, in the region's projection, of a move of that many metres on the ground."""
    plane = Plane(region)
    return min(
        radius_m * plane.stretch + Fraction(plane.rounding_um, MICRO), Fraction(plane.diameter_um, MICRO)
    )


def _usual_cell_m(region: Region, epsilon: Fraction, radius_m: Fraction, persons: int) -> Fraction:
    """Returns squares of which `_USUAL_STEPS` are in the radius,
    or larger ones where rows would be too long.
    """
    finest_mm = math.ceil(AxisLattice.smallest_cell_m(region) * 1000)
    followed = Fraction(LONGEST_ROW) * 4 / 5 * epsilon / _span(persons) - ROOT_TWO
    steps = min(Fraction(_USUAL_STEPS), max(followed, Fraction(1)))
    return Fraction(max(math.ceil(_projected_m(region, radius_m) * 1000 / steps), finest_mm), 1000)


def _row(mechanism: GeoLocalCentroid) -> tuple[int, int]:
    """Returns (squares by which reports may lie outside the region on each side, all squares)."""
    margin = math.ceil(_tail(mechanism.persons) / mechanism._target_loss)
    return margin, max(mechanism.lattice.domains) + 1 + 2 * margin


@lru_cache(maxsize=16)
def _device(mechanism: GeoLocalCentroid) -> Device:
    """Returns a device whose squares cost at most the target, and nearly that."""
    target_loss = mechanism._target_loss
    margin, side = _row(mechanism)

    def loss(decay: Fraction) -> Fraction:
        return axis_table(side, Fraction(1), decay).loss_per_metre()

    decay = fitted(target_loss, short(target_loss), loss)
    return Device(margin=margin, side=side, table=axis_table(side, Fraction(1), decay), loss=loss(decay))


@lru_cache(maxsize=64)
def _noise_lengths(mechanism: GeoLocalCentroid) -> tuple[float, float]:
    """Returns (mean, 95 % quantile) of how far the mean of the reports is off, in squares."""
    variance = _variance(mechanism)
    if mechanism.persons >= _NORMAL:
        deviation = math.sqrt(variance / mechanism.persons)
        return deviation * math.sqrt(math.pi / 2), deviation * math.sqrt(2 * math.log(20))
    decay = float(mechanism.loss_a_square)
    geometric = 2 * math.exp(-decay) / math.expm1(-decay) ** 2
    by = math.sqrt(variance / geometric) / mechanism.persons
    expected, within = noise_length(float(mechanism.persons), decay)
    return expected * by, within * by


def _variance(mechanism: GeoLocalCentroid) -> float:
    """Returns the variance of one report on one axis, corrected for uniform ones,
    of a person at the region's border.
    """
    device = mechanism.device
    uniform = float(device.uniform)
    weights = device.table.quadrant[:, 0].astype(np.float64)
    weights[1:] *= 2
    noise = float(weights @ np.arange(device.side, dtype=np.float64) ** 2 / weights.sum())
    off_middle = max(mechanism.lattice.domains) / 2
    free = (device.side**2 - 1) / 12
    variance = (1 - uniform) * (noise + uniform * off_middle**2) + uniform * free
    return variance / (1 - uniform) ** 2
