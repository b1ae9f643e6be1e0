"""Lengths for people."""

import math


def length_words(length_m: float) -> str:
    """A forecast, of two or three digits: it is not known better."""
    if length_m < 1000:
        return f"{length_m:.2g} m" if length_m < 100 else f"{length_m:.0f} m"
    return f"{length_m / 1000:.1f} km" if length_m < 10_000 else f"{length_m / 1000:,.0f} km"


def at_least_words(length_m: float) -> str:
    """A bound from below, rounded down to the digits that `length_words` shows."""
    if not length_m > 0:
        return "0 m"
    shown = 10.0 ** (math.floor(math.log10(length_m)) - 1)
    unit = shown if length_m < 100 else 1 if length_m < 1000 else 100 if length_m < 10_000 else 1000
    return length_words(math.floor(length_m / unit) * unit)
