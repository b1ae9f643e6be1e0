"""Draws small pictures of a release, for lists and for links that others share."""

import io
from typing import BinaryIO, Final

from PIL import Image

from heatmaps.exports.column import Column
from heatmaps.exports.content import Released
from heatmaps.exports.lettering import Style
from heatmaps.exports.scale_bar import draw_scale
from heatmaps.exports.scene import Scene, fitted, view_of
from heatmaps.exports.sheet_words import in_words
from heatmaps.exports.sketch import Key
from heatmaps.maps.heat_view import heat_view
from heatmaps.result_kinds import kind_of_result
from mechanisms.results.heatmap import Heatmap
from mechanisms.space.grid import Region

THUMBNAIL: Final = (480, 300)  # pixels
OG_IMAGE: Final = (1200, 630)  # pixels, as pages that show links want it
_MOST_BYTES: Final = 40_000  # of a thumbnail
_QUALITIES: Final = (82, 70, 55, 40, 20)  # of its compression, the first that is small enough
_AROUND: Final = 0.06  # of the extent of what is shown, on each side
_PANEL: Final = 400  # pixels
_MARGIN: Final = 32  # pixels
_LEGEND_SIZE: Final = 16  # of letters, pixels


def write_thumbnail(released: Released, stream: BinaryIO) -> None:
    """Writes the map alone, of `THUMBNAIL` pixels, as WebP of at most 40 kB."""
    picture = Image.new("RGB", THUMBNAIL, released.look.panel)
    scene, _ = _draw_preview(released, THUMBNAIL, names=5, letters=12)
    _paste(picture, scene.image, (0, 0), THUMBNAIL)
    for quality in _QUALITIES:
        content = io.BytesIO()
        picture.save(content, "WEBP", quality=quality, method=6)
        if content.tell() <= _MOST_BYTES:
            break
    stream.write(content.getvalue())


def write_og_image(released: Released, stream: BinaryIO) -> None:
    """Writes title, promise and legend beside the map, of `OG_IMAGE` pixels, as PNG."""
    size = (OG_IMAGE[0] - _PANEL, OG_IMAGE[1])
    picture = Image.new("RGB", OG_IMAGE, released.look.panel)
    scene, key = _draw_preview(released, size, names=8, letters=17)
    draw_scale(scene.canvas, (_MARGIN, size[1] - 2 * _MARGIN), scene, on_map=True)
    _paste(picture, scene.image, (_PANEL, 0), size)
    _tell(picture, released, key)
    picture.save(stream, "PNG", optimize=True)


def _draw_preview(
    released: Released, size: tuple[int, int], *, names: int, letters: int
) -> tuple[Scene, Key]:
    """Draws a picture of at most that size; returns how its legend is written, too."""
    view = view_of(_subject(released), size, around=_AROUND)
    scene = Scene.of(view, fitted(view, size), released.look)
    sketch = kind_of_result(released.result).draw_sketch(scene, released)
    credit = scene.give_credit(size=max(letters - 5, 9))
    scene.name_places(most=names, size=letters, around=[*sketch.occupied, credit])
    return scene, sketch.key


def _subject(released: Released) -> Region:
    """Returns the region; of a map with heat where its people are."""
    if not isinstance(released.result, Heatmap):
        return released.region
    heat = heat_view(released.heatmap, released.region)
    return released.region if heat is None else heat.focus(released.region)


def _paste(page: Image.Image, picture: Image.Image, at: tuple[int, int], size: tuple[int, int]) -> None:
    """Pastes a picture into the middle of a part of the page: where the earth ends, a picture is smaller than
    that."""
    left, top = ((whole - own) // 2 for whole, own in zip(size, picture.size, strict=True))
    page.paste(picture, (at[0] + left, at[1] + top))


def _tell(page: Image.Image, released: Released, key: Key) -> None:
    """Writes the panel left of the map."""
    words, look = in_words(released.sheet), released.look
    column = Column(image=page, left=_MARGIN, top=_MARGIN, width=_PANEL - 2 * _MARGIN, look=look)
    column.text("Hazemap", column.soft, after=8)
    column.text(words.title, Style(size=30, colour=look.ink, strong=True), after=10, most=3)
    column.text(words.headline, Style(size=20, colour=look.ink), after=28, most=2)
    column.size = _LEGEND_SIZE
    key(column)
