"""Turns a target into a decay, measured integers into a guarantee and an error, for all local mechanisms."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np

from mechanisms.check import ParameterError, exact_decimal, in_range, whole
from mechanisms.expected_error import PointError
from mechanisms.guarantee import Exact, Guarantee, Relation, Term, Trust
from mechanisms.local.lattice import Cells, Floats, Lattice
from mechanisms.mechanism import Target
from mechanisms.randomness import RandomSource
from mechanisms.space.grid import Region

MOST_REPORTS: Final = 10**6
SMALLEST_EPSILON: Final = Fraction(1, 10**6)
_ROUNDS: Final = 6
_LESS: Final = Fraction(1, 10**7)
_ENOUGH: Final = Fraction(999_999, 1_000_000)  # of the target

ASSUMPTIONS: Final = (
    "Read off the table, averaged over all cells; a true place is up to half a cell's diagonal from the "
    "centre of its cell, which is not counted."
)
QUANTITY: Final = "Distance of a report from the centre of the true place's cell."


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Bounds what two cells cost: at most min(cap, per_metre · distance of their centres)."""

    per_metre: Fraction
    cap: Fraction
    snap_m: Fraction  # added to the distance of two true places, in the metres of `per_metre`


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalMechanism(ABC):
    """Turns cells of true places into cells to report: each row by itself, on the person's device.

    `decay_per_m` shapes the table; what the table costs is measured on its integers (`costs`).
    `max_reports` is how many reports of one person `guarantee` covers together.
    """

    name: ClassVar[str]
    relation: ClassVar[Relation] = Relation.REPLACE
    most_a_side: ClassVar[int]
    lattice: Lattice
    decay_per_m: Fraction
    max_reports: int = 1

    def __post_init__(self) -> None:
        for name in ("columns", "rows"):
            in_range(1, self.most_a_side, **{name: getattr(self.lattice, name)})
        exact = exact_decimal("decay_per_m", self.decay_per_m, low=0, low_open=True, high=10**9)
        object.__setattr__(self, "decay_per_m", exact)
        whole(1, MOST_REPORTS, max_reports=self.max_reports)

    @classmethod
    def calibrate(cls, target: Target, *, lattice: Lattice, **parameters: Any) -> Self:
        """Returns the mechanism whose loss of one report at `target.radius_m` is at most `target.epsilon`,
        and nearly that.
        """

        def loss(decay_per_m: Fraction) -> Exact:
            return cls(lattice=lattice, decay_per_m=decay_per_m, **parameters).per_report.loss(radius_m)

        start, radius_m = target_alpha(target, lattice), target.needed_radius_m
        return cls(lattice=lattice, decay_per_m=fitted(target.epsilon, start, loss), **parameters)

    @property
    def per_report(self) -> Guarantee:
        """Returns the guarantee of one report: two places at a distance d, each `Region.clamped`, have
        centres at most stretch · d + snap_m apart."""
        costs, stretch = self.costs, self.lattice.stretch
        term = Term(cap=costs.cap, alpha_per_m=costs.per_metre * stretch, offset_m=costs.snap_m / stretch)
        return Guarantee(relation=self.relation, trust=Trust.LOCAL, terms=(term,))

    @property
    def guarantee(self) -> Guarantee:
        """Returns the guarantee of a person with `max_reports` reports."""
        return repeated(self.per_report, self.max_reports)

    @property
    @abstractmethod
    def costs(self) -> Costs:
        """Returns the costs, measured on the integers of the table."""

    @abstractmethod
    def release(self, cells: Cells, rng: RandomSource) -> Cells:
        """Draws one independent report a cell. Total: no place makes it fail."""

    @abstractmethod
    def expected_error(self) -> PointError:
        """Returns the error in metres, read off the table."""


def repeated(guarantee: Guarantee, times: int) -> Guarantee:
    """Returns the sum of `times` equal guarantees of one term, as one term; d is the mean distance."""
    (term,) = guarantee.terms
    summed = term_of_mean(term, reports=times, changes=times)
    return Guarantee(relation=guarantee.relation, trust=guarantee.trust, terms=(summed,))


def term_of_mean(term: Term, *, reports: int, changes: int) -> Term:
    """Bounds the loss of `changes` changes together, as a term of d = the sum of their distances / `reports`.

    Each costs min(cap, α · (⌈d_i⌉ + offset)), ⌈ ⌉ to a multiple of s = `step_m`; a sum of minima is at most
    the minimum of the sums. Of n numbers Σ ⌈d_i⌉ ≤ ⌈Σ d_i⌉ + (n − 1) · s, which is reached: n − 1 of them may
    be small, and each costs a whole step. Σ d_i = reports · d, so that d is rounded to s / reports.
    """
    return Term(
        cap=term.cap * changes,
        alpha_per_m=term.alpha_per_m * reports,
        offset_m=(term.offset_m * changes + term.step_m * (changes - 1)) / reports,
        step_m=term.step_m / reports,
    )


def fitted(epsilon: Fraction, decay_per_m: Fraction, loss: Callable[[Fraction], Exact]) -> Fraction:
    """Returns a decay with loss(decay) ≤ epsilon, close to it; `decay_per_m` is where the search begins.

    The loss is nearly proportional to the decay, so scaling meets the target in a few rounds.
    Errors: `ParameterError` naming `epsilon` when no decay was found that spends so little.
    """
    best = None
    for _ in range(_ROUNDS):
        spent = Fraction(loss(decay_per_m))
        if spent <= epsilon:
            best = max(best or decay_per_m, decay_per_m)
            if spent >= _ENOUGH * epsilon:
                break
        factor = Fraction(float(epsilon / spent)) * (1 - _LESS) if spent else Fraction(2)
        decay_per_m = short(decay_per_m * min(factor, Fraction(2)))
    if best is None:
        raise ParameterError("epsilon", float(epsilon), "more, or a larger radius or smaller cells")
    return best


def target_alpha(target: Target, lattice: Lattice) -> Fraction:
    """Returns α of a mechanism whose loss at the radius would be exactly the target.
    Errors: `ParameterError`.
    """
    radius_m = target.needed_radius_m
    if target.epsilon < SMALLEST_EPSILON:
        raise ParameterError("epsilon", target.epsilon, f"at least {float(SMALLEST_EPSILON):g}")
    return short(target.epsilon / (radius_m * lattice.stretch + lattice.snap_m))


def short(value: Fraction) -> Fraction:
    """Rounds down to twelve significant digits, so that a decay can be written and read."""
    digits = Fraction(10) ** (len(str(int(1 / value))) + 11 if value < 1 else 11)
    return Fraction(int(value * digits)) / digits


def point_error(displacements: Floats, distances_m: Floats) -> PointError:
    """Returns the mean and 95 % quantile of distances with the probabilities `displacements`,
    both of one shape.
    """
    order = np.argsort(distances_m, axis=None, kind="stable")
    shares = displacements.ravel()[order].cumsum()
    within = order[min(int(np.searchsorted(shares, 0.95)), order.size - 1)]
    return PointError(
        expected_m=float((displacements * distances_m).sum()),
        within_m=float(distances_m.ravel()[within]),
        quantity=QUANTITY,
        assumptions=ASSUMPTIONS,
    )


def usual_cell_m(region: Region, radius_m: Fraction, *, most_a_side: int) -> Fraction:
    """Returns a sixteenth of the radius, so that snapping costs little,
    or what the number of cells allows.
    """
    longest_m = Fraction(max(region.width_m, region.height_m)) * Fraction(1001, 1000)
    wanted_m = max(radius_m / 16, longest_m / most_a_side)
    return max(Fraction(1, 1000), Fraction(f"{float(wanted_m):.4g}"))
