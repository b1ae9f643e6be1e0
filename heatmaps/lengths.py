"""Lengths for people."""

import math
from typing import Final

FINEST_DIGIT: Final = -2  # centimetres


def length_words(length_m: float) -> str:
    """A forecast, of two or three digits: it is not known better."""
    if length_m < 1000:
        return f"{length_m:.2g} m" if length_m < 100 else f"{length_m:.0f} m"
    return f"{length_m / 1000:.1f} km" if length_m < 10_000 else f"{length_m / 1000:,.0f} km"


def measured_words(length_m: float, error_m: float) -> str:
    """To the first digit of its standard error: further ones are noise."""
    digit = max(math.floor(math.log10(error_m)) if error_m > 0 else FINEST_DIGIT, FINEST_DIGIT)
    rounded = round(length_m / 10.0**digit) * 10.0**digit
    if rounded < 1000:
        return f"{rounded:.{max(0, -digit)}f} m"
    return f"{rounded / 1000:,.{max(0, 3 - digit)}f} km"


def at_least_words(length_m: float) -> str:
    """A bound from below, rounded down to the digits that `length_words` shows."""
    if not length_m > 0:
        return "0 m"
    shown = 10.0 ** (math.floor(math.log10(length_m)) - 1)
    unit = shown if length_m < 100 else 1 if length_m < 1000 else 100 if length_m < 10_000 else 1000
    return length_words(math.floor(length_m / unit) * unit)
