"""Finds the ε that a target error needs, from public facts alone."""

from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from typing import Final

from django.conf import settings

from heatmaps.models import Dataset
from heatmaps.numbers import UP, number
from heatmaps.regions import region_of
from heatmaps.releases import quotes
from heatmaps.releases.quotes import ReleaseRequest
from mechanisms.check import ParameterError, exact_decimal

FARTHEST_M: Final = 20_040_000  # half of the earth's circumference, rounded up
# Two digits are as many as a prediction deserves: 0.0010, 0.0011, … 0.0099, 0.010, … to the largest ε.
_CHOICES: Final = tuple(
    Fraction(digits, 10**places) for places in range(4, -1, -1) for digits in range(10, 100)
)


def epsilon_for(dataset: Dataset, request: ReleaseRequest, error_m: str) -> Fraction:
    """The least ε, of two digits, at which the predicted error's upper end is at most `error_m` metres.

    The upper end of a forecast's interval, a bound, or a point's 95 % distance; `request.epsilon` is not
    looked at. Errors: `ParameterError`, on `error_m` where no ε a release may have is enough, or where
    nothing is predicted.
    """
    wished = exact_decimal("error_m", error_m, low=0, low_open=True, high=FARTHEST_M)
    choices = [epsilon for epsilon in _CHOICES if epsilon <= settings.MAX_EPSILON]
    # Predicted errors fall as ε grows.
    place = bisect_left(choices, True, key=lambda one: predicted_m(dataset, request, one) <= wished)
    if place == len(choices):
        least = predicted_m(dataset, request, choices[-1])
        shown = number(least, rounding=UP)
        raise ParameterError(
            "error_m", error_m, f"at least {shown} metres, predicted for the largest ε of a release"
        )
    return choices[place]


def predicted_m(dataset: Dataset, request: ReleaseRequest, epsilon: Fraction) -> float:
    """The upper end of the error that is predicted for that ε, in metres. Errors: `ParameterError`."""
    planned = quotes.plan(dataset, replace(request, epsilon=epsilon))
    error = planned.expected_error(dataset)
    if error is None:
        raise ParameterError(
            "error_m", "a distance", "only where a number of people is public: nothing is predicted here"
        )
    upper_m = error.upper_m(planned.data_slice.region(region_of(dataset)))
    if upper_m is None:
        raise ParameterError("error_m", "a distance", "nothing here: what is predicted is no distance")
    return upper_m
