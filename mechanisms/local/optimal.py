"""Finds the mechanism with the least expected error for a public prior, by linear programming."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from mechanisms.check import ParameterError
from mechanisms.expected_error import PointError
from mechanisms.local import programme, reports
from mechanisms.local.directions import moves, usual_longest
from mechanisms.local.lattice import Cells, Floats, Lattice
from mechanisms.mechanism import Target
from mechanisms.randomness import RandomSource
from mechanisms.samplers.uniform import uniform_below

TOTAL: Final = 2**50  # of each row of the table
LARGEST_PRIOR: Final = 2**31
_UP: Final = 1e-12
_SHARES: Final = tuple(
    Fraction(1, 10**power) for power in range(9, 0, -1)
)  # of uniform reports, tried in turn

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimal(reports.LocalMechanism):
    """Draws the report from the row of the true cell in a table made for a prior that is public.

    Guarantee: one term a report, delta 0, LOCAL: loss(d) = min(cap, α · (d + offset)), with α and cap
    measured on the integers of the table, over all pairs of cells. The programme asks for
    P(y|x) ≤ exp(decay · distance / detour) · P(y|x') along the edges of a spanner (Bordenabe et al. 2014,
    Proposition 3), from which it follows for all pairs; what its tolerance and the rounding break is
    repaired by mixing in uniform reports until α ≤ decay holds for the integers.
    Edge cases: a prior may be 0 in cells, and true places there are protected as all others: only the error
    depends on it. A prior that was made from the data is no public one.
    Error: `expected_error`, in metres, averaged over the prior.
    References: Bordenabe, Chatzikokolakis, Palamidessi, "Optimal geo-indistinguishable mechanisms for
    location privacy", CCS 2014.
    """

    name: ClassVar[str] = "optimal"
    most_a_side: ClassVar[int] = 15
    prior: tuple[int, ...] = ()  # weight of each cell, column · rows + row; none: all alike

    def __post_init__(self) -> None:
        reports.LocalMechanism.__post_init__(self)
        weights = tuple(self.prior) or (1,) * self.lattice.size
        if not all(isinstance(weight, int) and 0 <= weight <= LARGEST_PRIOR for weight in weights):
            raise ParameterError("prior", "another", f"whole numbers from 0 to {LARGEST_PRIOR}")
        if len(weights) != self.lattice.size or not any(weights):
            allowed = f"{self.lattice.size} weights, one a cell, not all 0"
            raise ParameterError("prior", f"{len(weights)} weights", allowed)
        object.__setattr__(self, "prior", weights)

    @classmethod
    def calibrate(cls, target: Target, *, lattice: Lattice, **parameters: Any) -> Self:
        """Calibrates as the others do; one programme, since its table never costs more than the decay."""
        return cls(lattice=lattice, decay_per_m=reports.target_alpha(target, lattice), **parameters)

    @property
    def table(self) -> Integers:
        """Returns `(size, size)` weights of the reports by true cell; each row sums to `TOTAL`."""
        return _table(self.lattice, self.decay_per_m, self.prior)

    @property
    def costs(self) -> reports.Costs:
        logs = np.log(self.table.astype(np.float64))
        cap = float((logs.max(axis=0) - logs.min(axis=0)).max())
        per_metre = loss_per_metre(self.lattice, self.table)
        return reports.Costs(
            per_metre=per_metre, cap=Fraction(cap * (1 + _UP) + _UP), snap_m=self.lattice.snap_m
        )

    def release(self, cells: Cells, rng: RandomSource) -> Cells:
        self.lattice.check(cells)
        true, reports = cells[0] * self.lattice.rows + cells[1], np.empty_like(cells[0])
        numbers = uniform_below(rng, TOTAL, true.size)
        ends = self.table.cumsum(axis=1).astype(np.uint64)
        for cell in np.unique(true).tolist():
            here = true == cell
            reports[here] = np.searchsorted(ends[cell], numbers[here], side="right")
        return np.divmod(reports, self.lattice.rows)

    def expected_error(self) -> PointError:
        prior = np.array(self.prior, dtype=np.float64)[:, np.newaxis]
        return reports.point_error(self.table / TOTAL * prior / prior.sum(), self.lattice.pairs_m())


def loss_per_metre(lattice: Lattice, table: Integers) -> Fraction:
    """Returns the largest log(P(y|x) / P(y|x')) per metre between the centres of x and x', rounded up.

    Over moves without a common divisor; others are chains of one of them.
    """
    grid = np.log(table.astype(np.float64)).reshape(lattice.columns, lattice.rows, -1)
    largest = Fraction(0)
    for (a, b), length_m in moves(lattice, usual_longest(lattice)):
        for first, second in programme.pairs(grid, a, b):
            change = float(np.abs(first - second).max(initial=0.0))
            largest = max(largest, Fraction(change * (1 + _UP) + (_UP if change else 0)) / length_m)
    return largest


@lru_cache(maxsize=4)
def _table(lattice: Lattice, decay_per_m: Fraction, prior: tuple[int, ...]) -> Integers:
    """Returns the table of the programme. Errors: `ParameterError` when the programme was not solved."""
    solution = programme.solution(lattice, float(decay_per_m), np.array(prior, dtype=np.float64))
    for share in (*_SHARES, Fraction(1)):
        table = _rounded(solution, float(share))
        if loss_per_metre(lattice, table) <= decay_per_m:
            break
    table.flags.writeable = False
    return table


def _rounded(solution: Floats, share: float) -> Integers:
    """Returns rows of integers that sum to `TOTAL`;
    what rounding leaves over goes to the row's largest entry.
    """
    mixed = (1 - share) * solution + share / len(solution)
    table = np.floor(mixed * TOTAL).astype(np.int64)
    rows = np.arange(len(table))
    table[rows, table.argmax(axis=1)] += TOTAL - table.sum(axis=1)
    return table
