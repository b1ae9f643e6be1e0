"""PNG: decoded again, the pixels of known cells have the colours of the web map and of the legend."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from heatmaps.exports.lettering import Style, broken
from heatmaps.exports.map_image import LONGEST, map_image, size
from heatmaps.exports.png import MARGIN
from heatmaps.exports.scale_bar import draw_scale, round_length
from heatmaps.exports.scene import Scene
from heatmaps.maps.grid import draw
from heatmaps.maps.image import mercator_height, position
from heatmaps.maps.legend import UNCERTAIN, ZERO, legend
from heatmaps.maps.looks import DARK, LIGHT
from mechanisms.space.grid import Region
from tests.exports.examples import NAN, OCEAN, make_heatmap, make_released, written

TALL = Region(-40.0, 0.0, -30.0, 70.0)
WIDE = Region(-44.0, -30.0, 8.0, -25.0)


def hexadecimal(pixel):
    return "#{:02x}{:02x}{:02x}".format(*pixel[:3])


def expected_colours(heatmap, region):
    """(side, side) colours from the legend of the web map."""
    drawn = draw(heatmap, region)
    key = legend(drawn)
    by_class = {row.key: row.light or LIGHT.land for row in key.rows}
    return np.array([[by_class[f"class-{index}"] for index in row] for row in key.classes_of(drawn)])


def colours_of_cells(image, region, side):
    """(side, side) colour in the middle of each cell, row 0 north."""
    found = []
    for row in range(side):
        lat = region.north - (row + 0.5) / side * (region.north - region.south)
        _, down = position(region, lat=lat, lon=region.west)
        y = int(down * image.height)
        found.append(
            [hexadecimal(image.getpixel((int((c + 0.5) / side * image.width), y))) for c in range(side)]
        )
    return np.array(found)


@pytest.mark.parametrize("region", [OCEAN, TALL, WIDE])
def test_it_paints_every_cell_in_the_colour_of_its_class(region):
    heatmap = make_heatmap()
    found = map_image(heatmap, region).scene.image
    colours = colours_of_cells(found, region, 8)
    assert (colours == expected_colours(heatmap, region)).all()
    assert len(set(colours.ravel())) >= 4


def test_it_has_a_class_of_its_own_for_what_cannot_be_told_from_zero():
    key = map_image(make_heatmap(), OCEAN).legend
    labels = {row.key: row.label for row in key.rows}
    assert "not distinguishable from zero" in labels[f"class-{UNCERTAIN}"]
    assert f"class-{ZERO}" not in labels  # errors are stated: what was left out is not told from zero either


def test_it_mixes_no_colours():
    found = map_image(make_heatmap(), OCEAN)
    colours = {hexadecimal(colour) for _, colour in found.scene.image.getcolors()}
    assert colours <= {row.light or LIGHT.land for row in found.legend.rows}
    assert len(colours) == 4


@pytest.mark.parametrize("region", [OCEAN, TALL, WIDE, Region(-180, -90, 180, 90)])
def test_it_has_the_shape_of_a_mercator_map(region):
    width, height = size(region, 8)
    assert height / width == pytest.approx(mercator_height(region), rel=0.01)
    assert max(width, height) <= LONGEST
    assert width % 8 == 0


@pytest.mark.parametrize("region", [Region(0, -80, 1e-3, -10), Region(-180, 0, 180, 1e-3)])
def test_it_draws_strips_that_can_be_seen(region):
    found = map_image(make_heatmap({(10, 0, 0): (1, NAN), (1, 1, 1): (9, NAN)}, level=10), region).scene.image
    assert max(found.size) <= LONGEST
    assert min(found.size) >= 48
    assert np.array_equal(np.array(found)[0, -1], np.array(found)[5, -5])  # a coarse square in the north-east
    assert not np.array_equal(np.array(found)[0, -1], np.array(found)[0, 0])


def test_it_draws_the_whole_world_in_its_own_cells():
    """Web maps end before the poles: rows beyond are missing, those before are not merged for it."""
    found = map_image(make_heatmap({(6, 63, 32): (3, NAN)}, level=6), Region(-180, -90, 180, 90))
    assert found.merged == 1


def test_mercator_keeps_squares_square():
    """At 60° a degree of longitude is half as long as one of latitude."""
    assert mercator_height(Region(0, 59.9, 0.2, 60.1)) == pytest.approx(2, rel=1e-3)


@pytest.mark.parametrize("region", [OCEAN, TALL, WIDE])
def test_it_merges_cells_that_are_smaller_than_a_pixel(region):
    found = map_image(make_heatmap({(11, 2047, 2047): (3, NAN), (11, 0, 0): (1, NAN)}, level=11), region)
    assert found.merged >= 2
    side = 2**11 // found.merged
    width, height = size(region, side)
    assert found.scene.image.size == (width, height)
    assert side <= width
    top_right = hexadecimal(found.scene.image.getpixel((width - 1, 0)))
    assert top_right == found.legend.rows[0].light  # no cell fell between two pixels


def test_it_names_places_without_hiding_the_map():
    austin = Region(-98.3, 29.8, -97.3, 31.0)
    found = map_image(make_heatmap(), austin).scene.image
    cells = colours_of_cells(found, austin, 8)
    assert (cells == expected_colours(make_heatmap(), austin)).mean() > 0.8
    assert len(found.getcolors(2**20)) > 20  # letters


@pytest.fixture
def page():
    return Image.open(io.BytesIO(written(".png", make_released())))


def test_the_page_has_map_and_legend(page):
    pixels, heatmap = page.convert("RGB"), map_image(make_heatmap(), OCEAN)
    width, height = heatmap.scene.image.size
    top = next(y for y in range(page.height) if pixels.getpixel((MARGIN + width // 2, y)) == (29, 37, 48)) + 1
    shown = pixels.crop((MARGIN, top, MARGIN + width, top + height))
    assert np.array_equal(np.array(shown)[1:-1, 1:-1], np.array(heatmap.scene.image)[1:-1, 1:-1])
    panel = pixels.crop((MARGIN + width + MARGIN, 0, page.width, page.height))
    counts = {hexadecimal(colour): count for count, colour in panel.getcolors(2**20)}
    for row in heatmap.legend.rows:
        assert counts[row.light or LIGHT.land] > 600  # its swatch


def test_the_page_has_a_title_and_the_loss_above_the_map(page):
    plain = written(".png", make_released(title=" "))
    dark = [
        np.array(image.convert("L"))[: 2 * MARGIN].min() for image in (page, Image.open(io.BytesIO(plain)))
    ]
    assert dark[0] < 80
    letters = Style(size=24, colour="#000000").font
    missing = bytes(letters.getmask("\u0378"))  # not assigned
    assert all(bytes(letters.getmask(letter)) != missing for letter in "εδ×–²°≤äłжΩ")


def test_the_page_carries_the_sheet_and_a_day(page):
    assert json.loads(page.text["Release sheet"]) == make_released().sheet
    assert page.text["Title"] == "Fish & ships, Ünïté"
    assert page.text["Description"] == "ε = 0.5 (presence), δ = 0"
    assert page.text["Creation Time"] == "2026-11-20"
    assert set(page.info) == {"Title", "Description", "Software", "Creation Time", "Release sheet"}
    assert written(".png", make_released()) == written(".png", make_released())


@pytest.mark.parametrize("title", ["W" * 120, "wide " * 24, "<b>&lt;", "東京 عربى 🗺", ""])
def test_the_page_takes_any_title(title):
    found = Image.open(io.BytesIO(written(".png", make_released(title=title))))
    assert found.height < 4000


def test_it_breaks_lines_within_the_width():
    style = Style(size=20, colour="#000000")
    lines = broken("one two " + "m" * 60 + " three", style, 200)
    assert all(style.font.getlength(line) <= 200 for line in lines)
    assert "".join(lines).replace(" ", "") == "onetwo" + "m" * 60 + "three"
    assert lines[0] == "one two"


CROWD = {(3, 4, 4): (900.0, 10.0), (3, 3, 4): (300.0, 10.0), (1, 0, 0): (1.0, 3.0)}


def crowd(**drawn):
    return replace(make_released(CROWD, deviations=[10.0, 10.0, 3.0]), **drawn)


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_a_map_with_known_errors_is_drawn_as_heat(look):
    """Its colours run smoothly where people are, and the land shows where none are told from nobody."""
    found = Image.open(io.BytesIO(written(".png", crowd(look=look)))).convert("RGB")
    colours = {hexadecimal(colour) for _, colour in found.getcolors(2**24)}
    assert {look.panel, look.land, look.ink} <= colours
    assert len(colours) > 1_000
    squares = Image.open(io.BytesIO(written(".png", crowd(look=look, layer="squares")))).convert("RGB")
    table = {row.dark if look is DARK else row.light for row in legend(draw(crowd().heatmap, OCEAN)).rows}
    assert table - {""} <= {hexadecimal(colour) for _, colour in squares.getcolors(2**24)}
    assert len(squares.getcolors(2**24)) < 1_000


def test_a_scale_has_a_round_length_on_the_middle_parallel():
    assert [round_length(value) for value in (1, 9.9, 10, 2_400, 0.07)] == [
        1,
        5,
        10,
        2_000,
        pytest.approx(0.05),
    ]
    scene = Scene.of(Region(-10, 59, 10, 61), (1000, 200))
    assert scene.metres_per_pixel == pytest.approx(scene.view.width_m / 1000, rel=0.005)
    right = draw_scale(scene.canvas, (100, 20), scene)
    assert (right - 100) * scene.metres_per_pixel == pytest.approx(200_000, rel=0.01)
