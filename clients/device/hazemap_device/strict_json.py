"""Reads the one JSON text that an object has in this protocol, and its fields by kind and range."""

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Final, NoReturn

from hazemap_device.errors import DeviceError

LARGEST_NUMBER: Final = 2**53 - 1
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_WHOLE: Final = re.compile(r"0|[1-9][0-9]{0,1999}", re.ASCII)
_EXACT: Final = re.compile(r"(?:0|[1-9][0-9]{0,1999})(?:/[1-9][0-9]{0,1999}|\.[0-9]{1,400})?", re.ASCII)


class Fields:
    """Reads an object with exactly these keys; a value is read by naming its kind."""

    def __init__(self, values: object, keys: str, *, of: str) -> None:
        if not isinstance(values, dict) or set(values) != set(keys.split()):
            refuse(of)
        self._values: Mapping[str, object] = values
        self._of = of

    def raw(self, key: str) -> object:
        return self._values[key]

    def text(self, key: str, *, longest: int = 200) -> str:
        value = self._values[key]
        if not isinstance(value, str) or len(value) > longest:
            self._refuse(key)
        return value

    def whole(self, key: str, low: int, high: int = LARGEST_NUMBER) -> int:
        value = self._values[key]
        # A bool is an int in Python, and none here.
        if type(value) is not int or not low <= value <= high:
            self._refuse(key)
        return value

    def large(self, key: str, low: int, high: int) -> int:
        """Reads a whole number that is a text where it is 2^53 or more."""
        value = self._values[key]
        if isinstance(value, str) and _WHOLE.fullmatch(value) and int(value) > LARGEST_NUMBER:
            value = int(value)
        if type(value) is not int or not low <= value <= high:
            self._refuse(key)
        return value

    def true_or_false(self, key: str) -> bool:
        value = self._values[key]
        if not isinstance(value, bool):
            self._refuse(key)
        return value

    def wholes(self, key: str, count: int, low: int, high: int) -> tuple[int, ...]:
        values = self._list(key, count)
        if not all(type(value) is int and low <= value <= high for value in values):
            self._refuse(key)
        return tuple(value for value in values if isinstance(value, int))

    def texts(self, key: str, count: int) -> tuple[str, ...]:
        values = self._list(key, count)
        if not all(isinstance(value, str) and len(value) <= 200 for value in values):
            self._refuse(key)
        return tuple(value for value in values if isinstance(value, str))

    def sha256(self, key: str) -> str:
        value = self.text(key)
        if not _HEXADECIMAL.fullmatch(value):
            self._refuse(key)
        return value

    def _list(self, key: str, count: int) -> list[object]:
        values = self._values[key]
        if not isinstance(values, list) or len(values) != count:
            self._refuse(key)
        return values

    def _refuse(self, key: str) -> NoReturn:
        refuse(f"{self._of}: {key}")


def refuse(part: str) -> NoReturn:
    """Raises `DeviceError` that names a part of the facts, and nothing of what stands there."""
    raise DeviceError("bad_facts", f"The round's facts are not as agreed ({part}). Do not take part in it.")


def exact(text: str) -> Fraction | None:
    """Reads a number that is not negative, "3/8" or "0.375"; nothing for any other text."""
    return Fraction(text) if _EXACT.fullmatch(text) else None


def parsed(content: bytes, *, most_bytes: int) -> object:
    """Parses JSON with sorted keys, without blanks, in ASCII, of integers below 2^53 and without null.

    It is written once more and compared: repeated keys, blanks and other spellings are refused by that.
    """
    if len(content) > most_bytes:
        refuse("size")
    try:
        text = content.decode("ascii")
        value = json.loads(text, parse_float=_no_number, parse_int=_integer, parse_constant=_no_number)
        written = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    except (ValueError, RecursionError):
        written = None
    if written is None or written != text:
        refuse("form")
    return value


def _integer(text: str) -> int:
    value = int(text) if len(text) <= 17 else LARGEST_NUMBER + 1
    if abs(value) > LARGEST_NUMBER:
        raise ValueError("too large")
    return value


def _no_number(_text: str) -> NoReturn:
    raise ValueError("a number with a point")
