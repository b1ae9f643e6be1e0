"""Draws a ball of places, near ones likelier: the exponential mechanism for errors in an ultrametric."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import ClassVar, Final, Self

import numpy as np

from mechanisms.central.exponential.weight_table import LAST, PART_BITS, steepest, weight, weight_table
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.guarantee import Guarantee, Relation, Term, Trust
from mechanisms.mechanism import Target
from mechanisms.randomness import RandomSource
from mechanisms.reproduction.boedihardjo_2024.metric_space import FiniteSpace, Floats, is_ultrametric
from mechanisms.reproduction.boedihardjo_2024.packing import greedy_packing, neighbourhoods
from mechanisms.reproduction.boedihardjo_2024.scales import entropic_scale
from mechanisms.samplers.uniform import integer_below

_PART: Final = Fraction(1, 1 << PART_BITS)  # of a step
_GREATEST: Final = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class RelaxedExponential:
    """Answers with a place of a net, the likelier the nearer its ball is to the true place.

    The net is a largest set of places more than `separation` apart in the space's second metric ρ₂, an
    ultrametric. Place y of it is drawn with P ∝ W(σ(x, y)), where σ is the distance in the first metric, in
    metres, from x to the nearest place v with ρ₂(v, y) ≤ separation, and W the integer weights of
    `weight_table`, about exp(-ασ/2).

    Guarantee: one term, delta 0, LOCAL, for two places a distance d apart in the first metric:
    min(cap, α · (d + offset)). σ(·, y) changes by at most d, W by a factor of at most exp(λ/h · d) with steps
    of h metres (`steepest`), and so does the sum of all weights: together α · d with α = 2λ/h. Distances are
    rounded down to parts of a step, which is in the offset. It holds for any separation, and whether or not
    ρ₂ is an ultrametric; that only keeps the error small (Lemma 5.2 there).
    Edge cases: weights are constant beyond the table's reach, so that every place of the net can be drawn.
    With separation 0 it is the plain exponential mechanism on all places.
    Error: `expected_error`, in the second metric, at the place where it is largest.
    References: Boedihardjo, Strohmer, Vershynin, "Metric geometry of the privacy-utility tradeoff", 2024,
    section 5, Theorem 5.1, whose separation is the entropic scale s(Z, α/3).
    """

    name: ClassVar[str] = "relaxed-exponential"
    space: FiniteSpace = field(repr=False)
    alpha_per_m: Fraction
    separation: float

    def __post_init__(self) -> None:
        exact = exact_decimal("alpha_per_m", self.alpha_per_m, low=0, low_open=True, high=_GREATEST)
        object.__setattr__(self, "alpha_per_m", exact)
        if not self.separation >= 0:
            raise ParameterError("separation", self.separation, "a number of at least 0")
        if not is_ultrametric(self.space.second):
            raise ParameterError("space", "another", "a second metric that is an ultrametric")

    @classmethod
    def calibrate(cls, target: Target, *, space: FiniteSpace, separation: float | None = None) -> Self:
        """Returns the mechanism whose loss at `target.radius_m` is at most `target.epsilon`; the paper's
        separation by default.
        """
        radius_m = target.needed_radius_m
        # α · (radius + 2λ/α · part) = ε
        rounding = 2 * steepest(weight_table()) * _PART
        alpha_per_m = (target.epsilon - rounding) / radius_m
        if separation is None:
            separation = entropic_scale(space, float(alpha_per_m) / 3).high
        return cls(space=space, alpha_per_m=alpha_per_m, separation=separation)

    @property
    def guarantee(self) -> Guarantee:
        steps = min(Fraction(float(self.space.first.max())) / self.step_m + _PART, Fraction(LAST))
        term = Term(
            cap=2 * steepest(weight_table()) * steps,
            alpha_per_m=self.alpha_per_m,
            offset_m=self.step_m * _PART,
        )
        return Guarantee(relation=Relation.REPLACE, trust=Trust.LOCAL, terms=(term,))

    @property
    def step_m(self) -> Fraction:
        """Returns h: metres for one entry of the table."""
        return 2 * steepest(weight_table()) / self.alpha_per_m

    @property
    def net(self) -> tuple[int, ...]:
        """Returns the places that can be the answer."""
        near = neighbourhoods(self.space.second, self.separation)
        return tuple(place for place, is_member in greedy_packing(near, range(self.space.size)) if is_member)

    def release(self, place: int, rng: RandomSource) -> int:
        """Draws a place of the net for the number of the true one.
        Errors: ValueError beyond the last place.
        """
        if not 0 <= place < self.space.size:
            raise ValueError("the place must be one of the space")
        weights = _weights(self)[place]
        number = integer_below(rng, sum(weights))
        return self.net[sum(end <= number for end in accumulate(weights))]

    def expected_error(self) -> float:
        weights = np.array([[float(each) for each in row] for row in _weights(self)])
        shares = weights / weights.sum(axis=1, keepdims=True)
        return float((shares * self.space.second[:, list(self.net)]).sum(axis=1).max())

    def weights(self) -> tuple[tuple[int, ...], ...]:
        """Returns for each true place, the weights of the places of the net."""
        return _weights(self)


@lru_cache(maxsize=8)
def _weights(mechanism: RelaxedExponential) -> tuple[tuple[int, ...], ...]:
    part_m = mechanism.step_m * _PART
    table = weight_table()
    return tuple(
        tuple(weight(table, int(Fraction(metres) / part_m)) for metres in row)
        for row in to_balls_m(mechanism.space, mechanism.net, mechanism.separation).tolist()
    )


def to_balls_m(space: FiniteSpace, net: Sequence[int], separation: float) -> Floats:
    """Returns σ: `(places, net)` distances
    in the first metric to the second's balls around the places of the net.
    """
    near = neighbourhoods(space.second, separation)
    balls = [[place for place in range(space.size) if (near[centre] >> place) & 1] for centre in net]
    return np.array([[row[ball].min() for ball in balls] for row in space.first])
