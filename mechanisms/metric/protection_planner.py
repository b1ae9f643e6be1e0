"""Finds α for protection goals, and what a guarantee protects (§3 of the paper).

A wish says: if a part τ of my record were elsewhere, by q metres on average, nobody should tell with a loss
above ε. Moving a part τ by q is an earth mover's distance of τ·q, so that α = min ε/(τ·q) grants all wishes.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from mechanisms.check import ParameterError, positive
from mechanisms.guarantee import INFINITY, Exact, Guarantee

MOST_WISHES: Final = 20
FARTHEST_M: Final = 20_100_000  # half of the Earth's greatest girth, rounded up
_HALVINGS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Asks that a part of a record (above 0, at most 1) moved by `distance_m` cost at most `epsilon`."""

    part: Fraction
    distance_m: Fraction
    epsilon: Fraction

    def __post_init__(self) -> None:
        positive(part=self.part, distance_m=self.distance_m, epsilon=self.epsilon)
        if self.part > 1:
            raise ParameterError("part", float(self.part), "above 0 and at most 1, the whole record")
        if self.distance_m > FARTHEST_M:
            raise ParameterError(
                "distance_m", float(self.distance_m), f"at most {FARTHEST_M}, around the Earth"
            )

    @property
    def moved_m(self) -> Fraction:
        """Returns the earth mover's distance of the change."""
        return self.part * self.distance_m

    @property
    def alpha_per_m(self) -> Fraction:
        return self.epsilon / self.moved_m


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Says that a part of a record may move up to `distance_m` at the loss asked; INFINITY: anywhere."""

    part: Fraction
    distance_m: Exact


def planned_alpha(wishes: Iterable[Wish]) -> Fraction:
    """Returns α per metre, the largest that grants every wish (§3).
    Errors: `ParameterError` without a wish.
    """
    alphas = [wish.alpha_per_m for wish in wishes]
    if not 1 <= len(alphas) <= MOST_WISHES:
        raise ParameterError("wishes", len(alphas), f"1 to {MOST_WISHES}")
    return min(alphas)


def spent(guarantee: Guarantee, wish: Wish, *, diameter_m: float = INFINITY) -> Exact:
    """Returns the cost of a wish's change under a guarantee;
    in a region nothing is moved beyond its diameter.
    """
    if diameter_m == INFINITY:
        return guarantee.loss(wish.moved_m)
    return guarantee.loss(wish.part * min(wish.distance_m, Fraction(math.floor(diameter_m) + 1)))


def covered_m(guarantee: Guarantee, epsilon: Fraction, *, diameter_m: Fraction) -> Fraction:
    """Returns the largest earth mover's distance up to `diameter_m` with a loss
    of at most `epsilon`, rounded down.

    0 when even the smallest change costs more.
    """
    positive(epsilon=epsilon, diameter_m=diameter_m)
    if guarantee.loss(diameter_m) <= epsilon:
        return diameter_m
    low, high = Fraction(0), diameter_m  # the loss does not fall with distance
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if guarantee.loss(middle) <= epsilon else (low, middle)
    whole = Fraction(math.ceil(low * 1000), 1000)  # halving ends a hair below round numbers
    if guarantee.loss(whole) <= epsilon:
        return whole
    return low if low > diameter_m / 2 ** (_HALVINGS // 2) else Fraction(0)


def reaches(
    guarantee: Guarantee, epsilon: Fraction, parts: Iterable[Fraction], *, diameter_m: Fraction
) -> tuple[Reach, ...]:
    """Returns for each part of a record how far it may be moved at a loss of at most `epsilon`."""
    covered = covered_m(guarantee, epsilon, diameter_m=diameter_m)
    return tuple(
        Reach(part=part, distance_m=INFINITY if covered >= part * diameter_m else covered / part)
        for part in parts
    )
