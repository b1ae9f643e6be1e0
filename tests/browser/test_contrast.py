"""Names on a map stand out from what is right around their letters, on every colour that a map may have."""

import io
from pathlib import Path

import numpy as np
import pytest
from django.contrib.staticfiles import finders
from PIL import Image, ImageColor
from scipy.ndimage import binary_dilation

from heatmaps.maps import palette
from heatmaps.maps.looks import DARK, LIGHT

pytestmark = [pytest.mark.browser]

LEAST = 4.5  # WCAG 2.2, 1.4.3
KINDS = ("place-name", "country-name", "centre-name", "graticule-label", "zone-name")
WIDE, HIGH = 90, 30  # pixels


def colours(scheme):
    ramps = {colour for ramp in palette.RAMPS.values() for colour in ramp}
    changes = {colour for both in palette.CHANGE[scheme].values() for colour in both}
    look = {"light": LIGHT, "dark": DARK}[scheme]
    classes = {"light": palette.light, "dark": palette.dark}[scheme](7)
    flat = {palette.UNCERTAIN_LIGHT, palette.UNCERTAIN_DARK, look.land, look.water}
    return sorted({*ramps, *changes, *classes, *flat})


def luminance(pixels):
    share = np.asarray(pixels, np.float64)[..., :3] / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


def contrast(one, other):
    high, low = np.maximum(one, other), np.minimum(one, other)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_are_read_on_every_class_of_every_palette(chromium, scheme):
    grounds = colours(scheme)
    style = Path(finders.find("hazemap/map.css")).read_text("utf-8")
    cells = "".join(
        f'<div style="position:absolute;left:{WIDE * x}px;top:{HIGH * y}px;width:{WIDE}px;height:{HIGH}px;'
        f'background:{colour}"><div class="{kind}" style="position:absolute;left:40px;top:12px">'
        f'<span style="margin-left:-30px">Ma 41.5</span></div></div>'
        for y, colour in enumerate(grounds)
        for x, kind in enumerate(KINDS)
    )
    page = chromium.new_page(
        viewport={"width": WIDE * len(KINDS), "height": HIGH * len(grounds)}, color_scheme=scheme
    )
    page.set_content(f'<style>{style}</style><body style="font:14px sans-serif">{cells}</body>')
    inks = [
        page.locator(f".{kind} span").first.evaluate("one => getComputedStyle(one).color") for kind in KINDS
    ]
    whole = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), np.int64)
    page.add_style_tag(content="[class] span { color: transparent !important; }")
    without = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), np.int64)
    page.close()
    for y, colour in enumerate(grounds):
        for x, (kind, ink) in enumerate(zip(KINDS, inks, strict=True)):
            cell = np.s_[HIGH * y : HIGH * (y + 1), WIDE * x : WIDE * (x + 1)]
            letters = np.abs(whole[cell] - without[cell]).max(axis=2) > 100
            assert letters.sum() > 30, kind
            around = luminance(without[cell][binary_dilation(letters, np.ones((3, 3)))])
            found = contrast(luminance(ImageColor.getrgb(ink)), around).min()
            assert found >= LEAST, (kind, colour, found)
