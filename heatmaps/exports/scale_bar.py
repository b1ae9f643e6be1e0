"""Draws the scale of a picture: a bar of a round length."""

import math
from typing import Final

from PIL.ImageDraw import ImageDraw

from heatmaps.exports.lettering import Style
from heatmaps.exports.scene import Scene
from heatmaps.numbers import length

_LONGEST: Final = 180  # pixels
_EDGE: Final = 8  # pixels, height of both ends
_LETTERS: Final = 16  # pixels
_ROUND: Final = (5, 2, 1)  # first digits


def round_length(longest_m: float) -> float:
    """Returns the longest of 1, 2 and 5 times a power of ten metres that is not longer."""
    power = 10.0 ** math.floor(math.log10(longest_m))
    return next(power * digit for digit in _ROUND if power * digit <= longest_m)


def draw_scale(canvas: ImageDraw, at: tuple[int, int], scene: Scene, *, on_map: bool = False) -> int:
    """Draws a bar with its length on the view's middle parallel, from a top left corner on; returns its right
    end.

    on_map: with a halo, as names have it.
    """
    style, halo = Style(size=_LETTERS, colour=scene.look.ink), scene.look.halo
    metres = round_length(_LONGEST * scene.metres_per_pixel)
    left, right = at[0], at[0] + round(metres / scene.metres_per_pixel)
    bottom = at[1] + style.line_height + _EDGE // 2
    path = [(left, bottom - _EDGE), (left, bottom), (right, bottom), (right, bottom - _EDGE)]
    if on_map:
        canvas.line(path, fill=halo, width=6, joint="curve")
    canvas.line(path, fill=style.colour, width=2)
    canvas.text(
        ((left + right) // 2, at[1]),
        length(metres),
        font=style.font,
        fill=style.colour,
        anchor="ma",
        stroke_width=3 if on_map else 0,
        stroke_fill=halo,
    )
    return right
