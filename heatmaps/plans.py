"""Wishes of people read as exact numbers, for the command and the API alike."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from django.conf import settings

from heatmaps.wording import plan as wording
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.metric.planner import FARTHEST_M, Wish, planned_alpha

PART_PATTERN: Final = r"^[1-9][0-9]{0,5}(/[1-9][0-9]{0,5})?$"
_PART = re.compile(PART_PATTERN[1:-1], re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """α per metre that grants all wishes, and what it says."""

    alpha_per_m: Fraction
    wishes: tuple[Wish, ...]
    radius_m: Fraction | None

    @property
    def epsilon(self) -> Fraction | None:
        """What to ask for at the radius."""
        return None if self.radius_m is None else self.alpha_per_m * self.radius_m

    @property
    def sentences(self) -> tuple[str, ...]:
        return wording.planned(self.alpha_per_m, self.wishes)


def wish(part: str, distance_m: str, epsilon: str) -> Wish:
    """Errors: `ParameterError` naming the text that is not allowed."""
    if _PART.fullmatch(part) is None or Fraction(part) > 1:
        raise ParameterError("part", part, "a part of a record such as 1/30, at most 1")
    return Wish(
        part=Fraction(part),
        distance_m=exact_decimal("distance_m", distance_m, low=0, low_open=True, high=FARTHEST_M),
        epsilon=exact_decimal("epsilon", epsilon, low=0, low_open=True, high=settings.MAX_EPSILON),
    )


def plan(wishes: Sequence[Wish], radius_m: str | None = None) -> Plan:
    """Errors: `ParameterError` for no wishes, too many, or a radius that is none."""
    radius = None
    if radius_m is not None:
        radius = exact_decimal("radius_m", radius_m, low=0, low_open=True, high=FARTHEST_M)
    return Plan(alpha_per_m=planned_alpha(wishes), wishes=tuple(wishes), radius_m=radius)


def rounded_down(value: Fraction) -> str:
    """Twelve significant digits as a plain decimal: less than planned spends less."""
    digits = 12
    while value < 1 and value * 10**digits < 10**11:
        digits += 1
    whole, rest = divmod(int(value * 10**digits), 10**digits)
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".")
