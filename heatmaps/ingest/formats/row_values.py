"""Checks the texts of a row as values: who, when and where; says why a row is rejected."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

import numpy as np
from numpy.typing import NDArray

from heatmaps.pseudonyms import user_names
from heatmaps.pseudonyms.user_names import Number

NO_TIME: Final = -(2**63)
BAD_TIME: Final = "time is not ISO 8601, such as 2012-04-07T17:42:00Z"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)


def names_of(users: list[str]) -> list[str]:
    """Returns the users' names, numbers as text. Errors: ValueError for a number that is too long."""
    names = {user: user_names.number(user) for user in users if type(user) is Number}
    return [names[user] if type(user) is Number else user.strip() for user in users]


def check_names(users: list[str]) -> list[str]:
    """Returns the names. Errors: ValueError for one that is missing or not text."""
    if not all(users):
        raise ValueError("user is missing")
    if not is_text(users):
        raise ValueError("user is not text in UTF-8")
    return users


def degrees(texts: list[str], name: str, limit: float) -> NDArray[np.float64]:
    """Returns decimal degrees. Errors: ValueError naming the column, for a text of none in -limit..limit."""
    # float() also takes digits of other scripts and underscores; "nan" and "inf" fail the range.
    try:
        plain = "".join(texts).isascii() and not any("_" in text for text in texts)
        values = np.fromiter(map(float, texts if plain else ["refused"]), np.float64, len(texts))
    except ValueError:
        raise ValueError(f"{name} is not a decimal number") from None
    if not (np.abs(values) <= limit).all():
        raise ValueError(f"{name} is outside -{limit}..{limit}")
    return values


def times(texts: list[str] | None, count: int, zone: tzinfo) -> NDArray[np.int64]:
    """Returns epoch seconds of `count` rows, NO_TIME where empty. Errors: ValueError for another form."""
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
