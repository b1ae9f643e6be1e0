"""Draws text into pictures: Open Sans (Latin, Greek, Cyrillic), wrapped at a width."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import ttf_opensans
from PIL import ImageFont
from PIL.ImageDraw import ImageDraw

_FOLDER: Final = Path(ttf_opensans.__file__).parent / "ttf"
_LINE_HEIGHT: Final = 1.4  # of the size


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """Sets the size in pixels, the colour and the weight of text."""

    size: int
    colour: str
    strong: bool = False

    @property
    def font(self) -> ImageFont.FreeTypeFont:
        return _font(self.size, strong=self.strong)

    @property
    def line_height(self) -> int:
        return round(self.size * _LINE_HEIGHT)


def broken(text: str, style: Style, width: int) -> list[str]:
    """Returns lines of at most `width` pixels, broken between words, or inside one that is too long alone."""
    lines = [""]
    for word in text.split():
        extended = f"{lines[-1]} {word}".lstrip()
        if style.font.getlength(extended) <= width:
            lines[-1] = extended
        else:
            pieces = _pieces(word, style, width)
            lines[-1:] = [*filter(None, lines[-1:]), *pieces]
    return lines


def write(draw: ImageDraw, at: tuple[int, int], text: str, style: Style, width: int) -> int:
    """Draws a text, broken at a width, from a top left corner; returns where the next line would begin."""
    left, top = at
    for line in broken(text, style, width):
        draw.text((left, top), line, font=style.font, fill=style.colour)
        top += style.line_height
    return top


def _pieces(word: str, style: Style, width: int) -> list[str]:
    pieces = [""]
    for letter in word:
        if pieces[-1] and style.font.getlength(pieces[-1] + letter) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


@lru_cache(maxsize=16)
def _font(size: int, *, strong: bool) -> ImageFont.FreeTypeFont:
    name = "OpenSans-SemiBold.ttf" if strong else "OpenSans-Regular.ttf"
    # Without a shaping library: the same picture whatever the system has.
    return ImageFont.truetype(_FOLDER / name, size, layout_engine=ImageFont.Layout.BASIC)
