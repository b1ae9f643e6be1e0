"""Words the predicted error of a release: how large it is, what it is of, and when it holds."""

from collections.abc import Mapping
from dataclasses import dataclass

from heatmaps import numbers
from mechanisms.expected_error import FARTHEST
from mechanisms.space.grid import Region


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorWords:
    """Words a predicted error of any kind of result."""

    size: str
    short: str  # for lists: "± 190 m"; empty: nothing useful is known
    beside: str  # what the size is of; empty: nothing more to say
    quantity: str
    assumptions: str


def of_map(error: Mapping[str, object], region: Region) -> ErrorWords:
    """Words the error of a map. `error`: an `ErrorBound` or `ErrorForecast`.

    Mass spread evenly over the unit square is nowhere more than 1 (L1) from mass in one corner, which is
    the worst case: a bound from 1 upwards says nothing that needs data.
    """
    emd, side_m = float(str(error["emd"])), max(region.width_m, region.height_m)
    share, distance = numbers.share(emd, rounding=numbers.UP), numbers.error_length(emd * side_m)
    if emd >= FARTHEST / 2:
        useless = (
            f"It would be {share} of the region’s side; mass spread evenly over the region, without any "
            "data, is never more than 100 % off."
        )
        return _error(error, "No useful bound can be proved here.", short="", quantity=useless)
    if "emd_low" in error:
        least = numbers.length_at_least(float(str(error["emd_low"])) * side_m)
        return _error(error, f"Probably between {least} and {distance}", short=f"± {distance}")
    beside = f"({share} of the region’s longer side)"
    return _error(error, f"At most {distance}", beside, short=f"± {distance}")


def of_distance(error: Mapping[str, object], _: Region) -> ErrorWords:
    """Words the error of a point or of distances. `error`: a `PointError`."""
    expected, within = (numbers.error_length(float(str(error[name]))) for name in ("expected_m", "within_m"))
    beside = f"on average; within {within} with probability 95 %"
    return _error(error, f"About {expected}", beside, short=f"± {expected}")


def of_shares(error: Mapping[str, object], _: Region) -> ErrorWords:
    """Words the error of shares. `error`: a `ShareError`."""
    points = numbers.number(100 * float(str(error["share"])), digits=2, rounding=numbers.UP)
    beside = "(standard error of each share)"
    return _error(error, f"About {points} percentage points", beside, short=f"± {points} points")


def _error(
    error: Mapping[str, object], size: str, beside: str = "", *, short: str, quantity: str = ""
) -> ErrorWords:
    return ErrorWords(
        size=size,
        short=short,
        beside=beside,
        quantity=quantity or str(error["quantity"]),
        assumptions=str(error["assumptions"]),
    )
