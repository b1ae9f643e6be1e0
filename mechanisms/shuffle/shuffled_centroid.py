"""Provides the base of central points by shuffled bits: a lattice, noise on the sum of each axis, a point."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

from mechanisms.accounting.two_axes import Shift, snapped_disk
from mechanisms.check import ParameterError
from mechanisms.expected_error import POINT_QUANTITY, PointError
from mechanisms.guarantee import INFINITY, Guarantee, Term, Trust
from mechanisms.mechanism import CentroidMechanism, Target
from mechanisms.randomness import RandomSource
from mechanisms.records.means import RecordMeans
from mechanisms.shuffle.lattice import ROOT_TWO, AxisLattice
from mechanisms.shuffle.padded_noise import HIGHEST_LOSS
from mechanisms.shuffle.protocol import MOST_PERSONS, check_target
from mechanisms.space.grid import Region

# Accounts of smaller losses take tables of many millions of entries.
_LEAST_LOSS_A_SQUARE: Final = Fraction(1, 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffledCentroid(CentroidMechanism):
    """Provides the base of the three: a lattice, integer noise on the sum of each axis, a point.

    Guarantee: one term, δ, under REPLACE, up to `reach_m` and nothing beyond. ε_s a square of Euclidean
    length on the lattice; a move of d metres on the ground is at most (d + offset)·squares a metre there,
    rounding of the sums included (`AxisLattice`); d is that of records as read (`Guarantee`). Accounted for
    every lattice move that the reach can become.
    Edge cases: persons without check-ins stand at the region's centre; the released point is moved into the
    region.
    Error: `expected_error`.
    """

    usual_steps: ClassVar[int] = 20  # squares in the radius, by default
    most_persons: ClassVar[int] = MOST_PERSONS
    lengths: ClassVar[tuple[str, ...]] = ("radius_m", "reach_m", "cell_m")
    delta: Fraction
    reach_m: Fraction  # distance up to which anything is promised: at least the radius
    cell_m: Fraction

    def __post_init__(self) -> None:
        # super() knows the class only as it was before slots were added.
        CentroidMechanism.__post_init__(self)
        farthest = max(self.lattice.domains)
        check_target(self.persons, self.epsilon, self.delta, 1, farthest)
        if self.steps > farthest:
            raise ParameterError("radius_m", float(self.radius_m), "less than the region's longer side")
        if self.reach_m < self.radius_m:
            raise ParameterError("reach_m", float(self.reach_m), f"at least {float(self.radius_m):g}")
        if self.highest_loss > HIGHEST_LOSS:
            most = HIGHEST_LOSS * self.epsilon / self.highest_loss
            raise ParameterError("epsilon", float(self.epsilon), f"at most {float(most):.3g} with this reach")
        if self.epsilon_step < _LEAST_LOSS_A_SQUARE:
            least = _LEAST_LOSS_A_SQUARE * self.epsilon / self.epsilon_step
            allowed = f"at least {float(least):.3g} with squares of this size, or larger squares"
            raise ParameterError("epsilon", float(self.epsilon), allowed)
        self._check_noise()

    @classmethod
    def calibrate(
        cls,
        target: Target,
        *,
        region: Region,
        persons: int,
        cell_m: Fraction | None = None,
        reach_m: Fraction | None = None,
        **parameters: Any,
    ) -> Self:
        """Returns the mechanism; without `cell_m`, `usual_steps` squares in the radius, fewer where each
        would cost next to nothing or the domain would be too large; without `reach_m`, the radius."""
        radius_m = target.needed_radius_m
        if cell_m is None:
            finest = math.ceil(AxisLattice.smallest_cell_m(region) * 1000)
            steps = min(Fraction(cls.usual_steps), max(target.epsilon * 250, Fraction(1)))
            cell_m = Fraction(max(math.ceil(radius_m * 1000 / steps), finest), 1000)
        return cls.spending(
            target,
            region=region,
            persons=persons,
            delta=target.delta,
            reach_m=radius_m if reach_m is None else reach_m,
            cell_m=cell_m,
            **parameters,
        )

    def _check_noise(self) -> None:
        """Refuses what cannot be calibrated. The calibration's own words are of one axis and one square."""
        try:
            self.noise()
        except ParameterError as error:
            if error.parameter in ("persons", "delta"):
                raise
            allowed = f"another with this radius, reach and delta (a square's {error})"
            raise ParameterError("epsilon", float(self.epsilon), allowed) from error

    @property
    def lattice(self) -> AxisLattice:
        return AxisLattice(region=self.region, cell_m=self.cell_m)

    @property
    def steps(self) -> Fraction:
        """Returns squares in the radius."""
        return self.lattice.steps(self.radius_m)

    @property
    def reach_steps(self) -> Fraction:
        """Returns squares in the reach."""
        return self.lattice.steps(self.reach_m)

    @property
    def highest_loss(self) -> Fraction:
        """Returns the loss at the reach: epsilon where that is the radius."""
        return self.epsilon_step * (self.reach_steps + ROOT_TWO)

    @property
    def epsilon_step(self) -> Fraction:
        """Returns ε_s: loss a square of Euclidean length on the lattice."""
        return self.epsilon / (self.steps + ROOT_TWO)

    @property
    def epsilon_axis(self) -> Fraction:
        """Returns the loss a step on one axis, axes accounted for one by one: |i| + |j| ≤ √2·|(i, j)|."""
        return self.epsilon_step / ROOT_TWO

    @property
    def guarantee(self) -> Guarantee:
        lattice = self.lattice
        term = Term(
            cap=INFINITY,
            alpha_per_m=self.epsilon_step * lattice.steps_per_m,
            offset_m=lattice.offset_m,
        )
        return Guarantee(
            relation=self.relation,
            delta=self.delta,
            max_distance_m=self.reach_m,
            terms=(term,),
            simulated=True,
        )

    @property
    def guarantee_with_shuffler(self) -> Guarantee:
        """Returns the guarantee of the same protocol on people's devices; `if_shuffler_fails` says what a
        colluding shuffler leaves.

        The two axes of one person: |i| + |j| ≤ √2·|(i, j)| steps.
        """
        here, lattice = self.guarantee, self.lattice
        alpha, edge = self._alone()
        alone = Guarantee(
            relation=self.relation,
            delta=min(Fraction(1), 2 * edge),
            trust=Trust.LOCAL,
            max_distance_m=self.reach_m if edge else INFINITY,
            terms=(
                Term(
                    cap=INFINITY,
                    alpha_per_m=alpha * ROOT_TWO * lattice.steps_per_m,
                    offset_m=lattice.offset_m,
                ),
            ),
        )
        return Guarantee(
            relation=self.relation,
            delta=self.delta,
            trust=Trust.SHUFFLE,
            max_distance_m=self.reach_m,
            terms=here.terms,
            if_shuffler_fails=alone,
        )

    def _draw(self, means: RecordMeans, rng: RandomSource) -> tuple[float, float]:
        across, along = self.noisy_sums(means, rng)
        return self.lattice.place(across / self.persons, along / self.persons)

    def noisy_sums(self, means: RecordMeans, rng: RandomSource) -> tuple[Fraction, Fraction]:
        """Returns the analyst's sums on each axis; the released point is a function of them."""
        across, along = self.lattice.sums(means)
        return self._noisy(0, across, rng), self._noisy(1, along, rng)

    def expected_error(self) -> PointError:
        expected, within = (self._noise_length()[i] * float(self.cell_m) / self.persons for i in (0, 1))
        rounding = float(self.cell_m) / self.persons / math.sqrt(2)
        return PointError(
            expected_m=expected + rounding,
            within_m=within + rounding,
            quantity=POINT_QUANTITY,
            assumptions="Distances are those of the region's projection.",
        )

    @property
    def farthest(self) -> int:
        """Returns steps on one axis within the reach: no person has more than the region's own."""
        return min(math.ceil(self.reach_steps), max(self.lattice.domains))

    @property
    def shifts(self) -> list[Shift]:
        return snapped_disk(float(self.reach_steps) * (1 + 1e-12))

    @abstractmethod
    def noise(self) -> object: ...

    @abstractmethod
    def _alone(self) -> tuple[Fraction, Fraction]:
        """Returns (loss a step on one axis without the shuffler, δ of one axis)."""

    @abstractmethod
    def _noisy(self, axis: int, total: int, rng: RandomSource) -> Fraction: ...

    @abstractmethod
    def _noise_length(self) -> tuple[float, float]:
        """Returns (mean, 95 % quantile) of the Euclidean length of the noise, in steps."""
