"""Colours of a map's classes: one sequence for light ground, one for dark, distinct by lightness alone."""

from typing import Final

import numpy as np

# Even steps of OKLCH lightness (Ottosson 2020, "A perceptual color space for image processing") from the
# faintest class to the strongest. On light ground more mass is darker, on dark ground lighter, so the
# strongest class stands out on both. Lightness alone carries the order: it survives every kind of colour
# blindness and a black-and-white print. So does viridis, whose yellow is loud for the faintest class of a
# light ground.
_LIGHT: Final = ("#e0e68a", "#8ed08c", "#35b298", "#008e9e", "#006597", "#2b3a7d", "#321054")
_DARK: Final = ("#492a6e", "#3e5297", "#137cae", "#00a4b0", "#55c6a5", "#a9e096", "#faf396")

# Of the heat, from few to many: no hue carries the order alone, in any of them.
RAMPS: Final = {
    "Ember": ("#fde3c8", "#fcb98b", "#f47f63", "#d4486d", "#9c2f7f", "#642083", "#331067", "#120825"),
    "Sea": _LIGHT,
    "Sand": ("#f2e6a2", "#d9c663", "#b5a85f", "#8f8d70", "#6f7375", "#4f5a74", "#2c4270", "#0b2b5c"),
}

# Of a change between two maps, from the least that is clear to the greatest. Every kind of colour blindness
# tells blue from orange; lightness carries the size, as in the sequences above. Where no change is clear
# there is no colour: the ground shows.
CHANGE: Final = {
    "light": {"more": ("#f0b06a", "#d06a10", "#7d3200"), "fewer": ("#92b9ec", "#3474c8", "#0c357c")},
    "dark": {"more": ("#97500f", "#e08a2c", "#ffd7a6"), "fewer": ("#2d5ea3", "#5d9eea", "#c2dfff")},
}

UNCERTAIN_LIGHT: Final = "#d6d8dc"
UNCERTAIN_DARK: Final = "#3a4049"


def light(count: int) -> list[str]:
    """Returns `count` colours as "#rrggbb" for light ground, from the faintest class to the strongest."""
    return _evenly(_LIGHT, count)


def dark(count: int) -> list[str]:
    """Returns `count` colours as "#rrggbb" for dark ground, from the faintest class to the strongest."""
    return _evenly(_DARK, count)


def _evenly(colours: tuple[str, ...], count: int) -> list[str]:
    """Mixes neighbours as branca's `LinearColormap` does: loading that takes as long as drawing a picture."""
    channels = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in colours]) / 255
    # Counted from the strongest: a single class is that.
    at = np.linspace(1.0, 0.0, count)[::-1]
    places = np.linspace(0.0, 1.0, len(colours))
    mixed = np.stack([np.interp(at, places, channel) for channel in channels.T], axis=1)
    levels = (mixed * 255.9999).astype(int).tolist()
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in levels]
