"""Estimates how often districts and cells occur: items sampled from all records, each reported at random."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, Self

import numpy as np

from mechanisms.calibration import LARGEST_UNIT, check_masses, checked_epsilon, level_of
from mechanisms.central.expected_persons import MOST_PERSONS
from mechanisms.check import ParameterError, in_range, whole
from mechanisms.expected_error import FARTHEST, MAP_QUANTITY, ErrorBound
from mechanisms.guarantee import Guarantee
from mechanisms.mechanism import GridMechanism, Target
from mechanisms.metric.frequency.gkrr import Floats, Gkrr, Integers, log_up
from mechanisms.randomness import RandomSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.heatmap import Heatmap
from mechanisms.samplers.uniform import uniform_below

MOST_DISTRICT_LEVELS: Final = 4
MOST_ITEMS: Final = 2**20  # what is sampled once more would be noise of sampling less
_AT_ONCE: Final = 2**18
_MASS_BITS: Final = 61
_LARGEST_LOSS: Final = 30.0  # of one report; weights have about 60 bits
_ASSUMPTIONS: Final = (
    "Holds for all data when as many people as expected have check-ins; the part of those who have none is "
    "spread evenly over the map."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency(GridMechanism):
    """Draws items from all persons' masses, reports each by GKRR, and inverts what was reported.

    Algorithm 4 of Imola et al. 2024 run by one party for everybody (section 6.2.2) on samples with
    replacement (Algorithm 3): an item is a check-in of a uniformly drawn person. Who has no check-ins, and
    what rounding left of a person's mass, is reported as a uniform cell.

    Guarantee: ε flat, delta 0, both relations, whatever `expected_persons` is. Let a and b be the largest and
    the smallest probability of a report. It comes from (1 - w)·R + w·M, with R the law of the reports of
    all others and M that of the person's, all between b and a, and w ≤ 1/n for n = `expected_persons`, since
    at least n persons' units are drawn from. Neighbours differ in w and M, and R is at least b: one
    report's probability changes by a factor of at most 1 + (a/b - 1)/n. Reports are independent.
    No claim rises with the distance in metres: two places across a district's border may be a metre apart.
    Edge cases: without masses the map is that of uniform reports; more persons than expected only lower w.
    Error: `expected_error`; no standard errors, as finding the nearest map moves mass between cells.
    References: Imola, Roy Chowdhury, Chaudhuri 2024, Algorithms 3 and 4, Theorem 6.6.
    """

    name: ClassVar[str] = "frequency"
    highest_resolution: ClassVar[int] = 256
    smallest_epsilon: ClassVar[Fraction] = Fraction(1, 10**9)
    expected_persons: int  # n, a public guess
    district_levels: int  # a district has 4^levels cells

    def __post_init__(self) -> None:
        GridMechanism.__post_init__(self)  # super() knows the class only as it was before slots were added
        whole(1, MOST_PERSONS, expected_persons=self.expected_persons)
        if not isinstance(self.district_levels, int) or isinstance(self.district_levels, bool):
            raise ParameterError("district_levels", self.district_levels, "a whole number")
        in_range(0, min(MOST_DISTRICT_LEVELS, self.level), district_levels=self.district_levels)

    @classmethod
    def calibrate(
        cls,
        target: Target,
        *,
        resolution: int,
        expected_persons: int | None = None,
        district_levels: int | None = None,
        **parameters: Any,
    ) -> Self:
        """Returns the mechanism; without `district_levels`, as many as promise the least error."""
        persons = target.expected_persons if expected_persons is None else expected_persons
        if persons is None:
            raise ParameterError("expected_persons", "missing", "a public guess of the number of persons")
        if district_levels is None:
            in_range(1, MOST_PERSONS, expected_persons=persons)
            level = level_of(resolution, highest=cls.highest_resolution)
            epsilon = float(checked_epsilon(target.epsilon))
            district_levels = min(
                range(min(MOST_DISTRICT_LEVELS, level) + 1),
                key=lambda below: _best_plan(epsilon, level, below, persons).error,
            )
        return super(Frequency, cls).calibrate(
            target,
            resolution=resolution,
            expected_persons=persons,
            district_levels=district_levels,
            **parameters,
        )

    @property
    def guarantee(self) -> Guarantee:
        gkrr = self.response
        change = Fraction(gkrr.own - gkrr.far, gkrr.far * self.expected_persons)
        return Guarantee.flat(relation=self.relation, epsilon=self.items * log_up(1 + change))

    @property
    def unit(self) -> int:
        most = (1 << _MASS_BITS) // self.expected_persons
        return min(LARGEST_UNIT, 1 << (most.bit_length() - 1))

    @property
    def response(self) -> Gkrr:
        """Returns the law that reports one item.

        Cells are in Morton order, so that a district's follow each other.
        """
        return self._plan.response

    @property
    def items(self) -> int:
        """Returns the number of items that are drawn."""
        return self._plan.items

    def release(self, masses: MassMap, rng: RandomSource) -> Heatmap:
        shares = self.reports(masses, rng) / self.items
        gkrr = self.response
        raw = gkrr.estimate(shares)
        values = nearest(raw, districts=gkrr.districts)
        cells = np.flatnonzero(values > 0)
        return Heatmap(
            level=masses.level,
            levels=np.full(cells.size, masses.level, np.uint8),
            prefixes=cells.astype(np.int64),
            values=values[cells] * self.expected_persons,
            standard_errors=np.full(cells.size, np.nan),
        )

    def reports(self, masses: MassMap, rng: RandomSource) -> Integers:
        """Returns `(k,)` how often each cell was reported: all that the guarantee is about."""
        check_masses(masses, level=self.level, unit=self.unit)
        ends, counts = masses.masses.cumsum(), np.zeros(self.resolution**2, np.int64)
        everything = max(self.expected_persons * self.unit, int(ends[-1]) if ends.size else 0)
        for start in range(0, self.items, _AT_ONCE):
            size = min(_AT_ONCE, self.items - start)
            numbers = uniform_below(rng, everything, size).astype(np.int64)
            place = np.searchsorted(ends, numbers, side="right")
            is_real = place < ends.size
            reported = self.response.report(masses.cells[place[is_real]], rng)
            counts += np.bincount(reported, minlength=counts.size)
            anywhere = uniform_below(rng, counts.size, size - reported.size).astype(np.int64)
            counts += np.bincount(anywhere, minlength=counts.size)
        return counts

    def expected_error(self, *, persons: int) -> ErrorBound:
        in_range(1, MOST_PERSONS, persons=persons)
        return ErrorBound(
            emd=min(FARTHEST, self._plan.error), quantity=MAP_QUANTITY, assumptions=_ASSUMPTIONS
        )

    @property
    def _level(self) -> int:
        return self.resolution.bit_length() - 1

    @property
    def _plan(self) -> "_FrequencyPlan":
        return _best_plan(float(self.epsilon), self.level, self.district_levels, self.expected_persons)


def nearest(estimate: Floats, *, districts: int) -> Floats:
    """Returns `(k,)` the estimate made non-negative with sum 1: districts' sums first, then cells in each.

    Both are Euclidean projections, which bring no map without negative values farther away.
    """
    cells = estimate.reshape(districts, -1)
    sums = _onto_simplex(cells.sum(axis=1)[np.newaxis], np.ones(1))[0]
    return _onto_simplex(cells, sums).ravel()


@dataclass(frozen=True, slots=True, kw_only=True)
class _FrequencyPlan:
    response: Gkrr
    items: int
    error: float


@lru_cache(maxsize=512)
def _best_plan(epsilon: float, level: int, below: int, persons: int) -> _FrequencyPlan:
    """Returns the least error bound over losses of a report between districts and parts of it within one."""
    parts = (1.0, 0.6, 0.35) if 0 < below < level else (1.0,)
    shape = 4 ** (level - below), 4**below
    plans = [
        _plan(_affordable(epsilon, persons, loss), shape, part)
        for loss in np.geomspace(0.25, 16, 25).tolist()
        for part in parts
    ]
    return min(plans, key=lambda plan: plan.error)


def _affordable(epsilon: float, persons: int, loss: float) -> tuple[int, float]:
    """Returns as many items as fit, and the loss of a report for which they use all of epsilon."""
    items = min(MOST_ITEMS, max(1, int(epsilon / math.log1p(math.expm1(loss) / persons))))
    each = min(epsilon / items * (1 - 1e-9), _LARGEST_LOSS)
    return items, min(math.log1p(persons * math.expm1(each)), _LARGEST_LOSS)


def _plan(afforded: tuple[int, float], shape: tuple[int, int], part: float) -> _FrequencyPlan:
    (items, loss), (districts, cells) = afforded, shape
    gkrr = Gkrr.of(districts=districts, district_cells=cells, loss=loss, within=part * loss)
    return _FrequencyPlan(response=gkrr, items=items, error=_error(gkrr, items))


def _error(gkrr: Gkrr, items: int) -> float:
    """Returns a bound on the expected distance after `nearest`.

    Districts: ‖m - κ‖₁ ≤ √s e for estimated sums m, true sums κ and e² their variance; moving them costs 1
    a unit, half of the diameter 2. In a district of L1 diameter δ, against the true cells scaled to m: the
    projection is at most as far as the estimate, whose own distance is that to the true cells and |m - κ|.
    """
    cells, districts = gkrr.spread
    k, diameter = gkrr.cells, 2 * (1 / math.sqrt(gkrr.districts) - 1 / math.sqrt(gkrr.cells))
    # The variance of a sampled item itself is at most 1 - 1/k.
    of_cells = math.sqrt(max(0.0, cells + 1 - 1 / k) / items)
    of_districts = math.sqrt(max(0.0, districts + 1 - 1 / gkrr.districts) / items)
    inside = diameter / 2 * math.sqrt(k) * (of_cells + of_districts)
    return inside + math.sqrt(gkrr.districts) * of_districts


def _onto_simplex(rows: Floats, sums: Floats) -> Floats:
    """Returns each row's nearest vector without negative entries and with that sum."""
    falling = -np.sort(-rows, axis=1)
    excess = falling.cumsum(axis=1) - sums[:, np.newaxis]
    counts = np.arange(1, rows.shape[1] + 1)
    last = rows.shape[1] - 1 - np.argmax((falling * counts > excess)[:, ::-1], axis=1)
    cut = excess[np.arange(len(rows)), last] / (last + 1)
    return np.asarray(np.maximum(rows - cut[:, np.newaxis], 0) * (sums > 0)[:, np.newaxis])
