"""Runs randomised response on districts × cells: three integer weights, and their inverse in closed form."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import ParameterError
from mechanisms.randomness import RandomSource
from mechanisms.samplers.uniform import uniform_below

MOST_CELLS: Final = 2**16
_TOTAL_BITS: Final = 60
_UP: Final = Fraction(1, 2**40)  # covers the rounding of a logarithm

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Gkrr:
    """Reports a cell as itself, as one of its district's or as any, by weights `own` ≥ `near` ≥ `far`.

    Cells are numbered district by district: cell x is in district x // `district_cells`. GKRR of Imola et
    al. 2024, section 6.2.1, has weights in proportion to e^α0, e^((1-r)α0) and 1, for a distance r within
    a district and 1 beyond. What is promised is read off the integers.
    """

    districts: int  # s
    district_cells: int  # t
    own: int
    near: int
    far: int

    def __post_init__(self) -> None:
        if not 1 <= self.far <= self.near <= self.own:
            raise ParameterError("weights", f"{self.own}, {self.near}, {self.far}", "falling, at least 1")
        if min(self.districts, self.district_cells) < 1 or self.cells > MOST_CELLS:
            raise ParameterError("cells", self.cells, f"from 1 to {MOST_CELLS}")
        if self.total >= 2**63:
            raise ParameterError("weights", self.total, "in sum below 2^63")

    @classmethod
    def of(cls, *, districts: int, district_cells: int, loss: float, within: float) -> "Gkrr":
        """Returns the weights nearest to a loss between districts and one within a district, both in nats.

        Nothing here has to be exact: what they cost is read off the integers.
        """
        cells = districts * district_cells
        top = math.expm1(loss) + district_cells * math.expm1(loss - within) + cells
        far = max(1, int(2.0**_TOTAL_BITS / top))
        near = far + int(math.expm1(loss - within) * far)
        own = max(near, far + int(math.expm1(loss) * far))
        return cls(districts=districts, district_cells=district_cells, own=own, near=near, far=far)

    @property
    def cells(self) -> int:
        """Returns k."""
        return self.districts * self.district_cells

    @cached_property
    def total(self) -> int:
        """Returns the total of the weights of one cell's reports: the same for every cell."""
        return (self.own - self.near) + self.district_cells * (self.near - self.far) + self.cells * self.far

    @property
    def loss(self) -> Fraction:
        """Returns α0: loss when a cell moves to another district, rounded up."""
        return log_up(Fraction(self.own, self.far))

    @property
    def loss_within(self) -> Fraction:
        """Returns the loss when a cell moves within its district, rounded up."""
        return log_up(Fraction(self.own, self.near))

    def matrix(self) -> Floats:
        """Returns `(k, k)` probabilities of reports (columns) by cell (rows); for few cells."""
        near = np.kron(np.eye(self.districts), np.ones((self.district_cells, self.district_cells)))
        weights = (self.own - self.near) * np.eye(self.cells) + (self.near - self.far) * near + self.far
        return np.asarray(weights / self.total)

    def report(self, cells: Integers, rng: RandomSource) -> Integers:
        """Returns `(m,)` reports of as many cells, each by one exact uniform integer."""
        numbers = uniform_below(rng, self.total, cells.size).astype(np.int64)
        everywhere, district = self.cells * self.far, self.district_cells * (self.near - self.far)
        start = cells - cells % self.district_cells
        within = start + (numbers - everywhere) // max(1, self.near - self.far)
        reports: Integers = np.select(
            [numbers < everywhere, numbers < everywhere + district],
            [numbers // self.far, within],
            default=cells,
        )
        return reports

    @property
    def _district(self) -> int:
        """Returns b · total; a district of one cell is that cell."""
        return self.near - self.far if self.district_cells > 1 else 0

    @property
    def inverse(self) -> tuple[float, float, float]:
        """Returns a', b', c' of B = a'·1 + b'·district + c'·all,
        the inverse of `matrix` (Theorem 6.6, proof).

        Errors: `ParameterError` where all weights are equal, or all of a district: nothing can be told.
        """
        apart = self.own - self.near  # a · total
        if self.district_cells == 1:
            apart = self.own - self.far
        between = apart + self.district_cells * self._district  # (a + t·b) · total
        if self.cells == 1:
            return 1.0, 0.0, 0.0
        if apart == 0:
            raise ParameterError("weights", self.own, "above those of the district")
        a, b = self.total / apart, -self._district * self.total / (apart * between)
        return a, b, -self.far / between

    def estimate(self, reports: Floats) -> Floats:
        """Returns `(k,)` unbiased shares of cells from shares of reports with sum 1: some may be negative."""
        a, b, c = self.inverse
        district = np.repeat(self.by_district(reports), self.district_cells)
        return np.asarray(a * reports + b * district + c * reports.sum())

    def by_district(self, values: Floats) -> Floats:
        """Returns `(s,)` sums."""
        return np.asarray(values.reshape(self.districts, self.district_cells).sum(axis=1))

    def squares(self, reports: Floats) -> Floats:
        """Returns `(k,)` Σ_y B[y, x]² · reports[y]: second moments of one report's part in the estimate."""
        a, b, c = self.inverse
        district = np.repeat(self.by_district(reports), self.district_cells)
        rest = reports.sum() - district
        return np.asarray((a + b + c) ** 2 * reports + (b + c) ** 2 * (district - reports) + c**2 * rest)

    @property
    def spread(self) -> tuple[float, float]:
        """Returns for one report (Σ over cells, Σ over districts) of variances of the estimate, at most.

        ‖Bᵀ‖²₁→₂ - 1 and ‖PᵀBᵀ‖²₁→₂ - 1 of Theorem 6.5: all rows have the same norm.
        """
        a, b, c = self.inverse
        s, t = self.districts, self.district_cells
        cells = (a + b + c) ** 2 + (t - 1) * (b + c) ** 2 + (s - 1) * t * c**2
        districts = (a + t * b + t * c) ** 2 + (s - 1) * (t * c) ** 2
        return cells - 1, districts - 1


def log_up(ratio: Fraction) -> Fraction:
    """Returns log(ratio) for a ratio of at least 1, rounded up."""
    excess = ratio - 1
    return Fraction(math.log1p(float(excess))) * (1 + _UP) if excess < 2**1000 else excess


def error_bound(gkrr: Gkrr, *, within: float, items: int) -> float:
    """Returns the bound of Theorem 6.5 for GKRR: expected earth mover's distance of the estimate, with
    distance `within` in a district and 1 between districts, from `items` reports."""
    cells, districts = gkrr.spread
    first = within * math.sqrt(gkrr.cells * cells / items)
    return first + math.sqrt(gkrr.districts * districts / items)


def printed_bound(*, districts: int, district_cells: int, within: float, loss: float, items: int) -> float:
    """Returns the bound of Theorem 6.6, equation (9), as printed:
    larger than `error_bound` of the same weights.
    """
    s, t = districts, district_cells
    top, middle = math.exp(loss), math.exp((1 - within) * loss)
    first = within * math.sqrt(s * t**3 / items) * (top + s) / (top - middle)
    second = math.sqrt(s**2 * t**2 / items) * math.sqrt(s + 2 * (top - 1)) / (top + (t - 1) * middle - t)
    return first + second


def clustered_distance(first: Floats, second: Floats, *, districts: int, within: float) -> float:
    """Returns the earth mover's distance of two maps of equal sums where cells of a district are `within`
    apart and others 1: half of what districts differ by has to cross, the rest moves at home."""
    change = (first - second).reshape(districts, -1)
    across = float(np.abs(change.sum(axis=1)).sum()) / 2
    return across + within * (float(np.abs(change).sum()) / 2 - across)
