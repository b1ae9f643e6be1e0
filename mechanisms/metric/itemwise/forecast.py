"""Forecasts the error of a map of shuffled items from public facts."""

from typing import Final

from mechanisms.check import positive
from mechanisms.expected_error import ErrorForecast

_EVENLY_SPREAD: Final = 1.0  # the even map is never farther from any other
_LOW, _HIGH = 0.5, 1.9  # of the median
_QUANTITY: Final = (
    "Forecast of the earth mover's distance between the released and the true map, both with sum 1, with L1 "
    "distance on the unit square, where 2 is the largest possible value: nine of ten maps had an error in "
    "the given interval."
)
_FROM: Final = (
    "Seen on check-ins of towns and their surroundings where everyone has some; no bound is proved, and data "
    "spread otherwise may be farther off. People without check-ins count in the region's middle."
)


def forecast(reports: int, cap: float) -> ErrorForecast:
    """Returns the forecast for so many reports, each at most `cap` from the others:
    decay times width and height.

    The median is e = 0.17 cap^-0.83 + 4.1 reports^-0.51 cap^-0.40, which stops rising at 0.32, where maps are
    as good as even: (e^-3 + 0.32^-3)^(-1/3). Fitted to places of the even half with 100 persons or more, on
    32 × 32 squares (`reproduction/imola_2024/itemwise_places.py`); places of the odd half check it.
    """
    positive(reports=reports, cap=cap)
    error = 0.17 * cap**-0.83 + 4.1 * reports**-0.51 * cap**-0.40
    median = (error**-3 + 0.32**-3) ** (-1 / 3)
    low, middle, high = (min(_EVENLY_SPREAD, factor * median) for factor in (_LOW, 1.0, _HIGH))
    return ErrorForecast(emd=high, emd_low=low, emd_median=middle, quantity=_QUANTITY, assumptions=_FROM)
