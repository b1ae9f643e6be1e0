"""Small pictures of a release: sizes, what they show of any kind of result, and the same bytes each time."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from heatmaps.exports.previews import OG_IMAGE, THUMBNAIL, write_og_image, write_thumbnail
from heatmaps.exports.scene import fitted, view_of
from heatmaps.maps.heat_view import heat_view
from heatmaps.maps.image import mercator_height
from heatmaps.maps.looks import DARK, LIGHT
from mechanisms.space.grid import Region
from tests.exports.examples import make_released
from tests.exports.test_point import made as a_point

CROWD = {(3, 4, 4): (900.0, 10.0), (3, 3, 4): (300.0, 10.0), (1, 0, 0): (1.0, 3.0)}
REGIONS = [
    Region(-98.3, 29.8, -97.3, 31.0),
    Region(-180, -90, 180, 90),
    Region(0, -80, 1e-3, -10),
    Region(-180, 0, 180, 1e-3),
    Region(170, 60, 180, 62),
]


def a_crowd(**facts):
    return make_released(CROWD, deviations=[10.0, 10.0, 3.0], **facts)


def picture(write, released):
    stream = io.BytesIO()
    write(released, stream)
    assert stream.tell() < 400_000
    return Image.open(stream), stream.getvalue()


@pytest.mark.parametrize("region", REGIONS)
def test_a_view_holds_the_region_and_fills_the_picture(region):
    view = view_of(region, THUMBNAIL, around=0.05)
    size = fitted(view, THUMBNAIL)
    assert view.west <= region.west < region.east <= view.east
    assert view.south <= max(region.south, -85.05) < min(region.north, 85.05) <= view.north
    assert size[0] <= THUMBNAIL[0]
    assert size[1] <= THUMBNAIL[1]
    assert size[1] / size[0] == pytest.approx(mercator_height(view), rel=0.02)
    if view.east - view.west < 300:
        assert size == THUMBNAIL


KINDS = {"heat": a_crowd(), "squares": make_released(), "point": a_point()}


@pytest.mark.parametrize("released", KINDS.values(), ids=KINDS)
def test_it_shows_every_kind_of_result_on_light_and_on_dark_ground(released):
    for write, size in ((write_thumbnail, THUMBNAIL), (write_og_image, OG_IMAGE)):
        shown = {}
        for look in (LIGHT, DARK):
            found, content = picture(write, replace(released, look=look))
            assert found.size == size
            shown[look.name] = np.asarray(found.convert("L"), float).mean()
            assert picture(write, replace(released, look=look))[1] == content
        assert shown["light"] > 150
        assert shown["dark"] < 80
        empty = make_released({}, region=released.region)
        assert picture(write, released)[1] != picture(write, empty)[1]


def test_a_thumbnail_of_a_detailed_map_is_small():
    random = np.random.default_rng(1)
    squares = {(6, x, y): (float(random.exponential()), 0.01) for x in range(64) for y in range(64)}
    _, content = picture(write_thumbnail, make_released(squares, level=6))
    assert len(content) <= 40_000


@pytest.mark.parametrize("title", ["W" * 300, "wide " * 80, "東京 عربى 🗺", ""])
def test_it_takes_any_title(title):
    found, _ = picture(write_og_image, a_crowd(title=title))
    assert found.size == OG_IMAGE
    panel = np.asarray(found.convert("RGB"))[:, :400]
    assert len(np.unique(panel.reshape(-1, 3), axis=0)) > 200  # the bar of colours is there
    assert (panel[-20:] == 255).all()  # and all of the texts


def test_it_looks_where_people_are():
    """Nobody is told from nobody in the west and north: that is not worth most of a small picture."""
    squares = {(5, 28, 3): (900.0, 5.0), (5, 26, 4): (300.0, 5.0), (1, 0, 1): (0.5, 5.0)}
    crowd = make_released(squares, level=5, deviations=[5.0] * 3)
    heat = heat_view(crowd.heatmap, crowd.region)
    focus, whole = heat.focus(crowd.region), crowd.region
    x, y = (np.array([26, 29]) / 32, np.array([3, 5]) / 32)
    assert focus.west < whole.west + x[0] * 2 < whole.west + x[1] * 2 < focus.east <= whole.east
    assert whole.south <= focus.south < whole.south + y[0] * 3 < whole.south + y[1] * 3 < focus.north
    assert (focus.east - focus.west) < 0.6 * (whole.east - whole.west)
    nobody = make_released({(5, 28, 3): (0.0, 5.0)}, level=5, deviations=[5.0])
    assert heat_view(nobody.heatmap, whole).focus(whole) == whole
