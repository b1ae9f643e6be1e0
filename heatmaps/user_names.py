"""Normalises users' names from files, and finds names that may be one person's."""

import unicodedata
from typing import Final

MOST_REMEMBERED: Final = 100_000  # names that begin with a digit, about 10 MB


def normal(users: list[str]) -> list[str]:
    """In normal form C: "é" is the same name whether it was typed as one character or as two."""
    if "".join(users).isascii():
        return users
    return [unicodedata.normalize("NFC", user) for user in users]


class LeadingZeros:
    """Counts names that differ from another one by leading zeros alone, such as 007 beside 7.

    Of the names that begin with a digit the first `MOST_REMEMBERED` are remembered: in a file of more, names
    that come later are compared with those alone, and fewer may be counted than there are.
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}  # by the name without its zeros, the first one seen
        self._others: set[str] = set()

    @property
    def count(self) -> int:
        """Of names that are not the first of their kind."""
        return len(self._others)

    def add(self, users: list[str]) -> None:
        for user in set(users):
            if not "0" <= user[0] <= "9":
                continue
            bare = user.lstrip("0")
            first = self._first.get(bare)
            if first is None and len(self._first) < MOST_REMEMBERED:
                self._first[bare] = user
            elif first not in (None, user) and len(self._others) < MOST_REMEMBERED:
                self._others.add(user)
