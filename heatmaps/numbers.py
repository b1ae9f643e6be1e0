"""Formats numbers for people: digits that can be read, rounded in a direction that is said.

What is lost or taken rounds up, what is left or promised rounds down, errors round up, the rest to the
nearest. Thousands have commas, zero has no sign, and what is too small for digits is a power of ten. Files,
the API and the command line keep exact values.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Final, Self

Number = Fraction | Decimal | float  # an int is a float to the type checker
Rounding = Callable[[Fraction], int]

UP: Final[Rounding] = math.ceil
DOWN: Final[Rounding] = math.floor
NEAREST: Final[Rounding] = round

_AMOUNT_DIGITS: Final = 4
_ERROR_DIGITS: Final = 2
_MOST_PLACES: Final = 6  # behind the point
_LEAST_POWER: Final = -6  # of ten; below it digits are zeros to count
_GREATEST_POWER: Final = 15
_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_KM: Final = 1000  # metres
_SIZES: Final = ("bytes", "KiB", "MiB", "GiB", "TiB")
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400  # seconds


def amount(value: Number) -> str:
    """Words a loss, charge or limit to four significant digits, rounded up: never below the real one."""
    return number(value, digits=_AMOUNT_DIGITS, rounding=UP)


def amount_left(value: Number) -> str:
    """Words what is left of a budget to four significant digits, rounded down: never more than there is."""
    return number(value, digits=_AMOUNT_DIGITS, rounding=DOWN)


def number(value: Number, *, digits: int = 3, rounding: Rounding = NEAREST) -> str:
    """Words a number to so many significant digits; digits before the point stay, zeros at the end do not.

    Errors: ValueError or OverflowError of a number that is not finite.
    """
    exact = _exact(value)
    power = _power(exact)
    if exact and not _LEAST_POWER <= power < _GREATEST_POWER:
        return _scientific(exact, power, digits, rounding)
    return _trimmed(_fixed(exact, max(digits - 1 - power, 0), rounding))


def count(value: int) -> str:
    """Words a whole number with commas, exact."""
    return f"{value:,}"


def size(n_bytes: int) -> str:
    """Words the size of a file in its largest unit: "1.5 MiB"."""
    power = min(max(n_bytes.bit_length() - 1, 0) // 10, len(_SIZES) - 1)
    return f"{number(Fraction(n_bytes, 2 ** (10 * power)))} {_SIZES[power]}"


def share(part: Number, *, digits: int = 3, rounding: Rounding = NEAREST) -> str:
    """Words a part of a whole, 0 to 1, in percent: "12.3 %"."""
    return f"{number(100 * _exact(part), digits=digits, rounding=rounding)} %"


def length(length_m: Number, *, digits: int = 3, rounding: Rounding = NEAREST) -> str:
    """Words a length of so many digits, in metres below a kilometre."""
    whole_m = _fixed(_exact(length_m), 0, rounding).replace(",", "")
    if abs(int(whole_m)) < _KM:
        return f"{number(length_m, digits=digits, rounding=rounding)} m"
    return f"{number(_exact(length_m) / _KM, digits=digits, rounding=rounding)} km"


def error_length(length_m: Number) -> str:
    """Words an error as a length of two digits, rounded up: a forecast is not known better."""
    return length(length_m, digits=_ERROR_DIGITS, rounding=UP)


def length_at_least(length_m: Number) -> str:
    """Words a bound from below as a length of two digits, rounded down; of a negative one 0."""
    return length(max(_exact(length_m), Fraction(0)), digits=_ERROR_DIGITS, rounding=DOWN)


def exact_length(length_m: int) -> str:
    """Words a length that a promise is about, to the metre: rounded up it would promise more."""
    if length_m < 10 * _KM:
        return f"{length_m:,} m"
    return f"{_trimmed(_fixed(Fraction(length_m, _KM), 3, DOWN))} km"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Says with which decimals and unit values with one standard error are shown, and the error too."""

    places: int  # behind the point; below 0 tens, hundreds, …
    per_unit: Fraction = Fraction(1)
    unit: str = ""

    @classmethod
    def of(cls, error: Number, *, per_unit: Fraction = Fraction(1), unit: str = "") -> Self:
        """Rounds to the second digit of the error: further ones are noise."""
        in_units = _exact(error) / per_unit
        places = _ERROR_DIGITS - 1 - _power(in_units) if in_units else _ERROR_DIGITS
        return cls(places=min(places, _MOST_PLACES), per_unit=per_unit, unit=unit)

    @classmethod
    def of_shares(cls, error: Number) -> Self:
        """Words shares from 0 to 1, in percent; the sign is left to the sentence."""
        return cls.of(error, per_unit=Fraction(1, 100))

    @classmethod
    def of_lengths(cls, error_m: Number, *, greatest_m: Number) -> Self:
        """Chooses one unit for all: kilometres where the greatest length has some."""
        in_km = max(greatest_m, error_m) >= _KM
        return cls.of(error_m, per_unit=Fraction(_KM if in_km else 1), unit=" km" if in_km else " m")

    def nearest(self, value: Number) -> str:
        """Rounds a value to the nearest."""
        return self._text(value, NEAREST)

    def up(self, value: Number) -> str:
        """Rounds the error, or the upper end of an interval, up."""
        return self._text(value, UP)

    def down(self, value: Number) -> str:
        """Rounds the lower end of an interval down."""
        return self._text(value, DOWN)

    def _text(self, value: Number, rounding: Rounding) -> str:
        return _fixed(_exact(value) / self.per_unit, self.places, rounding) + self.unit


def value_with_error(value: Number, error: Number) -> str:
    """Words "12.34 ± 0.21": both to the second digit of the error, which is rounded up."""
    scale = Scale.of(error)
    return f"{scale.nearest(value)} ± {scale.up(error)}"


def degrees(value: Number, *, places: int = 6) -> str:
    """Words a coordinate to so many places behind the point: six are a tenth of a metre, four ten metres."""
    return _fixed(_exact(value), places, NEAREST)


def duration(seconds: float) -> str:
    """Words a time to wait in its largest unit, rounded up: nobody is told to come back too early."""
    for unit, name in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if seconds >= 2 * unit:
            return _several(math.ceil(seconds / unit), name)
    return _several(math.ceil(seconds), "second")


def moment(at: datetime, *, seconds: bool = False) -> str:
    """Words a moment with a time zone in UTC, cut to the minute or the second: "2026-11-22 10:30 UTC"."""
    return f"{at.astimezone(UTC):{'%Y-%m-%d %H:%M:%S' if seconds else '%Y-%m-%d %H:%M'}} UTC"


def day(at: date) -> str:
    """Words a day: "2026-11-22"; of a moment the one in UTC."""
    return (at.astimezone(UTC) if isinstance(at, datetime) else at).strftime("%Y-%m-%d")


def _several(whole: int, name: str) -> str:
    return f"{whole:,} {name}{'' if whole == 1 else 's'}"


def _exact(value: Number) -> Fraction:
    """Reads of a float the decimal that it prints as: 0.1 is a tenth, which does not round up."""
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)


def _power(value: Fraction) -> int:
    """Returns the greatest power of ten within the size of a value, exactly; 0 for 0."""
    if not value:
        return 0
    size = abs(value)
    power = len(str(size.numerator)) - len(str(size.denominator))
    return power if size >= Fraction(10) ** power else power - 1


def _fixed(value: Fraction, places: int, rounding: Rounding) -> str:
    """Writes so many digits behind the point; places below 0 are digits before it that become 0."""
    rounded = rounding(value * Fraction(10) ** places)
    sign = "-" if rounded < 0 else ""
    if places <= 0:
        return f"{sign}{abs(rounded) * 10**-places:,}"
    whole, rest = divmod(abs(rounded), 10**places)
    return f"{sign}{whole:,}.{rest:0{places}d}"


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _scientific(value: Fraction, power: int, digits: int, rounding: Rounding) -> str:
    mantissa = _trimmed(_fixed(value / Fraction(10) ** power, digits - 1, rounding))
    if mantissa.lstrip("-") == "10":  # rounded up to the next power
        mantissa, power = mantissa.replace("10", "1"), power + 1
    return f"{mantissa} × 10{str(power).translate(_RAISED)}"
