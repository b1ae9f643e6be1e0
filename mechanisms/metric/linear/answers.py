"""Provides the base of emd-linear's questions with several answers: sums, noise, and what is promised."""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.candidate_net import MICRO, Plane, rounded_up
from mechanisms.check import ParameterError
from mechanisms.guarantee import Guarantee, Term
from mechanisms.mechanism import RecordMechanism, Target
from mechanisms.metric.linear.noise import k_norm
from mechanisms.metric.linear.queries import Floats, root_up
from mechanisms.randomness import RandomSource
from mechanisms.records.item_records import ItemRecords
from mechanisms.samplers.discrete_laplace import discrete_laplace
from mechanisms.space.grid import FINEST_LEVEL, Region

PARTS: Final = 2**30  # of the largest answer: sums of answers of all persons fit 63 bits
_CELLS_IN_REACH: Final = 256  # cells are so much smaller than radius and reach, where the grid allows it
_FLOAT_SLACK: Final = Fraction(1, 2**40)  # of the region's extent; thousands of times what doubles are off
_AT_ONCE: Final = 1 << 16  # cells whose values are worked out together

Integers = NDArray[np.int64]


class UnitQuery(Hashable, Protocol):
    """Asks for answers from 0 to 1 each: a frozen value of public parameters."""

    @property
    def region(self) -> Region: ...

    @property
    def dimensions(self) -> int:
        """Returns d: numbers in an answer."""
        ...

    @property
    def reach_m(self) -> Fraction:
        """Returns metres of the region's projection over which one number changes by at most 1."""
        ...

    @property
    def together(self) -> int:
        """Returns k: how many of the numbers may change at one place."""
        ...

    def values(self, lat: Floats, lon: Floats) -> Floats:
        """Returns `(m, d)` answers of m places in degrees;
        places outside the region count as on its border.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswerSums:
    """Sums persons' answers, in `PARTS` of the largest one; a number a question."""

    sums: tuple[int, ...] = field(repr=False)

    @classmethod
    def total_of(cls, several: Iterable[Self]) -> Self:
        """Returns the sums of different persons together."""
        return cls(sums=tuple(map(sum, zip(*(part.sums for part in several), strict=True))))


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearAnswers(RecordMechanism):
    """Sums persons' answers to a `UnitQuery` in integers, and adds noise.

    A check-in's answer is that of the middle of its cell. A person's answers are means over their check-ins,
    rounded down to whole `PARTS`. Noise is whichever errs less, from public facts: independent discrete
    Laplace noise on each number, for the L1 norm, where ℓ = k/reach, or the K-norm law for the Euclidean
    norm, ℓ = √k/reach. Cells and roundings are in `offset_m`; no person moves the answers by more than
    their `cap`, which is what an exchange with a record without check-ins may cost.
    """

    smallest_epsilon: ClassVar[Fraction] = Fraction(1, 10**6)

    @classmethod
    def calibrate(cls, target: Target, *, region: Region, persons: int, **parameters: Any) -> Self:
        return cls.spending(target, region=region, persons=persons, **parameters)

    @property
    def query(self) -> UnitQuery:
        """Returns the question that is asked of every check-in."""
        raise NotImplementedError

    @property
    def absent(self) -> Integers:
        """Returns `(d,)` answers in PARTS of who has no check-ins;
        sums tell how much answers differ from them.
        """
        return np.zeros(self.query.dimensions, np.int64)

    @property
    def guarantee(self) -> Guarantee:
        plan, stretch = self._plan, Plane(self.region).stretch
        # loss(d) = (ℓ·(stretch·d + cells) + rounding) / scale, in PARTS
        term = Term(
            cap=plan.farthest / plan.scale,
            alpha_per_m=plan.per_metre * stretch / plan.scale,
            offset_m=(plan.cells_m + plan.rounding / plan.per_metre) / stretch,
        )
        return Guarantee(relation=self.relation, terms=(term,))

    @property
    def level(self) -> int:
        """Returns the level of the cells that check-ins are counted in."""
        return self._plan.level

    @property
    def uses_laplace(self) -> bool:
        """Returns whether every number has its own noise; else one K-norm draw for all."""
        return self._plan.laplace

    def sums(self, records: ItemRecords) -> AnswerSums:
        """Returns answers of persons summed, in integers. Total: nothing about the data makes it fail."""
        answers = self.answers(records)
        return AnswerSums(sums=tuple(answers.sum(axis=0).tolist()))

    def answers(self, records: ItemRecords) -> Integers:
        """Returns `(k, d)` of the k persons with check-ins, in PARTS, each by its own record alone."""
        if records.level != self.level:
            raise ParameterError("records", f"at level {records.level}", f"at level {self.level}")
        if not records.rows.size:
            return np.zeros((0, self.query.dimensions), np.int64)
        cells, number = np.unique(records.cells, return_inverse=True)
        weighted = (self._values(cells) - self.absent)[number] * records.counts[:, np.newaxis]
        starts = np.cumsum(records.rows) - records.rows
        sums: Integers = np.add.reduceat(weighted, starts, axis=0) // records.lengths[:, np.newaxis]
        return sums

    def noise(self, rng: RandomSource, *, size: int) -> Integers:
        """Returns `(size, d)` draws, in PARTS."""
        plan, numbers = self._plan, self.query.dimensions
        if plan.laplace:
            return discrete_laplace(rng, scale=plan.scale, size=size * numbers).reshape(size, numbers)
        return k_norm(rng, steps=(1,) * numbers, scale=plan.scale, size=size)

    @property
    def unit_error(self) -> float:
        """Returns the standard error of each mean of all persons' answers, of 1."""
        widths = math.sqrt(2) if self.uses_laplace else math.sqrt(self.query.dimensions + 1)
        return widths * float(self._plan.scale) / PARTS / self.persons

    def means(self, sums: AnswerSums, rng: RandomSource) -> list[Fraction]:
        """Draws once: returns the noisy means of all persons' answers, which are cut to 0..1 afterwards."""
        whole, absent = self.persons * PARTS, self.absent.tolist()
        totals = zip(self.noisy_sums(sums, rng), absent, strict=True)
        means = (Fraction(total, whole) + Fraction(apart, PARTS) for total, apart in totals)
        return [min(max(mean, Fraction(0)), Fraction(1)) for mean in means]

    def noisy_sums(self, sums: AnswerSums, rng: RandomSource) -> tuple[int, ...]:
        """Draws the noisy sums, all that the guarantee is about."""
        noise = self.noise(rng, size=1)[0].tolist()
        return tuple(total + part for total, part in zip(sums.sums, noise, strict=True))

    def _values(self, cells: Integers) -> Integers:
        """Returns `(m, d)` answers of the middles of cells, in PARTS."""
        query, blocks = self.query, []
        for start in range(0, cells.size, _AT_ONCE):
            west, south, east, north = self.region.cell_bounds(self.level, cells[start : start + _AT_ONCE])
            values = query.values((south + north) / 2, (west + east) / 2)
            blocks.append(np.rint(values * PARTS).astype(np.int64))
        return np.concatenate(blocks)

    @property
    def _plan(self) -> "_AnswerPlan":
        return _answer_plan(self.epsilon, self.radius_m, self.query)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AnswerPlan:
    """Holds what follows from public parameters; lengths of answers in PARTS, in the norm of the noise."""

    level: int
    laplace: bool
    per_metre: Fraction  # in the region's projection
    cells_m: Fraction  # what counting by cells can add to a move, there
    rounding: Fraction
    farthest: Fraction  # between any two records
    scale: Fraction


@lru_cache(maxsize=256)
def _answer_plan(epsilon: Fraction, radius_m: Fraction, query: UnitQuery) -> _AnswerPlan:
    plane, reach_m = Plane(query.region), query.reach_m
    together, dimensions = query.together, query.dimensions
    # Standard errors √2·k and √(d+1)·√k, in the same unit; where they are equal, the latter's cap is lower.
    laplace = 2 * together < dimensions + 1 or dimensions == 1
    level = _level(plane, min(radius_m, reach_m))
    cells_m = Fraction(plane.diameter_um, MICRO << level)
    extent_m = Fraction(plane.width_um + plane.height_um, MICRO)
    # Of one number: half a part for the value and one for the mean, either way; and floating point.
    each = 2 + 2 * PARTS * _FLOAT_SLACK * (extent_m / reach_m + 1)
    if laplace:
        slope, farthest, rounding = (
            Fraction(together),
            Fraction(min(dimensions, 2 * together)),
            each * dimensions,
        )
    else:
        slope, rounding = root_up(together), each * root_up(dimensions) + 1  # `k_norm`: D + 1
        farthest = root_up(min(dimensions, 2 * together))
    per_metre, most = PARTS * slope / reach_m, PARTS * farthest + rounding
    near = per_metre * (radius_m * plane.stretch + cells_m) + rounding
    return _AnswerPlan(
        level=level,
        laplace=laplace,
        per_metre=per_metre,
        cells_m=cells_m,
        rounding=rounding,
        farthest=most,
        scale=rounded_up(min(near, most) / epsilon),
    )


def _level(plane: Plane, reach_m: Fraction) -> int:
    cells = plane.diameter_um * _CELLS_IN_REACH / (reach_m * MICRO)
    return min(max(int(cells).bit_length(), 1), FINEST_LEVEL - 1)
