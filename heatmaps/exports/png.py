"""Draws what was released as a picture: title, ε, map, scale, legend and the facts of the release sheet."""

import json
from typing import BinaryIO, Final

from PIL import Image, ImageDraw
from PIL.PngImagePlugin import PngInfo

from heatmaps.exports.column import Column
from heatmaps.exports.content import HEAT, Released
from heatmaps.exports.lettering import Style, write
from heatmaps.exports.map_image import LONGEST, blank, map_image
from heatmaps.exports.scale_bar import draw_scale
from heatmaps.exports.scene import Scene, fitted, view_of
from heatmaps.exports.sheet_words import SheetWords, in_words
from heatmaps.exports.sketch import Key, sketch_map
from heatmaps.maps.image import mercator_height
from heatmaps.result_kinds import kind_of_result
from mechanisms.results.summands import summands_of

MARGIN: Final = 40  # pixels
PANEL: Final = 440  # pixels, width of the column with legend and facts

_SPARE: Final = 4_000  # pixels of height for the texts; what stays empty is cut off
_TITLE, _LOSS = 34, 24  # pixels, sizes of letters
_AROUND: Final = 0.05  # of the region's extent, on each side, where heat is drawn
_LEAST_SHAPE: Final = 0.5  # height over width, of a picture of heat, or width over height


def write_map(released: Released, stream: BinaryIO) -> None:
    """Writes the map as the page shows it, north up; the sheet is in the PNG's texts.

    It is the heat, or the squares where a map has none or they are wanted.
    """
    if released.layer == HEAT and summands_of(released.heatmap) is not None:
        scene = _with_surroundings(released)
        sketch = sketch_map(scene, released)
        scene.name_places()
        write_page(released, scene, sketch.key, stream)
    else:
        image = map_image(released.heatmap, released.region, released.look)
        write_page(released, image.scene, image.key, stream)


def write_drawing(released: Released, stream: BinaryIO) -> None:
    """Writes the region with what was released, north up, for what has no cells.

    The sheet is in the PNG's texts.
    """
    scene = blank(released.region, released.look)
    sketch = kind_of_result(released.result).draw_sketch(scene, released)
    scene.name_places(around=sketch.occupied)
    write_page(released, scene, sketch.key, stream)


def write_page(released: Released, scene: Scene, key: Key, stream: BinaryIO) -> None:
    """Writes a picture with title, loss, scale and facts."""
    words, look, picture = in_words(released.sheet), released.look, scene.image
    size = (picture.width + PANEL + 3 * MARGIN, picture.height + _SPARE)
    page = Image.new("RGB", size, look.panel)
    head = Column(image=page, left=MARGIN, top=MARGIN, width=size[0] - 2 * MARGIN, look=look)
    head.text(words.title, Style(size=_TITLE, colour=look.ink, strong=True))
    head.text(words.headline, Style(size=_LOSS, colour=look.ink), after=MARGIN // 2)
    side = Column(image=page, left=2 * MARGIN + picture.width, top=head.top, width=PANEL, look=look)
    page.paste(picture, (MARGIN, head.top))
    corner = (MARGIN + picture.width, head.top + picture.height)
    head.canvas.rectangle((MARGIN - 1, head.top - 1, *corner), outline=look.ink)
    below = _below(page, scene, (MARGIN, corner[1] + MARGIN // 4))
    key(side)
    _facts(side, words)
    page = page.crop((0, 0, page.width, max(below, side.top) + MARGIN))
    page.save(stream, "PNG", pnginfo=_texts(released), optimize=True)


def _with_surroundings(released: Released) -> Scene:
    shape = min(max(mercator_height(released.region), _LEAST_SHAPE), 1 / _LEAST_SHAPE)
    size = (round(min(LONGEST, LONGEST / shape)), round(min(LONGEST, LONGEST * shape)))
    view = view_of(released.region, size, around=_AROUND)
    return Scene.of(view, fitted(view, size), released.look)


def _below(page: Image.Image, scene: Scene, at: tuple[int, int]) -> int:
    """Writes the scale, and whose ground and names these are, under the map; returns where it ends."""
    right = draw_scale(ImageDraw.Draw(page), at, scene) + MARGIN
    credit = Style(size=16, colour=scene.look.soft)
    width = max(at[0] + scene.image.width - right, PANEL // 2)
    return write(ImageDraw.Draw(page), (right, at[1]), scene.credit, credit, width)


def _facts(column: Column, words: SheetWords) -> None:
    column.top += 16
    column.text("This release", column.heading, after=4)
    for title, text in words.facts:
        column.text(title, column.soft)
        column.text(text, after=6)


def _texts(released: Released) -> PngInfo:
    """Returns the texts of the PNG itself, for programs; a day, no time."""
    texts = PngInfo()
    texts.add_itxt("Title", released.title)
    texts.add_itxt("Description", in_words(released.sheet).headline)
    texts.add_itxt("Software", "Hazemap")
    texts.add_itxt("Creation Time", str(released.sheet["released"]))
    texts.add_itxt("Release sheet", json.dumps(released.sheet, ensure_ascii=False), zip=True)
    return texts
