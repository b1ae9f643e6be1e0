"""Words data slices."""

from calendar import month_name
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from heatmaps.data_slice import EDGES, DataSlice, moment_or_none
from heatmaps.numbers import day, moment, number
from mechanisms.space.grid import Region

PERIOD: Final = "Period"
PART: Final = "Part of the region"
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


def data_slice_words(data_slice: DataSlice, region: Region) -> list[tuple[str, str]]:
    """Returns (title, text) of what is restricted; nothing where all the data are asked about.

    region: the dataset's.
    """
    words = []
    if data_slice.has_period:
        words.append(
            (PERIOD, period_words(moment_or_none(data_slice.since), moment_or_none(data_slice.until)))
        )
    if data_slice.rectangle is not None:
        box = dict(zip(EDGES, data_slice.region(region), strict=True))
        words.append((PART, box_words(box)))
    return words


def period_words(since: str | None, until: str | None) -> str:
    """Says in words what a period of two moments (`data_slice.moment_text`) takes in."""
    if since is None or until is None:
        bounds = f"before {_moment(until)}" if since is None else f"from {_moment(since)} on"
    else:
        bounds = f"from {_moment(since)} to before {_moment(until)}"
    return f"{bounds} UTC; check-ins without a time are left out"


def short_period(data_slice: DataSlice) -> str:
    """Words a period for titles and lists: "January 2025", "2025-01-03 to 2025-01-09"; empty for all
    times."""
    since, until = (None if at is None else _utc(at) for at in (data_slice.since, data_slice.until))
    if since is None or until is None:
        bounds = ("until", _last_day(until)) if until else ("from", _day_or_minute(since)) if since else ()
        return " ".join(bounds)
    if not (_is_midnight(since) and _is_midnight(until)):
        return f"{_day_or_minute(since)} to {_day_or_minute(until)}"
    last = until - timedelta(days=1)
    if since.day == until.day == 1:
        return _months(since, last)
    return day(since) if since == last else f"{day(since)} to {day(last)}"


def box_words(box: Mapping[str, float]) -> str:
    """Words west, south, east and north in degrees."""
    west, south, east, north = (number(box[edge], digits=6) for edge in EDGES)
    return f"latitude {south}° to {north}°, longitude {west}° to {east}°"


def _months(first: datetime, last: datetime) -> str:
    """Words whole months, from the first day of one to the last of another."""
    if (first.month, last.month) == (1, 12):
        return f"{first.year}" if first.year == last.year else f"{first.year} to {last.year}"
    end = f"{month_name[last.month]} {last.year}"
    if (first.year, first.month) == (last.year, last.month):
        return end
    year = "" if first.year == last.year else f" {first.year}"
    return f"{month_name[first.month]}{year} to {end}"


def _last_day(until: datetime) -> str:
    """Words the end of a period; `until` itself is left out."""
    if _is_midnight(until) and until > _EARLIEST:
        return day(until - timedelta(days=1))
    return _day_or_minute(until)


def _day_or_minute(at: datetime) -> str:
    return day(at) if _is_midnight(at) else moment(at).removesuffix(" UTC")


def _is_midnight(at: datetime) -> bool:
    return (at.hour, at.minute, at.second) == (0, 0, 0)


def _utc(seconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)


def _moment(text: str | None) -> str:
    return "" if text is None else text.removesuffix("Z").replace("T", " ").removesuffix(":00")
