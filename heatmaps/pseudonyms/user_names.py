"""Normalises users' names from files, and finds names that may be one person's."""

import re
import unicodedata
from typing import Final

MOST_DIGITS: Final = 400  # of a number that names a user, written out; no double has more that count
MOST_REMEMBERED: Final = 100_000  # names that look like numbers, about 10 MB

# Possessive, so that no long text is tried in many ways.
_DECIMAL: Final = re.compile(r"([+-]?)([0-9]*+)(?:[.]([0-9]*+))?(?:[eE]([+-]?)([0-9]++))?")
_JSON: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:[.][0-9]++)?(?:[eE][+-]?[0-9]++)?")
_MOST_EXPONENT_DIGITS: Final = 9
_TOO_LONG: Final = f"user is a number of more than {MOST_DIGITS} digits"
_NO_NUMBER: Final = "user is not a decimal number"


class Number(str):
    """Holds a number as a JSON text writes it, which `number` gives its one name."""

    __slots__ = ()


def normal(users: list[str]) -> list[str]:
    """Returns normal form C: "é" is the same name whether it was typed as one character or as two."""
    if "".join(users).isascii():
        return users
    return [unicodedata.normalize("NFC", user) for user in users]


def number(written: str) -> str:
    """Returns the one name of a decimal number, however it is written: 12, 12.0 and 1.2e1 are "12".

    Exact at any size: the digits written out, without zeros at either end that say nothing; -0 is "0".
    Errors: ValueError for a text that is no such number, or for more than `MOST_DIGITS` digits.
    """
    parts = _DECIMAL.fullmatch(written)
    if parts is None:
        raise ValueError(_NO_NUMBER)
    sign, whole, fraction, exponent_sign, exponent = (part or "" for part in parts.groups())
    digits, exponent = whole + fraction, exponent.lstrip("0")
    if not digits:
        raise ValueError(_NO_NUMBER)
    significant = digits.strip("0")
    if not significant:
        return "0"
    if len(exponent) > _MOST_EXPONENT_DIGITS:
        raise ValueError(_TOO_LONG)
    leading = len(digits) - len(digits.lstrip("0"))
    point = len(whole) - leading + int(f"{exponent_sign}{exponent or 0}")  # digits before it
    if max(point, len(significant)) - min(point, 0) > MOST_DIGITS:
        raise ValueError(_TOO_LONG)
    if point <= 0:
        plain = f"0.{'0' * -point}{significant}"
    elif point >= len(significant):
        plain = significant.ljust(point, "0")
    else:
        plain = f"{significant[:point]}.{significant[point:]}"
    return f"-{plain}" if sign == "-" else plain


def spellings(user: str) -> list[str]:
    """Returns the names that a user typed by hand may mean: the text, and the number it is in JSON."""
    if not _JSON.fullmatch(user):
        return [user]
    try:
        return list(dict.fromkeys([user, number(user)]))
    except ValueError:
        return [user]


class SpellingsOfNumbers:
    """Counts names that differ from another one as 007, 7.0 and 7 do: by the spelling of a number alone.

    Of the names that begin as numbers do the first `MOST_REMEMBERED` are remembered: in a file of more,
    names that come later are compared with those alone, and fewer may be counted than there are.
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}  # by the number, or the name without its zeros, the first one seen
        self._others: set[str] = set()

    @property
    def count(self) -> int:
        """Counts names that are not the first of their kind."""
        return len(self._others)

    def add(self, users: list[str]) -> None:
        for user in set(users):
            if user[0] not in "0123456789+-.":
                continue
            bare = _bare(user)
            first = self._first.get(bare)
            if first is None and len(self._first) < MOST_REMEMBERED:
                self._first[bare] = user
            elif first not in (None, user) and len(self._others) < MOST_REMEMBERED:
                self._others.add(user)


def _bare(user: str) -> str:
    if user.isdecimal() and user[0] != "0" and user.isascii():  # most of them
        return user
    try:
        return number(user)
    except ValueError:
        return user.lstrip("0")
