"""Finds which columns of a file hold a check-in, and checks their texts as values."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from heatmaps.ingest.formats.lines import ReaderError
from heatmaps.ingest.options import FIELDS, Options
from heatmaps.pseudonyms import user_names
from heatmaps.pseudonyms.user_names import Number

NO_TIME: Final = -(2**63)
BAD_TIME: Final = "time is not ISO 8601, such as 2012-04-07T17:42:00Z"
EXPECTED_HEADER: Final = (
    "expected a first line with the columns user, lat, lon and optionally time, in any order, "
    "or a choice of columns"
)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)

Record = list[str]
Values = tuple[list[str], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPositions:
    """Holds where the columns are. `values` converts many rows at once and fails if any is bad."""

    user: int
    time: int | None
    lat: int
    lon: int
    zone: tzinfo = UTC  # of times without an offset

    @classmethod
    def of_names(cls, names: Record, options: Options) -> Self:
        """Finds the columns. Errors: `ReaderError` when a column is missing or there twice."""
        user, time, lat, lon = (_position(field, names, options) for field in FIELDS)
        if user is None or lat is None or lon is None:
            raise ReaderError("header", f"{EXPECTED_HEADER}; {_header_text(names)}")
        return cls(user=user, time=time, lat=lat, lon=lon, zone=options.zone)

    @property
    def least_width(self) -> int:
        """Returns how many values a row needs, so that it has one in each column."""
        return 1 + max(self.user, self.lat, self.lon, -1 if self.time is None else self.time)

    def values(self, records: list[Record]) -> Values:
        """Converts rows of at least `least_width`.

        Errors: ValueError (its text is the reason) if any row is bad.
        """
        users = _names([record[self.user] for record in records])
        lat = [record[self.lat] for record in records]
        lon = [record[self.lon] for record in records]
        time = None if self.time is None else [record[self.time] for record in records]
        times = _times(time, len(records), self.zone)
        return _users(users), times, _degrees(lat, "lat", 90), _degrees(lon, "lon", 180)


def _position(field: str, names: Record, options: Options) -> int | None:
    """Returns the position of a field's column; None when there is none and nobody asked for one."""
    lowered_names = [header_name.strip().lower() for header_name in names]
    if not is_text(lowered_names):
        raise ReaderError("binary", f"the first line is not text in UTF-8; {EXPECTED_HEADER}")
    option = options.columns.get(field)
    header_name = field if option is None else option.lower()
    if header_name in lowered_names and lowered_names.count(header_name) == 1:
        return lowered_names.index(header_name)
    if lowered_names.count(header_name) > 1:
        raise ReaderError("header", f"{EXPECTED_HEADER}; {_header_text(lowered_names)}")
    if option:
        raise ReaderError("header", f"there is no column {option} for {field}; {_header_text(lowered_names)}")
    return None


def _names(users: list[str]) -> list[str]:
    """Returns the users' names, numbers as text. Errors: ValueError for a number that is too long."""
    names = {user: user_names.number(user) for user in users if type(user) is Number}
    return [names[user] if type(user) is Number else user.strip() for user in users]


def _users(users: list[str]) -> list[str]:
    if not all(users):
        raise ValueError("user is missing")
    if not is_text(users):
        raise ValueError("user is not text in UTF-8")
    return users


def _degrees(texts: list[str], name: str, limit: float) -> NDArray[np.float64]:
    # float() also takes digits of other scripts and underscores; "nan" and "inf" fail the range.
    try:
        plain = "".join(texts).isascii() and not any("_" in text for text in texts)
        values = np.fromiter(map(float, texts if plain else ["refused"]), np.float64, len(texts))
    except ValueError:
        raise ValueError(f"{name} is not a decimal number") from None
    if not (np.abs(values) <= limit).all():
        raise ValueError(f"{name} is outside -{limit}..{limit}")
    return values


def _times(texts: list[str] | None, count: int, zone: tzinfo) -> NDArray[np.int64]:
    if texts is None or not any(texts):
        return np.full(count, NO_TIME, np.int64)
    try:
        return np.fromiter((epoch_seconds(text, zone) for text in texts), np.int64, count)
    except (ValueError, OverflowError):
        raise ValueError(BAD_TIME) from None


def epoch_seconds(text: str, zone: tzinfo) -> int:
    """Returns seconds since 1970, rounded down; NO_TIME of an empty text.

    Errors: ValueError, OverflowError.
    """
    plain = text.strip()
    if not plain:
        return NO_TIME
    moment = datetime.fromisoformat(plain)
    return ((moment if moment.tzinfo else moment.replace(tzinfo=zone)) - _EPOCH) // _SECOND


def is_text(texts: list[str]) -> bool:
    """Tells whether there are no surrogates, which stand for bytes that are no UTF-8."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


_NAME = re.compile(r"[A-Za-z][\w .()-]{0,30}", re.ASCII)


def _header_text(names: list[str]) -> str:
    """Says what the header has instead; nothing of it where it could be somebody's check-in."""
    names = [name.strip().lower() for name in names]
    if not all(_NAME.fullmatch(name) for name in names):
        return "the first line holds something else than names of columns separated by commas"
    return f"found {', '.join(names[:10])}" + (" and more" if len(names) > 10 else "")
