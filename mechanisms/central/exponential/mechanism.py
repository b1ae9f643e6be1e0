"""Draws one central point of all persons from a net of candidates that the region alone fixes."""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any, ClassVar, Final, Self

import numpy as np

from mechanisms.candidate_net import MICRO, Net, Plane, rounded_up
from mechanisms.central.exponential.weight_table import LAST, PART_BITS, steepest, weight, weight_table
from mechanisms.check import ParameterError, whole
from mechanisms.error_bounds import point_error
from mechanisms.expected_error import PointError
from mechanisms.guarantee import Guarantee, Term
from mechanisms.mechanism import CentroidMechanism, Target
from mechanisms.randomness import RandomSource
from mechanisms.records.means import MOST_PERSONS, RecordMeans
from mechanisms.samplers.uniform import integer_below
from mechanisms.space.grid import Region

MOST_CANDIDATES: Final = 2**48
# Spacings of the net in the reach of falling weights. Finer, a draw would weigh more than 66,000
# candidates; coarser, a mean between candidates would be too far from all of them.
MOST_IN_REACH, FEWEST_IN_REACH = 128, 8
_FEWEST_ACROSS: Final = 16  # candidates along the longer side, by default
_PART: Final = Fraction(1, 1 << PART_BITS)  # of a step


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential(CentroidMechanism):
    """Measures the mean of the persons' record means against a net; near candidates are likelier.

    Candidate y is drawn with probability W(ρ(x, y)) / Σ W, where x is the mean, ρ the distance in metres
    of the region's projection and W the integer weights of `weight_table`, about exp(-αρ/2).

    Guarantee: one term, delta 0, under REPLACE. With λ the table's steepest decay (`steepest`) in a step of
    h metres, W(ρ) changes by a factor of at most exp(λ/h · |ρ - ρ'|), and so does the sum of all weights:
    together exp(2λ/h · δ) when x moves by δ (proof of Lemma 4.1, where α = 2λ/h). One person who
    moves by d moves x by at most d/n: the mean of a record is 1-Lipschitz in the earth mover's distance, and
    a projected distance is at most `Region.stretch` · d. Rounding is in `offset_m`. Beyond the region's
    diameter and the table's reach nothing is added: `cap`. All of it holds for every pair of means and
    every candidate; distances are those of records as read (`Guarantee`), in the region.
    Edge cases: persons without check-ins stand at the region's centre. Weights are constant beyond the
    table's reach, so that every candidate can be drawn. `epsilon` is the loss at `radius_m`: that of a
    whole record is larger, by up to the region's diameter over `radius_m`. Less than epsilon is spent
    where the noise would be finer than a net of 2^48 candidates.
    Error: `expected_error`, in metres.
    References: Boedihardjo, Strohmer, Vershynin, "Metric geometry of the privacy-utility tradeoff", 2024,
    Lemma 4.1; McSherry, Talwar, FOCS 2007.
    """

    name: ClassVar[str] = "exponential"
    smallest_epsilon: ClassVar[Fraction] = Fraction(1, 10**9)  # far above what rounding a distance costs
    lengths: ClassVar[tuple[str, ...]] = ("radius_m", "spacing_m")
    spacing_m: Fraction  # of the net, at most

    def __post_init__(self) -> None:
        # super() knows the class only as it was before slots were added.
        CentroidMechanism.__post_init__(self)
        least_m, most_m = _spacings_m(self.region, self.step_um)
        if not least_m <= self.spacing_m <= most_m:
            allowed = f"{float(least_m):g} to {float(most_m):g} with this epsilon, region and radius"
            raise ParameterError("spacing_m", float(self.spacing_m), allowed)

    @classmethod
    def calibrate(
        cls,
        target: Target,
        *,
        region: Region,
        persons: int,
        spacing_m: Fraction | None = None,
        **parameters: Any,
    ) -> Self:
        """Returns the mechanism; without `spacing_m`, the net is as fine as is of use."""
        if spacing_m is None:
            whole(1, MOST_PERSONS, persons=persons)
            step_um = _step_um(target.epsilon, target.needed_radius_m, persons, region)
            spacing_m = _usual_spacing_m(region, step_um)
        return cls.spending(target, region=region, persons=persons, spacing_m=spacing_m, **parameters)

    @property
    def guarantee(self) -> Guarantee:
        plane, step_um = Plane(self.region), self.step_um
        loss_per_step, person_um = 2 * steepest(weight_table()), self.persons * step_um
        farthest = min(plane.diameter_um / person_um + _PART, Fraction(LAST))
        term = Term(
            cap=loss_per_step * farthest,
            alpha_per_m=loss_per_step * plane.stretch * MICRO / person_um,
            offset_m=(plane.rounding_um + person_um * _PART) / plane.stretch / MICRO,
        )
        return Guarantee(relation=self.relation, terms=(term,))

    @property
    def net(self) -> Net:
        return Net.of(self.region, self.spacing_m)

    @property
    def step_um(self) -> Fraction:
        """Returns h: micrometres the mean moves for one entry of the table."""
        return _step_um(self.epsilon, self.radius_m, self.persons, self.region)

    def _draw(self, means: RecordMeans, rng: RandomSource) -> tuple[float, float]:
        return self.net.place(*self.law(means).draw(rng))

    def expected_error(self) -> PointError:
        return _expected_error(self)

    def law(self, means: RecordMeans) -> "Law":
        """Returns the law that `release` draws from."""
        last = weight_table()[-1] << PART_BITS
        places, more = zip(*((place, weight - last) for place, weight in self.weights(means)), strict=True)
        return Law(net=self.net, last=last, places=places, ends=tuple(accumulate(more)))

    def weights(self, means: RecordMeans) -> Iterator[tuple[tuple[int, int], int]]:
        """Yields ((column, row), weight) of the candidates where weights still fall;
        all others have the last.
        """
        table, net, step_um = weight_table(), self.net, self.step_um
        columns, rows = net.window(means, step_um * LAST)
        of_columns, of_rows, divisor = net.squares(means, columns, rows)
        part_um = step_um * _PART
        times, by = part_um.denominator**2, (divisor * part_um.numerator) ** 2
        for column, across in zip(columns, of_columns, strict=True):
            for row, along in zip(rows, of_rows, strict=True):
                # ⌊ρ / part⌋ exactly: ⌊√(N/M²)⌋ = ⌊√⌊N/M²⌋⌋
                distance = math.isqrt((across + along) * times // by)
                yield (column, row), weight(table, distance)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Law:
    """Holds probabilities of the candidates of a net, as integer weights."""

    net: Net
    last: int  # what every candidate weighs at least
    places: Sequence[tuple[int, int]] = field(repr=False)  # (column, row) of those that weigh more
    ends: Sequence[int] = field(repr=False)  # running sums of how much more

    @property
    def total(self) -> int:
        return self.net.size * self.last + self.ends[-1]

    def draw(self, rng: RandomSource) -> tuple[int, int]:
        """Returns (column, row) with probability proportional to its weight, by one uniform integer."""
        number = integer_below(rng, self.total)
        beyond = number - self.net.size * self.last
        if beyond < 0:
            return divmod(number // self.last, self.net.rows)
        return self.places[bisect_right(self.ends, beyond)]


def _step_um(epsilon: Fraction, radius_m: Fraction, persons: int, region: Region) -> Fraction:
    """Returns h, rounded up: epsilon = 2λ · ((radius · stretch + rounding) / (n · h) + one part of a step),
    or the least step that a net of `MOST_CANDIDATES` can follow."""
    plane, loss_per_step = Plane(region), 2 * steepest(weight_table())
    farthest_um = radius_m * MICRO * plane.stretch + plane.rounding_um
    step_um = loss_per_step * farthest_um / (persons * (epsilon - loss_per_step * _PART))
    return rounded_up(max(step_um, 2 * _least_spacing_um(plane) * FEWEST_IN_REACH / LAST))


def _least_spacing_um(plane: Plane) -> Fraction:
    return Fraction(math.isqrt(plane.width_um * plane.height_um) + 1, math.isqrt(MOST_CANDIDATES) - 1)


def _spacings_m(region: Region, step_um: Fraction) -> tuple[Fraction, Fraction]:
    """Returns the finest and the coarsest net that can be drawn from."""
    plane, reach_um = Plane(region), step_um * LAST
    by_weighing = min(reach_um, Fraction(max(plane.width_um, plane.height_um))) / MOST_IN_REACH
    return max(by_weighing, _least_spacing_um(plane)) / MICRO, reach_um / FEWEST_IN_REACH / MICRO


def _usual_spacing_m(region: Region, step_um: Fraction) -> Fraction:
    """Returns about the distance in which weights fall by the factor e, as a short decimal."""
    least_m, most_m = _spacings_m(region, step_um)
    falls_m = step_um / steepest(weight_table()) / MICRO
    across_m = Fraction(max(region.width_m, region.height_m)) / _FEWEST_ACROSS
    wanted_m = max(min(falls_m, across_m), least_m)
    unit = Fraction(10) ** (math.floor(math.log10(wanted_m)) - 1)
    return min(math.ceil(wanted_m / unit) * unit, math.floor(most_m / unit) * unit)


@lru_cache(maxsize=32)
def _expected_error(mechanism: Exponential) -> PointError:
    table = np.array([float(entry) for entry in weight_table()])
    return point_error(mechanism.net, table / table[0], step_m=float(mechanism.step_um) / MICRO)
