"""What a map draws: the right cells, in the right place, in the colour that its legend says."""

import itertools
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from PIL import ImageColor

from heatmaps.maps import image, palette
from heatmaps.maps.document import document, map_parts
from heatmaps.maps.grid import FINEST_DRAWN_LEVEL, draw, row_areas_km2
from heatmaps.maps.legend import FIRST, UNCERTAIN, ZERO, legend
from heatmaps.maps.table import top_regions
from heatmaps.numbers import number
from heatmaps.places.whereabouts import nearest, places_in
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.measurements import Measurement, Measurements
from mechanisms.results.significance import SignificantSquares
from mechanisms.space.grid import Region, morton_encode

AUSTIN = Region(-98.3, 29.8, -97.3, 31.0)
TALL = Region(0.0, 0.0, 10.0, 80.0)


def make(level, cells, *, told=None):
    """A map from {(level, x from the west, y from the south): (value, standard error)}; `told`: such keys."""
    if told is not None:
        told = SignificantSquares(
            levels=np.array([at[0] for at in told], np.uint8),
            prefixes=np.array([int(morton_encode(at[1], at[2], at[0])) for at in told], np.int64),
        )
    return Heatmap(
        significant=told,
        level=level,
        levels=np.array([at[0] for at in cells], np.uint8),
        prefixes=np.array([int(morton_encode(at[1], at[2], at[0])) for at in cells], np.int64),
        values=np.array([value for value, _ in cells.values()], np.float64),
        standard_errors=np.array([error for _, error in cells.values()], np.float64),
    )


def classes(heatmap, region=AUSTIN):
    drawn = draw(heatmap, region)
    return legend(drawn).classes_of(drawn)


NO_ERROR = float("nan")


def test_it_puts_north_up_and_west_left():
    found = classes(make(2, {(2, 0, 3): (5, NO_ERROR)}))

    assert np.argwhere(found != ZERO).tolist() == [[0, 0]]


def test_it_draws_a_coarse_region_over_all_its_cells():
    found = classes(make(3, {(1, 1, 0): (5, NO_ERROR)}))

    assert (found[4:, 4:] != ZERO).all()
    assert (found != ZERO).sum() == 16


def test_it_ranks_by_density_not_by_mass():
    found = classes(make(3, {(1, 0, 0): (20, NO_ERROR), (3, 7, 7): (10, NO_ERROR)}))

    assert found[0, 7] > found[7, 0]


def test_it_gives_a_class_of_its_own_to_what_cannot_be_told_from_zero():
    cells = {(2, 0, 0): (1.9, 1.0), (2, 1, 0): (9, 1.0), (2, 2, 0): (0, 1.0), (1, 0, 1): (9, NO_ERROR)}
    heatmap = make(2, cells, told=[(2, 1, 0), (1, 0, 1), (1, 0, 0)])
    drawn = draw(heatmap, AUSTIN)

    found = legend(drawn).classes_of(drawn)

    coloured = {(row, column) for row, column in np.argwhere(found >= FIRST).tolist()}
    assert coloured == {(3, 1), (0, 0), (0, 1), (1, 0), (1, 1)}
    # Cells in no region are not told apart either.
    assert (found[found < FIRST] == UNCERTAIN).all()
    assert legend(drawn).rows[-1].label == (
        "not distinguishable from zero (on average at most 5 % of the coloured squares are empty)"
    )


def test_it_says_that_rectangles_were_measured_where_a_guide_filled_them():
    part = Measurement(
        scale_persons=1.0, depths=np.zeros(1, np.uint8), codes=np.zeros(1, int), noisy=np.zeros(1)
    )
    heatmap = make(2, {(2, 0, 0): (1.9, 1.0), (2, 1, 0): (9, 1.0)}, told=[(2, 1, 0)])
    for shares, places in ((np.ones(64**2, int), "rectangles that were measured"), (None, "squares")):
        kept = Measurements(parts=(part,), shares=shares)
        drawn = draw(replace(heatmap, measurements=kept), AUSTIN)
        assert legend(drawn).rows[-1].label == (
            f"not distinguishable from zero (on average at most 5 % of the coloured {places} are empty)"
        )


def test_it_takes_the_class_of_the_squares_that_it_draws():
    cells = {(2, 0, 0): (3, 1.0), (2, 3, 3): (3, 1.0)}
    heatmap = make(2, cells, told=[(2, 0, 0), (1, 1, 1)])

    drawn = draw(heatmap, AUSTIN, finest_level=1)

    assert np.argwhere(legend(drawn).classes_of(drawn) >= FIRST).tolist() == [[0, 1]]


def test_it_tests_the_cells_of_maps_that_were_released_without_a_class():
    values = {(3, x, 0): (value, 1.0) for x, value in enumerate((9, 2, 1, 4.5))}

    found = classes(make(3, values))[7]

    # 64 cells at 5 %: the third needs half of exp(-√2 value) below 3/64 of 5 %, 4.5 is enough and 2 is not.
    assert (found[:4] >= FIRST).tolist() == [True, False, False, True]


def test_it_has_a_class_for_no_mass_where_no_errors_are_stated():
    drawn = draw(make(2, {(2, 0, 0): (2, NO_ERROR)}), AUSTIN)

    assert [row.label for row in legend(drawn).rows][1:] == ["no mass released here"]
    assert (legend(drawn).classes_of(drawn) == ZERO).sum() == 15


def test_it_has_a_legend_whose_numbers_hold_for_every_cell():
    rng = np.random.default_rng(3)
    cells = {(4, x, y): (float(rng.pareto(0.7)), NO_ERROR) for x, y in itertools.product(range(16), repeat=2)}
    drawn = draw(make(4, cells), AUSTIN)
    key = legend(drawn)

    found = key.classes_of(drawn)

    percents = drawn.densities * 100 * key.unit_km2
    bounds = [*key.breaks, key.top]
    for index in range(len(key.breaks)):
        inside = percents[found == FIRST + index]
        assert ((inside >= bounds[index]) & (inside <= bounds[index + 1])).all()
        assert inside.size
    assert len(key.breaks) >= 5
    assert key.rows[0].label == f"{number(bounds[-2])} – {number(bounds[-1])} %"


@pytest.mark.parametrize(
    ("region", "unit"),
    [
        (Region(0, 0, 0.0005, 0.0005), "100 m²"),
        (Region(0, 0, 0.02, 0.02), "hectare"),
        (AUSTIN, "km²"),
        (Region(-10, 35, 30, 60), "10,000 km²"),
    ],
)
def test_it_uses_a_unit_of_area_that_gives_readable_numbers(region, unit):
    drawn = draw(make(3, {(3, 0, 0): (3, NO_ERROR), (3, 1, 1): (1, NO_ERROR)}), region)

    assert legend(drawn).unit == unit


def test_it_draws_an_empty_map_evenly():
    drawn = draw(make(2, {}), AUSTIN)

    assert len(np.unique(legend(drawn).classes_of(drawn))) == 1
    assert drawn.shares.sum() == pytest.approx(1)


def test_it_coarsens_by_summing():
    level = FINEST_DRAWN_LEVEL + 1
    fine = {(level, x, y): (1.0, 0.5) for x, y in itertools.product((0, 1), repeat=2)}
    heatmap = make(level, fine | {(1, 1, 1): (4.0, NO_ERROR), (level, 2, 0): (8.0, 1.0)})

    drawn = draw(heatmap, AUSTIN)

    assert drawn.merged == 2
    assert drawn.shares[-1, :3].tolist() == pytest.approx([0.25, 0.5, 0])
    assert drawn.shares[: len(drawn.shares) // 2].sum() == pytest.approx(0.25)


def test_it_measures_areas_on_the_globe():
    whole = Region(-180, -90, 180, 90)

    assert row_areas_km2(whole, 3).sum() * 8 == pytest.approx(510.1e6, rel=1e-3)
    assert row_areas_km2(AUSTIN, 3).sum() * 8 * 1e6 == pytest.approx(
        AUSTIN.width_m * AUSTIN.height_m, rel=6e-3
    )


def test_it_places_rows_where_mercator_has_them():
    """Latitudes 0 to 80 in 8 rows: the northern half of the rows takes more than two thirds of the image."""
    rows = image.mercator_rows(TALL, 8, height=64)

    share_of_north = (rows < 4).mean()
    expected = 1 - np.arcsinh(np.tan(np.radians(40))) / np.arcsinh(np.tan(np.radians(80)))
    assert share_of_north == pytest.approx(expected, abs=1 / len(rows))
    assert (np.diff(rows) >= 0).all()
    assert set(rows.tolist()) == set(range(8))


def test_it_keeps_cells_unmixed():
    grid = np.array([[ZERO, UNCERTAIN], [FIRST, FIRST + 1]], np.uint8)

    pixels = image.pixels(grid, AUSTIN, count=2, dark=False)

    colours = {tuple(colour) for colour in pixels.reshape(-1, 4).tolist()}
    opaque = {ImageColor.getcolor(text, "RGBA") for text in palette.light(2)}
    assert colours == opaque | {(0, 0, 0, 0)}


@pytest.mark.parametrize("sequence", [palette.light, palette.dark])
def test_it_orders_colours_by_lightness_alone(sequence):
    """Steps of luminance that a black-and-white print, or any eye, tells apart."""

    def luminance(colour):
        linear = [
            (part / 255 / 12.92 if part < 11 else ((part / 255 + 0.055) / 1.055) ** 2.4) for part in colour
        ]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    steps = np.cbrt([luminance(colour) for colour in map(ImageColor.getrgb, sequence(7))])
    differences = np.diff(steps)
    assert (differences < -0.05).all() if sequence is palette.light else (differences > 0.05).all()


@pytest.fixture
def page():
    heatmap = make(4, {(4, 3, 9): (30, 1.0), (2, 1, 1): (5, 1.0), (4, 15, 0): (1, 1.0)})
    return document(map_parts(heatmap, AUSTIN), nonce="N0nce", title="<b>a & b</b>")


def test_it_loads_scripts_and_styles_of_our_own_origin_only(page):
    loaded = re.findall(r'<(?:script|link)[^>]+(?:src|href)="([^"]+)"', page)

    assert loaded
    assert all(address.startswith(("/static/", "/scripts/")) for address in loaded)
    assert "//cdn" not in page
    assert "https://" not in page


def test_it_escapes_what_people_typed(page):
    assert "<title>&lt;b&gt;a &amp; b&lt;/b&gt;</title>" in page
    assert "<b>a" not in page


def test_it_shares_nothing_with_other_maps(page):
    other = document(map_parts(make(2, {}), AUSTIN), nonce="0ther", title="")

    assert "N0nce" not in other
    assert page.count('<script src="/static/leaflet/leaflet.js">') == 1
    assert other.count('<script src="/static/leaflet/leaflet.js">') == 1


def test_it_places_the_image_on_the_region(page):
    data = json.loads(re.search(r'<script id="released-map" type="application/json">([^<]+)<', page)[1])
    cells = [one["content"] for one in data["drawings"] if one["function"] == "cells"]

    assert [one["bounds"] for one in cells] == [[[29.8, -98.3], [31.0, -97.3]]] * 2
    assert [one["isDark"] for one in cells] == [False, True]


def test_it_says_the_same_in_a_table():
    cells = {(4, 8, 6): (30, 4.0), (2, 1, 1): (9, 5.0), (4, 15, 0): (0, 1.0)}
    heatmap = make(4, cells, told=[(4, 8, 6)])

    first, second = top_regions(heatmap, AUSTIN, most=5)

    assert (first.share, first.persons, first.interval) == ("76.9 %", "30", "21.5 – 38.5")
    assert first.size == "6.01 km × 8.31 km"
    assert "Austin" in first.where or "km" in first.where
    assert (first.uncertain, second.uncertain) == (False, True)


def test_it_knows_places():
    assert [place.name for place in places_in(AUSTIN, most=2)] == ["Austin", "Round Rock"]
    assert places_in(AUSTIN, most=1)[0].country == "US"
    assert nearest(30.5083, -97.6789) == "Within 1 km of Round Rock"
    assert re.fullmatch(r"\d+ km \w+(-\w+)? of .+", nearest(30.9, -98.2))
    assert nearest(-60.0, -130.0) == ""
