"""Draws rings with their signs into a picture."""

from collections.abc import Mapping
from typing import Any

from heatmaps.exports.lettering import Style
from heatmaps.exports.scene import Box, Scene, overlap
from heatmaps.maps.rings import DrawnRing


def draw_rings(
    scene: Scene, rings: tuple[DrawnRing, ...], colours: Mapping[str, str], *, size: int = 18
) -> list[Box]:
    """Draws rings; returns the boxes of their signs, of which those with less weight give way.

    A ring of a class without a colour is not filled. size: of the signs' letters.
    """
    canvas, style = scene.canvas, Style(size=size, colour=scene.look.ink)
    for ring in rings:
        corners = [scene.pixel_of(lat=lat, lon=lon) for lat, lon in ring.corners]
        canvas.polygon(corners, fill=colours.get(ring.key), outline=scene.look.ink, width=2)
    occupied: list[Box] = []
    for ring in sorted(rings, key=lambda ring: -ring.weight):
        at = scene.pixel_of(lat=ring.middle[0], lon=ring.middle[1])
        sign: dict[str, Any] = {
            "xy": at,
            "text": ring.text,
            "font": style.font,
            "anchor": "mm",
            "stroke_width": 3,
        }
        box = canvas.textbbox(**sign)
        if any(overlap(box, other) for other in occupied):
            continue  # the table beside has it
        canvas.text(**sign, fill=style.colour, stroke_fill=scene.look.halo)
        occupied.append(box)
    return occupied
