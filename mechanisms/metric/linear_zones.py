"""Shares of persons in zones with soft edges: emd-linear for region fractions, as a release of its own."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.calibration import checked_epsilon
from mechanisms.central.net import MICRO, Plane, rounded_up
from mechanisms.check import ParameterError, exact_decimal, whole
from mechanisms.grid import FINEST_LEVEL, Region
from mechanisms.guarantee import Guarantee, Relation, Term
from mechanisms.interface import RandomSource, Target
from mechanisms.item_records import ItemRecords
from mechanisms.metric.linear_noise import k_norm
from mechanisms.metric.linear_queries import RegionFractions, root_up
from mechanisms.point import MOST_PERSONS
from mechanisms.prediction import ShareError
from mechanisms.samplers.discrete_laplace import discrete_laplace
from mechanisms.zones import PER_DEGREE, Zones, ZoneShares

SMALLEST_EPSILON: Final = Fraction(1, 10**6)
LARGEST_LENGTH_M: Final = 10**8  # more than twice around the earth
SMALLEST_MARGIN_M: Final = 1
USUAL_MARGINS: Final = 2  # in radii, where none is chosen
PARTS: Final = 2**30  # of a share: sums of answers of all persons fit 63 bits
_CELLS_IN_REACH: Final = 256  # cells are so much smaller than radius and margin, where the grid allows it
_FLOAT_SLACK: Final = Fraction(1, 2**40)  # of the region's extent; thousands of times what doubles are off
_AT_ONCE: Final = 1 << 16  # cells whose values are worked out together
_QUANTITY: Final = (
    "Standard error of each share: more than two times in three a share is nearer to the true one than that, "
    "nineteen times in twenty nearer than 2.12 times that."
)
_ASSUMPTIONS: Final = (
    "The same for every zone and any data. Shares are of all persons enrolled; those without check-ins are "
    "in no zone. A zone's edge is soft, which is not an error: it is what is asked."
)

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ZoneSums:
    """The sum over persons of their answers, in `PARTS` of a share; one number a zone."""

    sums: tuple[int, ...] = field(repr=False)

    @classmethod
    def joined(cls, several: Iterable[Self]) -> Self:
        """Of different persons."""
        return cls(sums=tuple(map(sum, zip(*(one.sums for one in several), strict=True))))


@dataclass(frozen=True, slots=True, kw_only=True)
class EmdZones:
    """The mean over persons of how much of their record is in each zone, plus integer noise.

    A check-in counts 1 inside a zone, falling to 0 over `margin_m` outside (`RegionFractions`), at the middle
    of its cell. A person's answers are means over their check-ins, rounded down to whole `PARTS`.

    Guarantee: one term, delta 0, under REPLACE: Algorithm 1 and Theorem 4.1 of Imola et al. 2024. One person
    who moves by d in the earth mover's distance moves the answers by at most ℓ·d. Noise is whichever errs
    less, from public facts: independent discrete Laplace noise on each zone, for the L1 norm, where at most
    k zones change at a time and ℓ = k/margin, or the K-norm law for the Euclidean norm, ℓ = √k/margin. Cells
    and roundings are in `offset_m`; no person moves the answers by more than their `cap`, which is what an
    exchange with a record without check-ins, whose answers are 0, may cost.
    Edge cases: points outside the region count on its border. Shares are cut to 0..1 afterwards.
    Error: √2·b/n or √(d+1)·ω/n of a share, for the scale b or ω of a person's noise and d zones.
    References: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the user-level via the
    earth mover's distance", 2024, Algorithm 1; Hardt, Talwar, STOC 2010.
    """

    name: ClassVar[str] = "emd-zones"
    relation: Relation
    epsilon: Fraction  # loss when one person's record moves by `radius_m`
    radius_m: Fraction
    persons: int  # n
    region: Region
    zones: Zones
    margin_m: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation(self.relation))
        if self.relation is not Relation.REPLACE:
            raise ParameterError("relation", self.relation, Relation.REPLACE)
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))
        if self.epsilon < SMALLEST_EPSILON:
            raise ParameterError("epsilon", self.epsilon, f"at least {float(SMALLEST_EPSILON):g}")
        for name, low in (("radius_m", Fraction(1, MICRO)), ("margin_m", SMALLEST_MARGIN_M)):
            length = exact_decimal(name, getattr(self, name), low=low, high=LARGEST_LENGTH_M)
            object.__setattr__(self, name, length)
        whole(1, MOST_PERSONS, persons=self.persons)
        object.__setattr__(self, "zones", Zones.parse(self.zones))
        _check_place(self.zones, self.region)

    @classmethod
    def calibrate(cls, target: Target, *, region: Region, persons: int, **parameters: Any) -> Self:
        radius_m = target.needed_radius_m
        if "zones" not in parameters:
            raise ParameterError("zones", "missing", "the zones that are asked about, as GeoJSON")
        margin_m = max(USUAL_MARGINS * radius_m, Fraction(SMALLEST_MARGIN_M))
        return cls(
            relation=target.relation,
            epsilon=target.epsilon,
            radius_m=radius_m,
            persons=persons,
            region=region,
            **{"margin_m": margin_m, **parameters},
        )

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
        """Of the cells that check-ins are counted in."""
        return self._plan.level

    @property
    def uses_laplace(self) -> bool:
        """Whether every zone has its own noise; else one K-norm draw for all."""
        return self._plan.laplace

    def sums(self, records: ItemRecords) -> ZoneSums:
        """Answers of persons summed, in integers. Total: nothing about the data makes it fail."""
        answers = self.answers(records)
        return ZoneSums(sums=tuple(answers.sum(axis=0).tolist()))

    def answers(self, records: ItemRecords) -> Integers:
        """`(k, d)` of the k persons with check-ins, in PARTS, each by its own record alone."""
        if records.level != self.level:
            raise ParameterError("records", f"at level {records.level}", f"at level {self.level}")
        if not records.rows.size:
            return np.zeros((0, len(self.zones)), np.int64)
        cells, number = np.unique(records.cells, return_inverse=True)
        weighted = self._values(cells)[number] * records.counts[:, np.newaxis]
        starts = np.cumsum(records.rows) - records.rows
        sums: Integers = np.add.reduceat(weighted, starts, axis=0) // records.lengths[:, np.newaxis]
        return sums

    def noise(self, rng: RandomSource, *, size: int) -> Integers:
        """`(size, d)` draws, in PARTS."""
        plan, zones = self._plan, len(self.zones)
        if plan.laplace:
            return discrete_laplace(rng, scale=plan.scale, size=size * zones).reshape(size, zones)
        return k_norm(rng, steps=(1,) * zones, scale=plan.scale, size=size)

    def noisy_sums(self, sums: ZoneSums, rng: RandomSource) -> tuple[int, ...]:
        """All that the guarantee is about."""
        drawn = self.noise(rng, size=1)[0].tolist()
        return tuple(total + part for total, part in zip(sums.sums, drawn, strict=True))

    def release(self, sums: ZoneSums, rng: RandomSource) -> ZoneShares:
        """Draw once; then shares are cut to 0..1."""
        whole = self.persons * PARTS
        found = (Fraction(total, whole) for total in self.noisy_sums(sums, rng))
        return ZoneShares(
            zones=self.zones,
            margin_m=self.margin_m,
            shares=tuple(float(min(max(share, Fraction(0)), Fraction(1))) for share in found),
            standard_error=self.expected_error().share,
        )

    def expected_error(self) -> ShareError:
        plan = self._plan
        widths = math.sqrt(2) if plan.laplace else math.sqrt(len(self.zones) + 1)
        share = widths * float(plan.scale) / PARTS / self.persons
        return ShareError(share=share, quantity=_QUANTITY, assumptions=_ASSUMPTIONS)

    def _values(self, cells: Integers) -> Integers:
        """`(m, d)` of the middles of cells, in PARTS."""
        query, found = _query(self.region, self.zones, self.margin_m), []
        for start in range(0, cells.size, _AT_ONCE):
            west, south, east, north = self.region.cell_bounds(self.level, cells[start : start + _AT_ONCE])
            values = query.values((south + north) / 2, (west + east) / 2)
            found.append(np.rint(values * PARTS).astype(np.int64))
        return np.concatenate(found)

    @property
    def _plan(self) -> "_Plan":
        return _planned(self.region, self.epsilon, self.radius_m, self.zones, self.margin_m)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What follows from public parameters; lengths of answers in PARTS, in the norm of the noise."""

    level: int
    laplace: bool
    per_metre: Fraction  # in the region's projection
    cells_m: Fraction  # what counting by cells can add to a move, there
    rounding: Fraction
    farthest: Fraction  # between any two records
    scale: Fraction


@lru_cache(maxsize=256)
def _planned(
    region: Region, epsilon: Fraction, radius_m: Fraction, zones: Zones, margin_m: Fraction
) -> _Plan:
    query, plane = _query(region, zones, margin_m), Plane(region)
    together, dimensions = query.together, len(zones)
    # Standard errors √2·k and √(d+1)·√k, in the same unit; where they are equal, the latter's cap is lower.
    laplace = 2 * together < dimensions + 1 or dimensions == 1
    level = _level(plane, min(radius_m, margin_m))
    cells_m = Fraction(plane.diameter_um, MICRO << level)
    extent_m = Fraction(plane.width_um + plane.height_um, MICRO)
    # Of one number: half a part for the value and one for the mean, either way; and floating point.
    each = 2 + 2 * PARTS * _FLOAT_SLACK * (extent_m / margin_m + 1)
    if laplace:
        slope, farthest, rounding = (
            Fraction(together),
            Fraction(min(dimensions, 2 * together)),
            each * dimensions,
        )
    else:
        slope, rounding = root_up(together), each * root_up(dimensions) + 1  # `k_norm`: D + 1
        farthest = root_up(min(dimensions, 2 * together))
    per_metre, most = PARTS * slope / margin_m, PARTS * farthest + rounding
    near = per_metre * (radius_m * plane.stretch + cells_m) + rounding
    return _Plan(
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


@lru_cache(maxsize=256)
def _query(region: Region, zones: Zones, margin_m: Fraction) -> RegionFractions:
    rings = [[(lat, lon) for lon, lat in zone.degrees[:-1]] for zone in zones]
    return RegionFractions.of_rings(region, rings, margin_m=margin_m)


def _check_place(zones: Zones, region: Region) -> None:
    west, south, east, north = (Fraction(edge) * PER_DEGREE for edge in region)
    for zone in zones:
        lons, lats = zip(*zone.corners, strict=True)
        if min(lons) >= east or max(lons) <= west or min(lats) >= north or max(lats) <= south:
            raise ParameterError(
                "zones", f"“{zone.name}”", "zones that lie in the dataset's region, or partly"
            )
