"""Lengths for people."""


def length_words(length_m: float) -> str:
    """A forecast, of two or three digits: it is not known better."""
    if length_m < 1000:
        return f"{length_m:.2g} m" if length_m < 100 else f"{length_m:.0f} m"
    return f"{length_m / 1000:.1f} km" if length_m < 10_000 else f"{length_m / 1000:,.0f} km"
