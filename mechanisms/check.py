"""Validates public parameters: every refusal names the parameter, its value and what is allowed."""

import math
import re
from fractions import Fraction

# Bounds that keep an attacker's "1e999999999" from ever becoming an integer.
MAX_CHARACTERS = 40
MAX_EXPONENT = 30
MAX_BITS = 256

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,4}))?", re.ASCII)


class ParameterError(ValueError):
    """Says that a public parameter is not allowed; carries what a form or an API needs to say so."""

    code = "invalid_parameter"

    def __init__(self, parameter: str, value: object, allowed: str) -> None:
        self.parameter = parameter
        self.value = printable(value)
        self.allowed = allowed
        super().__init__(f"{parameter} is {self.value}, allowed: {allowed}")


def printable(value: object) -> str:
    """Returns a value as printable ASCII of bounded length, whatever was passed in."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return "an integer of more than 77 digits"  # printing it could itself take long
    text = ascii(str(value))[1:-1]
    if not text or " " in text:
        text = f"'{text}'"
    return text if len(text) <= 60 else text[:57] + "..."


def exact_decimal(
    parameter: str,
    text: str | int | Fraction,
    *,
    low: Fraction | int | None = None,
    high: Fraction | int | None = None,
    low_open: bool = False,
) -> Fraction:
    """Returns the exact value of a plain ASCII decimal such as "1", "0.5" or "1e-6".

    Refuses (`ParameterError`) NaN, infinities, other digits than 0-9, underscores, blanks, binary floats
    and anything longer than 40 characters or with an exponent beyond 30, before building the number.
    `low` and `high` are inclusive, `low` is exclusive with `low_open`.
    """
    allowed = f"a decimal number {_interval(low, high, low_open)}"
    value = _exact(parameter, text, allowed)
    too_low = low is not None and (value < low or (low_open and value == low))
    if too_low or (high is not None and value > high):
        raise ParameterError(parameter, text, allowed)
    return value


def positive(**named: Fraction | float) -> None:
    """Refuses any named number that is not finite and above 0."""
    for name, value in named.items():
        if not _is_number(value) or value <= 0:
            raise ParameterError(name, value, "a finite number above 0")


def in_range(low: Fraction | float, high: Fraction | float, **named: Fraction | float) -> None:
    """Refuses any named number outside [low, high]."""
    for name, value in named.items():
        if not _is_number(value) or not low <= value <= high:
            raise ParameterError(name, value, f"{printable(low)} to {printable(high)}")


def whole(low: int, high: int, **named: object) -> None:
    """Refuses any named value that is no integer in [low, high]; True and False are none."""
    for name, value in named.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise ParameterError(name, value, f"a whole number from {low} to {high}")
        in_range(low, high, **{name: value})


def power_of_two(low: int, high: int, **named: int) -> None:
    """Refuses any named integer that is no power of two in [low, high]."""
    for name, value in named.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not low <= value <= high or value & (value - 1):
            raise ParameterError(name, value, f"a power of two from {low} to {high}")


def _exact(parameter: str, text: object, allowed: str) -> Fraction:
    if isinstance(text, Fraction | int) and not isinstance(text, bool):
        value = Fraction(text)
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
            raise ParameterError(parameter, text, allowed)
        return value
    match = _DECIMAL.fullmatch(text) if isinstance(text, str) and len(text) <= MAX_CHARACTERS else None
    if match is None or abs(int(match[1] or 0)) > MAX_EXPONENT:
        raise ParameterError(parameter, text, allowed)
    return Fraction(match[0])


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        return False
    return not isinstance(value, float) or math.isfinite(value)


def _interval(low: Fraction | int | None, high: Fraction | int | None, low_open: bool) -> str:
    parts = []
    if low is not None:
        parts.append(f"{'above' if low_open else 'of at least'} {printable(low)}")
    if high is not None:
        parts.append(f"of at most {printable(high)}")
    return " and ".join(parts) or f"of at most {MAX_CHARACTERS} characters, exponent within {MAX_EXPONENT}"
