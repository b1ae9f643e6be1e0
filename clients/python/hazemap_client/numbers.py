"""Writes and reads exact numbers: amounts of ε and δ are decimals in strings, never floats."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from decimal import ROUND_CEILING, Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction
from typing import Any, Final, TypeAlias

Exact: TypeAlias = Decimal | Fraction
Number: TypeAlias = Exact | int | float | str

_DIVISION: Final = Context(prec=60, traps=[Inexact])
_EXACT: Final = re.compile(r"-?[0-9]{1,999}(\.[0-9]{1,999}|/[1-9][0-9]{0,999})?|inf")


def written(value: Number) -> str:
    """Writes a plain decimal; a float as it prints. Errors: ValueError where a number has none."""
    with suppress(Inexact, InvalidOperation):
        if isinstance(value, Fraction):
            value = _DIVISION.divide(*value.as_integer_ratio())
        decimal = Decimal(str(value))
        if decimal.is_finite():
            return format(decimal, "f")
    raise ValueError(f"{value!r} is not allowed; allowed: a decimal number, such as 0.5 or '0.5'")


def amounts(numbers: Mapping[str, Number | None]) -> dict[str, str | None]:
    """Writes numbers as texts, by name."""
    return {name: None if value is None else written(value) for name, value in numbers.items()}


def plain(value: Any) -> object:
    """Returns as JSON what is none by itself: a moment, an exact number, what has a `__geo_interface__`."""
    if isinstance(value, datetime):
        return value.isoformat()
    return written(value) if isinstance(value, Exact) else value.__geo_interface__


def exact(text: str) -> Exact:
    """Reads a decimal, or a fraction where no decimal is exact. Errors: ValueError."""
    if not _EXACT.fullmatch(text):
        raise ValueError("not a number, or none that can be written out")
    return Fraction(text) if "/" in text else Decimal(text)


def rounded_up(value: float, digits: int = 2) -> str:
    """Rounds up to so many digits that count: an error is never told as smaller than it is."""
    short = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(repr(value))
    return format(short, "f")
