"""Accuracy first: the ε that a wished error takes, from public facts alone."""

from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from typing import Final

from django.conf import settings

from heatmaps import queries, quotes
from heatmaps.models import Dataset
from heatmaps.quotes import ReleaseRequest
from mechanisms.check import ParameterError, exact_decimal
from mechanisms.prediction import PointError, ShareError

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
        raise ParameterError(
            "error_m", error_m, f"at least {least:.3g} metres, predicted for the largest ε of a release"
        )
    return choices[place]


def predicted_m(dataset: Dataset, request: ReleaseRequest, epsilon: Fraction) -> float:
    """The upper end of the error that is predicted for that ε, in metres. Errors: `ParameterError`."""
    planned = quotes.plan(dataset, replace(request, epsilon=str(float(epsilon))))
    error = planned.expected_error(dataset)
    if error is None:
        raise ParameterError(
            "error_m", "a distance", "only where a number of persons is public: nothing is predicted here"
        )
    if isinstance(error, ShareError):
        raise ParameterError("error_m", "a distance", "nothing here: the error of shares is no distance")
    if isinstance(error, PointError):
        return error.within_m
    mapped = planned.asked.region(queries.region_of(dataset))
    return error.emd * max(mapped.width_m, mapped.height_m)
