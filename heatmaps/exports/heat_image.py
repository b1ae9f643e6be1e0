"""Draws a map's heat into a picture, and its legend."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageColor

from heatmaps.exports.column import Column
from heatmaps.exports.scene import Scene
from heatmaps.maps.heat_view import OPACITY, HeatView, ramp
from heatmaps.maps.looks import Look
from heatmaps.numbers import length, number, share
from mechanisms.results.significance import RATE
from mechanisms.space.grid import Region

TITLE: Final = "People per km²"
_NOBODY: Final = "No place can be told from an empty one."
_SMOOTHED: Final = (
    "Smoothed over {width}. Where nothing is drawn, the noise hides whether anyone is there. At most {rate} "
    "of the area drawn is expected to be empty."
)


def draw_heat(scene: Scene, heat: HeatView, region: Region) -> None:
    """Draws the surface, and the border of the region it is about."""
    left, top, right, bottom = box = scene.box_of(region)
    pixels = Image.fromarray(heat.pixels(dark=scene.look.is_dark))
    smooth = pixels.resize((right - left, bottom - top), Image.Resampling.BICUBIC)
    opacity = smooth.getchannel("A").point([round(OPACITY * alpha) for alpha in range(256)])
    scene.image.paste(smooth.convert("RGB"), box, opacity)
    scene.canvas.rectangle((left, top, right - 1, bottom - 1), outline=scene.look.soft)


def heat_key(column: Column, heat: HeatView) -> None:
    """Writes the legend; its note has the width of the Gaussian, and what it means that nothing is drawn."""
    column.text(TITLE, column.heading, after=6)
    if heat.span is None:
        column.text(_NOBODY)
    else:
        low, high = heat.span
        ticks = (low, math.sqrt(low * high), high)
        labels = [number(float(f"{density:.2g}")) for density in ticks]  # to two significant digits
        column.bar(_colours_on_land(column.look), labels)
    column.note(_SMOOTHED.format(width=length(heat.width_m, digits=2), rate=share(RATE)))


def _colours_on_land(look: Look) -> NDArray[np.uint8]:
    """Returns the (256, 3) colours as they look on land."""
    land = np.array(ImageColor.getrgb(look.land))
    return np.rint(OPACITY * ramp(dark=look.is_dark) + (1 - OPACITY) * land).astype(np.uint8)
