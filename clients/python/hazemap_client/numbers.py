"""Writes and reads exact numbers: amounts of ε and δ are decimals in strings, never floats."""

from decimal import ROUND_CEILING, Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import Final, TypeAlias

Exact: TypeAlias = Decimal | Fraction
Number: TypeAlias = Exact | int | float | str

_ENOUGH_DIGITS: Final = 60
_LONGEST: Final = 1000  # characters


def written(value: Number) -> str:
    """A plain decimal; a float as it prints. Errors: ValueError where a number has none."""
    decimal = _divided(value) if isinstance(value, Fraction) else _parsed(value)
    if decimal is None or not decimal.is_finite():
        raise ValueError(f"{value!r} is not allowed; allowed: a decimal number, such as 0.5 or '0.5'")
    return format(decimal, "f")


def exact(text: str) -> Exact:
    """A number of an answer: a decimal, or a fraction where no decimal is exact. Errors: ValueError."""
    if len(text) > _LONGEST:
        raise ValueError("too long")
    if "/" in text:
        return Fraction(text)
    number = _parsed(text)
    if number is None or number.is_nan() or abs(number.adjusted()) > _LONGEST:
        raise ValueError("not a number, or none that can be written out")
    return number


def rounded_up(value: float, digits: int = 2) -> str:
    """So many digits that count, rounded up: an error is never told as smaller than it is."""
    short = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(repr(value))
    return format(short, "f")


def _parsed(value: Decimal | float | str) -> Decimal | None:
    if isinstance(value, bool):
        return None
    try:
        return Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        return None


def _divided(value: Fraction) -> Decimal | None:
    quotient = Context(prec=_ENOUGH_DIGITS).divide(Decimal(value.numerator), Decimal(value.denominator))
    return quotient if Fraction(quotient) == value else None
