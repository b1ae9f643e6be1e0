"""Fits the straight lines through logarithms of errors that the forecasts in `error_bounds` hold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mechanisms.expected_error import ErrorForecast

_TAILS = (0.04, 0.96)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Holds median error = factor · (n · epsilon)^exponent; `low` and `high` are points of errors over it."""

    factor: float
    exponent: float
    low: float
    high: float


def fit(errors: Mapping[tuple[int, Fraction], Sequence[float]]) -> Fit:
    """Returns least squares in logarithms, each setting (persons, epsilon)
    with the same weight, then its median.
    """
    logs = [(np.log(float(n * epsilon)), np.log(values)) for (n, epsilon), values in errors.items()]
    at = np.concatenate([np.full(values.size, where) for where, values in logs])
    log_errors = np.concatenate([values for _, values in logs])
    weights = np.concatenate([np.full(values.size, values.size**-0.5) for _, values in logs])
    exponent, constant = np.polyfit(at, log_errors, 1, w=weights)
    residuals = log_errors - constant - exponent * at
    middle = np.median(residuals)
    low, high = np.exp(np.quantile(residuals, _TAILS) - middle)
    return Fit(
        factor=float(np.exp(constant + middle)), exponent=float(exponent), low=float(low), high=float(high)
    )


def coverage(
    errors: Mapping[tuple[int, Fraction], Sequence[float]],
    forecast_of: Callable[[int, Fraction], ErrorForecast],
) -> float:
    """Returns the share of the errors within the forecast's interval, mean over settings."""
    shares = []
    for (persons, epsilon), values in errors.items():
        forecast = forecast_of(persons, epsilon)
        shares.append(np.mean([forecast.emd_low <= error <= forecast.emd for error in values]))
    return float(np.mean(shares))
