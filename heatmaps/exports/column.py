"""Writes a column of a picture from top to bottom: texts, legends, a bar of colours."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from heatmaps.exports.lettering import Style, broken, write
from heatmaps.maps.legend import LegendClass
from heatmaps.maps.looks import Look

_SWATCH: Final = (34, 22)  # pixels
_BAR_HEIGHT: Final = 18  # pixels


@dataclass(slots=True, kw_only=True)
class Column:
    """Tracks where a picture is written next.

    Styles have the look's ink where they name no colour of their own.
    """

    image: Image.Image = field(repr=False)
    left: int  # pixels
    top: int
    width: int
    look: Look
    size: int = 18  # of letters; headings are a little larger, notes a little smaller

    @property
    def canvas(self) -> ImageDraw.ImageDraw:
        return ImageDraw.Draw(self.image)

    @property
    def usual(self) -> Style:
        return Style(size=self.size, colour=self.look.ink)

    @property
    def heading(self) -> Style:
        return Style(size=self.size + 2, colour=self.look.ink, strong=True)

    @property
    def soft(self) -> Style:
        return Style(size=self.size - 2, colour=self.look.soft)

    def text(self, text: str, style: Style | None = None, *, after: int = 0, most: int = 0) -> None:
        """Writes a text in lines of the column's width. after: pixels of air below it; most: lines, the rest
        is left out with a sign."""
        style = style or self.usual
        lines = broken(text, style, self.width)
        if most and len(lines) > most:
            text = " ".join([*lines[: most - 1], _cut(lines[most - 1], style, self.width)])
        self.top = write(self.canvas, (self.left, self.top), text, style, self.width) + after

    def note(self, text: str) -> None:
        """Writes what belongs under a legend."""
        self.text(text, self.soft)

    def classes(self, title: str, rows: Iterable[LegendClass] = ()) -> None:
        """Writes a legend: a title and a line a class."""
        self.text(title, self.heading, after=6)
        for row in rows:
            self.sign(row.label, row.dark if self.look.is_dark else row.light)

    def sign(self, label: str, colour: str) -> None:
        """Draws a colour and what it means; the land's where it is empty."""
        width, height = _SWATCH
        box = (self.left, self.top + 2, self.left + width, self.top + 2 + height)
        self.canvas.rectangle(box, fill=colour or self.look.land, outline=self.look.line)
        self.beside(label, width + 14)

    def beside(self, label: str, indent: int) -> None:
        """Writes a text right of a sign."""
        at = (self.left + indent, self.top)
        self.top = write(self.canvas, at, label, self.usual, self.width - indent) + 6

    def bar(self, colours: NDArray[np.uint8], labels: Sequence[str]) -> None:
        """Draws (n, 3) colours from left to right, with labels at both ends and evenly between."""
        strip = Image.fromarray(colours[np.newaxis]).resize((self.width, _BAR_HEIGHT))
        self.image.paste(strip, (self.left, self.top))
        edge = (self.left, self.top, self.left + self.width - 1, self.top + _BAR_HEIGHT - 1)
        self.canvas.rectangle(edge, outline=self.look.line)
        self.top += _BAR_HEIGHT + 6
        for index, label in enumerate(labels):
            at = self.left + round(self.width * index / (len(labels) - 1))
            anchor = "la" if index == 0 else "ra" if index == len(labels) - 1 else "ma"
            self.canvas.text((at, self.top), label, font=self.usual.font, fill=self.look.ink, anchor=anchor)
        self.top += self.usual.line_height + 4


def _cut(line: str, style: Style, width: int) -> str:
    while line and style.font.getlength(f"{line}…") > width:
        line = line[:-1]
    return f"{line.rstrip()}…"
