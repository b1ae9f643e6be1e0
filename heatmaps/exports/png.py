"""The map as a picture for people: title, ε, map, legend and the facts of the release sheet."""

import json
from collections.abc import Callable
from typing import BinaryIO, Final, TypeAlias

from PIL import Image, ImageDraw
from PIL.PngImagePlugin import PngInfo

from heatmaps.exports.lettering import Style, broken, write
from heatmaps.exports.map_image import GROUND, INK, MapImage, map_image
from heatmaps.exports.released import Released
from heatmaps.exports.sheet_words import SheetWords, in_words
from heatmaps.maps.legend import Legend
from heatmaps.maps.places import ATTRIBUTION

# Draws on a canvas from a top left corner on; where it ends.
Key: TypeAlias = Callable[[ImageDraw.ImageDraw, tuple[int, int]], int]

MARGIN: Final = 40  # pixels
PANEL: Final = 440  # pixels, width of the column with legend and facts

_SPARE: Final = 4_000  # pixels of height for the texts; what stays empty is cut off
_LINE: Final = "#b9c0c9"
_SWATCH: Final = (34, 22)
_TITLE: Final = Style(size=34, colour=INK, strong=True)
_LOSS: Final = Style(size=24, colour=INK)
HEADING: Final = Style(size=20, colour=INK, strong=True)
TEXT: Final = Style(size=18, colour=INK)
SOFT: Final = Style(size=16, colour="#55606e")


def write_png(released: Released, stream: BinaryIO) -> None:
    """Light ground, the classes and the legend of the web map, north up; the sheet is in the PNG's texts."""
    found = map_image(released.heatmap, released.region)
    write_page(released, found.image, lambda canvas, at: _key(canvas, at, found), stream)


def write_page(released: Released, picture: Image.Image, key: Key, stream: BinaryIO) -> None:
    """A picture with title, loss and facts. key: draws what the picture's signs mean, at a top left corner
    in a column of `PANEL` pixels, and gives where it ends."""
    words = in_words(released.sheet)
    page = Image.new("RGB", (picture.width + PANEL + 3 * MARGIN, picture.height + _SPARE), "white")
    canvas = ImageDraw.Draw(page)
    top = _head(canvas, words, page.width - 2 * MARGIN)
    page.paste(picture, (MARGIN, top))
    corner = (MARGIN + picture.width, top + picture.height)
    canvas.rectangle((MARGIN - 1, top - 1, *corner), outline=INK)
    at = (corner[0] + MARGIN, top)
    bottom = max(corner[1], _facts(canvas, (at[0], key(canvas, at)), words))
    page = page.crop((0, 0, page.width, bottom + MARGIN))
    page.save(stream, "PNG", pnginfo=_texts(released), optimize=True)


def _head(canvas: ImageDraw.ImageDraw, words: SheetWords, width: int) -> int:
    """Title and loss; where the map begins."""
    top = write(canvas, (MARGIN, MARGIN), broken(words.title, _TITLE, width), _TITLE)
    return write(canvas, (MARGIN, top), broken(words.headline, _LOSS, width), _LOSS) + MARGIN // 2


def _key(canvas: ImageDraw.ImageDraw, at: tuple[int, int], found: MapImage) -> int:
    top = _legend(canvas, at, found.legend) + 8
    if found.merged > 1:
        note = f"Drawn in squares of {found.merged} × {found.merged} cells, their shares added up."
        top = write(canvas, (at[0], top), broken(note, SOFT, PANEL), SOFT)
    return top


def _facts(canvas: ImageDraw.ImageDraw, at: tuple[int, int], words: SheetWords) -> int:
    left, top = at
    top = write(canvas, (left, top + 16), ["This release"], HEADING) + 4
    for title, text in words.facts:
        top = write(canvas, (left, top), broken(title, SOFT, PANEL), SOFT)
        top = write(canvas, (left, top), broken(text, TEXT, PANEL), TEXT) + 6
    return write(canvas, (left, top + 10), broken(ATTRIBUTION, SOFT, PANEL), SOFT)


def _legend(canvas: ImageDraw.ImageDraw, at: tuple[int, int], legend: Legend) -> int:
    (left, top), (width, height) = at, _SWATCH
    top = write(canvas, (left, top), broken(legend.title, HEADING, PANEL), HEADING) + 6
    for row in legend.rows:
        box = (left, top + 2, left + width, top + 2 + height)
        canvas.rectangle(box, fill=row.light or GROUND, outline=_LINE)
        lines = broken(row.label, TEXT, PANEL - width - 14)
        top = write(canvas, (left + width + 14, top), lines, TEXT) + 6
    return top


def _texts(released: Released) -> PngInfo:
    """Of the PNG itself, for programs; a day, no time."""
    texts = PngInfo()
    texts.add_itxt("Title", released.title)
    texts.add_itxt("Description", in_words(released.sheet).headline)
    texts.add_itxt("Software", "Hazemap")
    texts.add_itxt("Creation Time", str(released.sheet["released"]))
    texts.add_itxt("Release sheet", json.dumps(released.sheet, ensure_ascii=False), zip=True)
    return texts
