"""Finds ε from protection goals, for the command, the API and the page alike."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from django.conf import settings

from heatmaps.ledger.amounts import EPSILON_UNITS
from heatmaps.ledger.balances import balances
from heatmaps.models import AccountKind, Dataset
from heatmaps.regions import region_of
from heatmaps.releases.request import Plan, ReleaseRequest
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.guarantee import INFINITY, Guarantee
from mechanisms.metric.protection_planner import FARTHEST_M, Wish, planned_alpha, spent

PART_PATTERN: Final = r"^[1-9][0-9]{0,5}(/[1-9][0-9]{0,5})?$"
_PART = re.compile(PART_PATTERN[1:-1], re.ASCII)
_CORRECTIONS: Final = 2  # losses grow with ε in proportion, but for roundings
_A_LITTLE_LESS: Final = Fraction(999, 1000)
_USUAL_SHARE: Final = 10  # as many usual releases use a limit up
_NO_PROMISE: Final = "a distance up to which this mechanism promises something in this dataset"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAlpha:
    """Holds the α per metre that grants all wishes."""

    alpha_per_m: Fraction
    wishes: tuple[Wish, ...]
    radius_m: Fraction | None

    @property
    def epsilon(self) -> Fraction | None:
        """Returns the ε to ask for at the radius."""
        return None if self.radius_m is None else self.alpha_per_m * self.radius_m


def wish(part: str, distance_m: str, epsilon: str) -> Wish:
    """Errors: `ParameterError` naming the text that is not allowed."""
    if _PART.fullmatch(part) is None or Fraction(part) > 1:
        raise ParameterError("part", part, "a part of a record such as 1/30, at most 1")
    return Wish(
        part=Fraction(part),
        distance_m=exact_decimal("distance_m", distance_m, low=0, low_open=True, high=FARTHEST_M),
        epsilon=exact_decimal("epsilon", epsilon, low=0, low_open=True, high=settings.MAX_EPSILON),
    )


def plan(wishes: Sequence[Wish], radius_m: str | None = None) -> PlannedAlpha:
    """Errors: `ParameterError` for no wishes, too many, or a radius that is none."""
    radius = None
    if radius_m is not None:
        radius = exact_decimal("radius_m", radius_m, low=0, low_open=True, high=FARTHEST_M)
    return PlannedAlpha(alpha_per_m=planned_alpha(wishes), wishes=tuple(wishes), radius_m=radius)


def epsilon_for(dataset: Dataset, request: ReleaseRequest, wishes: Sequence[Wish]) -> Fraction:
    """Returns the ε of a release, four digits and rounded down, at which its own guarantee grants every wish.

    Looks at the guarantee, not at α alone: snapping to squares adds to short moves, and a loss that is
    capped, or the same for every move, allows more. `request.epsilon` is not looked at, nor any data.
    Errors: `ParameterError`, on `distance_m` where the mechanism promises nothing for a move so long.
    """

    def excess(epsilon: Fraction) -> Fraction:
        release_plan = Plan.of(dataset, replace(request, epsilon=epsilon))
        return max(_part_spent(release_plan.guarantee, wish, diameter_m) for wish in wishes)

    diameter_m = region_of(dataset).diameter_m
    most = Fraction(settings.MAX_EPSILON)
    epsilon = _four_digits(min(planned_alpha(wishes) * (dataset.radius_m or 1), most))
    for _ in range(_CORRECTIONS):
        epsilon = _four_digits(min(epsilon / excess(epsilon), most))
    while excess(epsilon) > 1:
        epsilon = _four_digits(epsilon * _A_LITTLE_LESS)
    return epsilon


def usual_epsilon(dataset: Dataset) -> str:
    """Returns an ε at the radius to begin with: a round number, at most 1, at most a tenth of the limits.

    A whole record may move by the region's diameter, and costs as many times the radius' ε. No limit is
    looked at that is none or 0: there nothing is known, or nothing fits.
    """
    diameters = Fraction(region_of(dataset).diameter_m) / (dataset.radius_m or 1)
    reaches = {AccountKind.RADIUS: Fraction(1), AccountKind.RECORD: max(Fraction(1), diameters)}
    usual = Fraction(1)
    for kind, limit in _limits(dataset):
        if kind in reaches:
            usual = min(usual, limit / _USUAL_SHARE / reaches[kind])
    return rounded_down(_one_digit(usual))


def usual_flat_epsilon(dataset: Dataset) -> str:
    """Returns an ε to begin with where every change of a record costs the same: 1, or what limits allow."""
    limits = [limit for kind, limit in _limits(dataset) if kind != AccountKind.DELTA]
    return rounded_down(_one_digit(min(Fraction(1), *limits)))


def rounded_down(value: Fraction) -> str:
    """Returns twelve significant digits as a plain decimal: less than planned spends less."""
    digits = 12
    while value < 1 and value * 10**digits < 10**11:
        digits += 1
    whole, rest = divmod(int(value * 10**digits), 10**digits)
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".")


def _limits(dataset: Dataset) -> list[tuple[AccountKind, Fraction]]:
    """Returns the limits of the accounts that have one; ε is counted in `EPSILON_UNITS`."""
    rows = [balance for balance in balances(dataset) if balance.limit]
    return [(balance.kind, Fraction(balance.limit or 0, EPSILON_UNITS)) for balance in rows]


def _part_spent(guarantee: Guarantee, wish: Wish, diameter_m: float) -> Fraction:
    """Returns the loss of a wish, as a part of the loss that is allowed."""
    loss = spent(guarantee, wish, diameter_m=diameter_m)
    if loss == INFINITY:
        raise ParameterError("distance_m", f"{float(wish.moved_m):g} metres in the mean", _NO_PROMISE)
    return Fraction(loss) / wish.epsilon


def _four_digits(value: Fraction) -> Fraction:
    return _at_least_digits(value, 1000)


def _one_digit(value: Fraction) -> Fraction:
    return _at_least_digits(value, 1)


def _at_least_digits(value: Fraction, least: int) -> Fraction:
    """Rounds down to as many places as make it a whole number from `least` on."""
    places = 0
    while value * 10**places < least:
        places += 1
    return Fraction(int(value * 10**places), 10**places)
