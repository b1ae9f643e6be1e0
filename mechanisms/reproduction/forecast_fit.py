"""The straight lines through logarithms of errors that the forecasts in `error_bounds` hold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mechanisms.error_bounds import ErrorForecast

_TAILS = (0.04, 0.96)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Median error = factor · (n · epsilon)^exponent; `low` and `high` are points of errors over it."""

    factor: float
    exponent: float
    low: float
    high: float


def fit(errors: Mapping[tuple[int, Fraction], Sequence[float]]) -> Fit:
    """Least squares in logarithms, each setting (persons, epsilon) with the same weight, then its median."""
    logs = [(np.log(float(n * epsilon)), np.log(found)) for (n, epsilon), found in errors.items()]
    at = np.concatenate([np.full(found.size, where) for where, found in logs])
    seen = np.concatenate([found for _, found in logs])
    weights = np.concatenate([np.full(found.size, found.size**-0.5) for _, found in logs])
    exponent, constant = np.polyfit(at, seen, 1, w=weights)
    residuals = seen - constant - exponent * at
    middle = np.median(residuals)
    low, high = np.exp(np.quantile(residuals, _TAILS) - middle)
    return Fit(
        factor=float(np.exp(constant + middle)), exponent=float(exponent), low=float(low), high=float(high)
    )


def coverage(
    errors: Mapping[tuple[int, Fraction], Sequence[float]],
    forecast_of: Callable[[int, Fraction], ErrorForecast],
) -> float:
    """Share of the errors within the forecast's interval, mean over settings."""
    shares = []
    for (persons, epsilon), found in errors.items():
        forecast = forecast_of(persons, epsilon)
        shares.append(np.mean([forecast.emd_low <= error <= forecast.emd for error in found]))
    return float(np.mean(shares))
