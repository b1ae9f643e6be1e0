"""Publishes all points of all records, each moved by noise on its own, as one unordered heap of reports."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from mechanisms.check import ParameterError, in_range, positive
from mechanisms.guarantee import Guarantee, Relation, Term, Trust
from mechanisms.local.lattice import Cells, Lattice, root_up
from mechanisms.local.reports import LocalMechanism
from mechanisms.mechanism import Target
from mechanisms.metric.itemwise.group import group_rate
from mechanisms.metric.itemwise.reduction import Sampling, sample_records
from mechanisms.randomness import RandomSource

MOST_PERSONS: Final = 10**7
_CLOSE: Final = 1e-3  # of the logarithm of a decay
_LOWEST, _HIGHEST = -12.0, 12.0  # logarithm of a decay times the region's diameter


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemWise:
    """Reports `samples` points of every record, each by `item`; the reports of all in one heap.

    Guarantee: `REPLACE`, one term that rises with the earth mover's distance of two records of one person
    as read (`Guarantee`),
    δ half for unlucky samples (`reduction.py`) and half for the heap (`clones.py`, `group.py`): with m =
    samples a change of reports at losses s_i costs rate · Σ s_i, and s_i ≤ α_item · distance of the cells'
    centres. The heap holds the reports of all persons (CENTRAL; SHUFFLE with what is left when the shuffler
    fails: the sum over a person's reports), or of one (LOCAL). `bounded` is the guarantee for records of
    exactly m points that are used without sampling.
    Edge cases: an empty record counts as points in the region's middle. Total for any record.
    Error: each report is off by `item.expected_error()`.
    References: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the user-level via the
    earth mover's distance", 2024, Algorithms 2 and 3, Theorems 4.3, 4.4 and 5.3, by a numeric account
    instead of their constants.
    """

    name: ClassVar[str] = "emd-itemwise"
    relation: ClassVar[Relation] = Relation.REPLACE
    item: LocalMechanism
    persons: int
    samples: int
    delta: Fraction
    radius_m: Fraction  # where the guarantee is tightest
    trust: Trust = Trust.CENTRAL

    def __post_init__(self) -> None:
        in_range(1, MOST_PERSONS, persons=self.persons)
        positive(radius_m=self.radius_m)
        object.__setattr__(self, "trust", Trust(self.trust))
        if self.item.max_reports != 1:
            raise ParameterError("max_reports", self.item.max_reports, "1: what repeats is counted here")
        self.sampling  # noqa: B018 - refuses samples and delta

    @classmethod
    def calibrate(
        cls, target: Target, *, lattice: Lattice, item: type[LocalMechanism], **parameters: Any
    ) -> Self:
        """Returns the least noise found with a loss of at most `target.epsilon` at `target.radius_m`.

        Errors: `ParameterError` without a radius, or when even the most noise costs more.
        """
        radius_m, diameter_m = target.needed_radius_m, float(_diameter_m(lattice))
        parameters |= {"delta": target.delta, "radius_m": radius_m}

        def noisy(log_decay: float) -> LocalMechanism:
            decay = Fraction(f"{np.exp(log_decay) / diameter_m:.12g}")
            return item(lattice=lattice, decay_per_m=decay)

        def excess(log_decay: float) -> float:
            loss = float(cls(item=noisy(log_decay), **parameters).guarantee.loss(radius_m))
            return float(np.log(max(loss, 1e-300) / float(target.epsilon)))

        if excess(_LOWEST) > 0:
            raise ParameterError(
                "epsilon", float(target.epsilon), "more, or a larger radius or smaller cells"
            )
        root = float(brentq(excess, _LOWEST, _HIGHEST, xtol=_CLOSE)) if excess(_HIGHEST) > 0 else _HIGHEST
        while excess(root) > 0:
            root -= _CLOSE
        return cls(item=noisy(root), **parameters)

    @property
    def sampling(self) -> Sampling:
        diameter_m = _diameter_m(self.item.lattice)
        return Sampling(samples=self.samples, delta=self.delta / 2, diameter_m=diameter_m)

    @property
    def heap(self) -> int:
        """Returns the number of reports that are shuffled together."""
        return self.samples * (1 if self.trust is Trust.LOCAL else self.persons)

    @property
    def rate(self) -> Fraction:
        """Returns the rate of a change of one person's reports; 1 would be composition. Spends half of δ."""
        cap, half = math.nextafter(float(self.item.costs.cap), math.inf), math.nextafter(self.delta / 2, 0)
        return Fraction(group_rate(self.heap, self.samples, cap, half))

    @property
    def guarantee(self) -> Guarantee:
        """Returns the guarantee of records of any length."""
        return self.guarantee_at(self.rate)

    def guarantee_at(self, rate: Fraction) -> Guarantee:
        """Returns the same for a rate that `group.holds` with half of δ:
        every loss is in proportion to it.
        """
        return self._guarantee(self._sampled(rate), self.delta)

    @property
    def bounded(self) -> Guarantee:
        """Returns the guarantee of records of exactly `samples` points that are all reported once."""
        return self._guarantee(self._term(self.rate), self.delta / 2)

    def discrete(self, radius_m: Fraction) -> Guarantee:
        """Returns the discrete guarantee of radius r (Definition 5.1):
        never less than `guarantee` claims at r.
        """
        return self.discrete_at(radius_m, self.rate)

    def discrete_at(self, radius_m: Fraction, rate: Fraction) -> Guarantee:
        """Returns the same for a rate as of `guarantee_at`."""
        term, lattice = self._projected(rate), self.item.lattice
        moved = self.sampling.discrete_term(
            alpha_per_m=Fraction(term.alpha_per_m), cap=term.cap, radius_m=radius_m * lattice.stretch
        )
        extra = Fraction(term.alpha_per_m) * term.offset_m / radius_m
        alpha = Fraction(moved.alpha_per_m) * lattice.stretch + extra
        return self._guarantee(Term(cap=term.cap, alpha_per_m=alpha, step_m=radius_m), self.delta)

    def release(self, lengths: NDArray[np.int64], cells: Cells, rng: RandomSource) -> NDArray[np.int64]:
        """Returns `(columns, rows)` numbers of reports: the heap, in no order.

        `lengths` `(persons,)` are the records' lengths, `cells` their points, record after record.
        Errors: ValueError when these do not fit, without any value of them.
        """
        if lengths.size != self.persons or int(lengths.sum()) != cells[0].size:
            raise ValueError("one length for every declared person, and as many cells as they sum to")
        places = sample_records(lengths, self.samples, rng)
        starts = np.cumsum(lengths) - lengths
        index = (starts[:, np.newaxis] + places).ravel()
        empty = places.ravel() < 0
        index[empty] = 0
        return self.reported(self._sampled_cells(cells, index, empty), rng)

    def reported(self, cells: Cells, rng: RandomSource) -> NDArray[np.int64]:
        """Returns `(columns, rows)` numbers of reports of these points, each reported once."""
        lattice = self.item.lattice
        columns, rows = self.item.release(cells, rng)
        numbers = np.bincount(columns * lattice.rows + rows, minlength=lattice.size)
        return numbers.reshape(lattice.columns, lattice.rows).astype(np.int64)

    def _sampled_cells(self, cells: Cells, index: NDArray[np.int64], empty: NDArray[np.bool_]) -> Cells:
        lattice = self.item.lattice
        column, row = (
            np.where(empty, side // 2, axis[index] if axis.size else side // 2)
            for axis, side in zip(cells, (lattice.columns, lattice.rows), strict=True)
        )
        return column, row

    def _projected(self, rate: Fraction) -> Term:
        """Returns the term in metres of the region's projection,
        of two records of m points in places of the region.
        """
        costs, times = self.item.costs, rate * self.samples
        return Term(cap=costs.cap * times, alpha_per_m=costs.per_metre * times, offset_m=costs.snap_m)

    def _term(self, rate: Fraction) -> Term:
        return _on_ground(self._projected(rate), self.item.lattice.stretch)

    def _sampled(self, rate: Fraction) -> Term:
        term, stretch = self._projected(rate), self.item.lattice.stretch
        alpha = Fraction(term.alpha_per_m)
        line = self.sampling.tangent_term(alpha_per_m=alpha, cap=term.cap, radius_m=self.radius_m * stretch)
        if isinstance(line.alpha_per_m, float):
            return line  # centres of cells lie in the region, too: snapping moves them no farther apart
        offset_m = line.offset_m + term.offset_m * alpha / line.alpha_per_m
        return _on_ground(Term(cap=term.cap, alpha_per_m=line.alpha_per_m, offset_m=offset_m), stretch)

    def _guarantee(self, term: Term, delta: Fraction) -> Guarantee:
        fails = None
        if self.trust is Trust.SHUFFLE:  # every report of a person is seen apart: the sum of their losses
            alone = self._sampled(Fraction(1)) if delta == self.delta else self._term(Fraction(1))
            left = self.delta / 2 if delta == self.delta else Fraction(0)
            fails = Guarantee(relation=self.relation, delta=left, trust=Trust.LOCAL, terms=(alone,))
        return Guarantee(
            relation=self.relation, delta=delta, trust=self.trust, terms=(term,), if_shuffler_fails=fails
        )


def _on_ground(term: Term, stretch: Fraction) -> Term:
    """Returns the term on the ground: projected distances are at most `stretch` times those on the ground."""
    return Term(
        cap=term.cap, alpha_per_m=Fraction(term.alpha_per_m) * stretch, offset_m=term.offset_m / stretch
    )


def _diameter_m(lattice: Lattice) -> Fraction:
    """Returns the largest distance of two places, in metres of the projection."""
    across_m, along_m = lattice.columns * lattice.column_m, lattice.rows * lattice.row_m
    return root_up(across_m**2 + along_m**2)
