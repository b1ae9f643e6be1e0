"""Words which parts of a record a guarantee covers."""

from fractions import Fraction
from typing import Final

from heatmaps.numbers import DOWN, length
from mechanisms.guarantee import INFINITY, Guarantee
from mechanisms.metric.protection_planner import Reach, reaches

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
    """Names a part of a record."""
    return _NAMES.get(of, f"{of.numerator}/{of.denominator} of the record")


def reach_length(distance_m: Fraction) -> str:
    """Words a distance, rounded down: nothing is promised beyond it."""
    return length(distance_m, rounding=DOWN)


def explained(guarantee: Guarantee, *, radius_m: int, diameter_m: float) -> tuple[str, ...]:
    """Says what the loss at the radius covers of changes to a part of a record; nothing for a flat
    guarantee."""
    epsilon = guarantee.loss(radius_m)
    if epsilon in (0, INFINITY) or guarantee.loss(INFINITY) == epsilon:
        return ()
    part_reaches = reaches(guarantee, Fraction(epsilon), PARTS, diameter_m=Fraction(diameter_m))
    phrases = [
        _reach(reach) for reach in part_reaches if reach.distance_m == INFINITY or reach.distance_m >= 1
    ]
    if not phrases:
        return ()
    return (f"The radius ε covers each of these changes alone: {'; '.join(phrases)}.",)


def _reach(reach: Reach) -> str:
    if reach.distance_m == INFINITY:
        return f"{part(reach.part)} moved anywhere in the region"
    return f"{part(reach.part)} moved by up to {reach_length(Fraction(reach.distance_m))} on average"
