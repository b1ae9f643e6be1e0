"""Colours of a map's classes: one sequence for light ground, one for dark, told apart by lightness alone."""

import math
from typing import Final

Colour = tuple[int, int, int]  # red, green, blue, 0 to 255 (sRGB)

# Lightness and hue of the faintest and the strongest class (OKLCH: lightness 0 to 1, hue in degrees).
# On light ground more mass is darker, on dark ground lighter, so the strongest class stands out on both.
# Lightness alone carries the order: it survives every kind of colour blindness and a black-and-white print.
_LIGHT: Final = ((0.90, 112.0), (0.27, 302.0))
_DARK: Final = ((0.36, 302.0), (0.95, 105.0))
_CHROMA: Final = 0.115

UNCERTAIN_LIGHT: Final[Colour] = (214, 216, 220)
UNCERTAIN_DARK: Final[Colour] = (58, 64, 73)


def light(count: int) -> list[Colour]:
    """`count` colours for light ground, from the faintest class to the strongest."""
    return _sequence(_LIGHT, count)


def dark(count: int) -> list[Colour]:
    """`count` colours for dark ground, from the faintest class to the strongest."""
    return _sequence(_DARK, count)


def hexadecimal(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _sequence(ends: tuple[tuple[float, float], tuple[float, float]], count: int) -> list[Colour]:
    (low, low_hue), (high, high_hue) = ends
    # A single class is the strongest.
    steps = [index / (count - 1) for index in range(count)] if count > 1 else [1.0]
    return [_colour(low + (high - low) * step, low_hue + (high_hue - low_hue) * step) for step in steps]


def _colour(lightness: float, hue: float) -> Colour:
    """OKLCH to sRGB (Ottosson 2020, "A perceptual color space for image processing"), clipped."""
    a, b = _CHROMA * math.cos(math.radians(hue)), _CHROMA * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short
    return _byte(red), _byte(green), _byte(blue)


def _byte(linear: float) -> int:
    linear = min(max(linear, 0.0), 1.0)
    encoded = 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055
    return round(255 * encoded)
