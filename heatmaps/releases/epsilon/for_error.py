"""Finds the ε that a target error needs, from public facts alone."""

from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from math import inf
from typing import Final

from django.conf import settings

from heatmaps.guides import epsilons as guides
from heatmaps.models import Dataset
from heatmaps.numbers import UP, number
from heatmaps.regions import region_of
from heatmaps.releases.request import Plan, ReleaseRequest
from mechanisms.calibration import sensitivity
from mechanisms.central.adaptive.mechanism import MOST_WALKED, Adaptive
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.guarantee import Relation

FARTHEST_M: Final = 20_040_000  # half of the earth's circumference, rounded up
# Two digits are as many as a prediction deserves: 0.0010, 0.0011, … 0.0099, 0.010, … to the largest ε.
_CHOICES: Final = tuple(
    Fraction(digits, 10**places) for places in range(4, -1, -1) for digits in range(10, 100)
)


class TooExact(ParameterError):  # noqa: N818 - as the other domain errors
    """Says that no ε predicts so small an error."""

    def __init__(self, error_m: str, least_m: float, among: str) -> None:
        self.least_m = least_m
        least = number(least_m, rounding=UP)
        super().__init__("error_m", error_m, f"at least {least} metres, the least predicted for {among}")


def epsilon_for(dataset: Dataset, request: ReleaseRequest, error_m: str) -> Fraction:
    """Returns the least ε of two digits at which the predicted error's upper end is at most `error_m` metres.

    The upper end of a forecast's interval, a bound, or a point's 95 % distance; `request.epsilon` is not
    looked at. With a guide: of those at which one may be named. Errors: TooExact where no such ε is enough;
    `ParameterError`, on `error_m` where nothing is predicted, on `guide` where no ε allows it.
    """
    target_m = exact_decimal("error_m", error_m, low=0, low_open=True, high=FARTHEST_M)
    least = inf

    def is_enough(epsilon: Fraction) -> bool:
        return predicted_m(dataset, request, epsilon) <= target_m

    for piece in _falling(dataset, request):
        last = predicted_m(dataset, request, piece[-1])
        if last <= target_m:
            return piece[bisect_left(piece, True, key=is_enough)]
        least = min(least, last)
    raise TooExact(error_m, least, "any ε of a release" if request.guide is None else "any ε with a guide")


def predicted_m(dataset: Dataset, request: ReleaseRequest, epsilon: Fraction) -> float:
    """Returns the upper end of the error predicted for an ε, in metres. Errors: `ParameterError`."""
    plan = Plan.of(dataset, replace(request, epsilon=epsilon))
    error = plan.expected_error(dataset)
    if error is None:
        raise ParameterError(
            "error_m", "a distance", "only where a number of people is public: nothing is predicted here"
        )
    upper_m = error.upper_m(plan.data_slice.region(region_of(dataset)))
    if upper_m is None:
        raise ParameterError("error_m", "a distance", "nothing here: what is predicted is no distance")
    return upper_m


def _falling(dataset: Dataset, request: ReleaseRequest) -> list[list[Fraction]]:
    """Returns the ε that a release may have, from the least on, in stretches in which predicted errors fall.

    Between two of them `adaptive` measures in another way, and an error may jump up. Errors: `ParameterError`
    on `guide` where there is none.
    """
    epsilons = [epsilon for epsilon in _CHOICES if epsilon <= settings.MAX_EPSILON]
    persons = guides.persons_of(dataset, request.mechanism, request.parameters)
    if request.mechanism != Adaptive.name or persons is None:
        return [epsilons]
    if request.guide is not None:
        allowed = guides.epsilons(dataset, request.mechanism, request.parameters)
        epsilons = [epsilon for epsilon in epsilons if allowed and allowed[0] <= epsilon <= allowed[1]]
        if not epsilons:
            raise guides.refusal(request.guide, dataset, request.mechanism, request.parameters)

    walked = MOST_WALKED * sensitivity(Relation(dataset.relation))
    stretches = groupby(epsilons, key=lambda epsilon: persons * epsilon <= walked)
    return [list(stretch) for _, stretch in stretches]
