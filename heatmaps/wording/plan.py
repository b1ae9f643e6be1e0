"""Plain sentences about parts of a record: what a guarantee covers, and what was wished of it."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from mechanisms.guarantee import INFINITY, Guarantee
from mechanisms.metric.planner import Reach, Wish, reaches

PARTS: Final = (Fraction(1), Fraction(1, 10), Fraction(1, 30))  # the last: a day of a month

_NAMES: Final = {
    Fraction(1): "the whole record",
    Fraction(1, 2): "half of the record",
    Fraction(1, 3): "a third of the record",
    Fraction(1, 7): "a seventh of the record (as a day of a week)",
    Fraction(1, 10): "a tenth of the record",
    Fraction(1, 30): "a thirtieth of the record (as a day of a month)",
    Fraction(1, 365): "a 365th of the record (as a day of a year)",
}


def part(of: Fraction) -> str:
    """A part of a record in words."""
    return _NAMES.get(of, f"{of.numerator}/{of.denominator} of the record")


def length(distance_m: Fraction) -> str:
    """A distance, rounded down to three digits: nothing is promised beyond it."""
    value = float(distance_m) * (1 + 1e-9)  # a bisection ends a hair below what it looks for
    if value >= 10_000:
        step = 1000 if value < 10**6 else 10_000
        return f"{value // step * step / 1000:,.0f} km"
    return f"{value // 10 * 10:,.0f} m" if value >= 1000 else f"{value // 1:.0f} m"


def explained(guarantee: Guarantee, *, radius_m: int, diameter_m: float) -> tuple[str, ...]:
    """What the loss at the radius covers of changes to a part of a record; nothing for a flat guarantee."""
    epsilon = guarantee.loss(radius_m)
    if epsilon in (0, INFINITY) or guarantee.loss(INFINITY) == epsilon:
        return ()
    found = reaches(guarantee, Fraction(epsilon), PARTS, diameter_m=Fraction(diameter_m))
    said = [_reach(reach) for reach in found if reach.distance_m == INFINITY or reach.distance_m >= 1]
    if not said:
        return ()
    return (f"The radius ε covers each of these changes alone: {'; '.join(said)}.",)


def wished(wish: Wish) -> str:
    """A wish as it was understood."""
    return (
        f"Moving {part(wish.part)} by {length(wish.distance_m)} on average is an earth mover's distance of "
        f"{length(wish.moved_m)} and may cost ε = {float(wish.epsilon):g}."
    )


def planned(alpha_per_m: Fraction, wishes: Sequence[Wish]) -> tuple[str, ...]:
    """What α grants of wishes, one sentence each."""
    return (
        f"The loss may grow by ε = {float(alpha_per_m * 1000):.4g} a kilometre of earth mover's distance.",
        *(
            f"Moving {part(wish.part)} by up to {length(wish.distance_m)} then costs at most "
            f"ε = {float(alpha_per_m * wish.moved_m):.4g}."
            for wish in wishes
        ),
    )


def _reach(reach: Reach) -> str:
    if reach.distance_m == INFINITY:
        return f"{part(reach.part)} moved anywhere in the region"
    return f"{part(reach.part)} moved by up to {length(Fraction(reach.distance_m))} on average"
