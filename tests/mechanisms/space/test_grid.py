"""Regions, cells and Morton codes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.check import ParameterError
from mechanisms.space.grid import FINEST_LEVEL, Region, children, morton_decode, morton_encode, parent
from tests.geodesics import geodesic_m

AUSTIN = Region(-98.3, 29.8, -97.3, 31.0)
levels = st.integers(0, FINEST_LEVEL)
property_test = settings(derandomize=True, max_examples=150, deadline=None)


@st.composite
def regions(draw):
    west, south = draw(st.floats(-180, 179)), draw(st.floats(-90, 89))
    width, height = draw(st.floats(2e-4, 180 - west)), draw(st.floats(2e-4, 90 - south))
    return Region(west, south, min(west + width, 180), min(south + height, 90))


# --- Morton codes ---------------------------------------------------------------------------------


def naive_code(x, y, level):
    return sum(((x >> bit & 1) << 2 * bit) | ((y >> bit & 1) << 2 * bit + 1) for bit in range(level))


@property_test
@given(levels, st.data())
def test_it_interleaves_bits_with_y_higher_and_back(level, data):
    coordinate = st.integers(0, 2**level - 1)
    x, y = data.draw(coordinate), data.draw(coordinate)
    code = morton_encode(x, y, level)
    assert code == naive_code(x, y, level)
    assert tuple(map(int, morton_decode(code, level))) == (x, y)


def test_it_uses_all_62_bits():
    last = 2**31 - 1
    assert morton_encode(last, last, 31) == 2**62 - 1
    assert morton_encode([1, 0], [0, 1], 31).tolist() == [1, 2]


@pytest.mark.parametrize(("x", "y"), [(-1, 0), (0, 8), (8, 0)])
def test_it_refuses_cells_outside_the_grid(x, y):
    with pytest.raises(ParameterError, match="0 to 7"):
        morton_encode(x, y, 3)


def test_it_refuses_codes_outside_the_grid():
    with pytest.raises(ParameterError, match="0 to 63"):
        morton_decode([64], 3)


def test_it_lists_children_in_order_below_their_parent():
    codes = np.array([0, 5, 7])
    below = children(codes)
    assert below.tolist() == [0, 1, 2, 3, 20, 21, 22, 23, 28, 29, 30, 31]
    assert (parent(below) == np.repeat(codes, 4)).all()
    assert (parent(children(below), up=2) == np.repeat(codes, 16)).all()


# --- points and cells -------------------------------------------------------------------------------


@property_test
@given(regions(), levels, st.data())
def test_it_finds_a_point_inside_the_bounds_of_its_cell(region, level, data):
    lat = data.draw(st.floats(region.south, region.north))
    lon = data.draw(st.floats(region.west, region.east))
    west, south, east, north = region.cell_bounds(level, region.morton(lat, lon, level))
    assert west <= lon < east or (lon == east == region.east)
    assert south <= lat < north or (lat == north == region.north)


@property_test
@given(regions(), levels, st.data())
def test_it_returns_from_a_cells_corner_and_middle_to_the_cell(region, level, data):
    cell = data.draw(st.integers(0, 4**level - 1))
    west, south, east, north = region.cell_bounds(level, cell)
    assert region.morton(south, west, level) == cell
    assert region.morton((south + north) / 2, (west + east) / 2, level) == cell


@property_test
@given(regions(), levels, st.data())
def test_it_agrees_between_levels(region, level, data):
    lat = data.draw(st.floats(region.south, region.north))
    lon = data.draw(st.floats(region.west, region.east))
    assert parent(region.morton(lat, lon), FINEST_LEVEL - level) == region.morton(lat, lon, level)


def test_it_gives_an_inner_edge_to_the_eastern_and_northern_cell():
    region = Region(0, 0, 8, 8)
    assert region.morton(0.0, 1.0, 3) == morton_encode(1, 0, 3)
    assert region.morton(0.0, np.nextafter(1, 0), 3) == morton_encode(0, 0, 3)
    assert region.morton(1.0, 0.0, 3) == morton_encode(0, 1, 3)


@pytest.mark.parametrize("region", [AUSTIN, Region(100.1, 0.1, 100.1003, 0.1003), Region(-180, -90, 180, 90)])
def test_it_draws_the_edge_between_two_floats(region):
    rng = np.random.default_rng(21)
    cells = rng.integers(1, 2**31, (2, 20_000))
    west, south, *_ = region.cell_bounds(31, morton_encode(*cells, 31))
    at = region.morton(south, west)
    below = region.morton(np.nextafter(south, -np.inf), np.nextafter(west, -np.inf))
    assert (at == morton_encode(*cells, 31)).all()
    assert (below == morton_encode(*(cells - 1), 31)).all()


def test_it_ends_with_the_last_cell():
    rng = np.random.default_rng(22)
    for west, south, east, north in (rng.uniform(0.1, 80, (200, 4)) * [-1, -1, 1, 1]).tolist():
        region = Region(west, south, east, north)
        bounds = region.cell_bounds(9, 4**9 - 1)
        assert (bounds[2], bounds[3]) == (region.east, region.north)


def test_it_gives_the_outer_border_to_the_last_cells():
    assert AUSTIN.morton(AUSTIN.north, AUSTIN.east, 8) == morton_encode(255, 255, 8)
    west, south, east, north = AUSTIN.cell_bounds(8, morton_encode([0, 255], [0, 255], 8))
    assert (west[0], south[0], east[1], north[1]) == tuple(AUSTIN)


@pytest.mark.parametrize(
    ("lat", "lon", "cell"),
    [(-90, -180, (0, 0)), (90, 82, (255, 255)), (30.4, 81, (255, 128)), (math.nan, -98.3, (0, 255))],
)
def test_it_clamps_points_outside_to_the_border(lat, lon, cell):
    code = AUSTIN.morton(lat, lon, 8)
    assert tuple(map(int, morton_decode(code, 8))) == cell


@pytest.mark.parametrize(
    ("region", "lon", "edge"),
    [
        (Region(177, -19, 180, -16), -179.9, 180),  # Fiji: 0.1 degrees to the east of it
        (Region(177, -19, 180, -16), -180, 180),
        (Region(177, -19, 180, -16), 0, 177),
        (Region(-180, 51, -170, 55), 179.5, -180),
        (Region(8, 47, 9, 48), -171.6, 9),
        (Region(8, 47, 9, 48), -171.4, 8),
        (Region(8, 47, 9, 48), -171.5, 9),  # as near to both
        (Region(-10, 0, 10, 1), 180, 10),  # the same meridian twice
        (Region(-10, 0, 10, 1), -180, 10),
        (Region(8, 47, 9, 48), 8.25, 8.25),
    ],
)
def test_a_longitude_goes_to_the_edge_that_is_nearer_around_the_earth(region, lon, edge):
    lat, lons = region.clamped([region.south - 5, 89, region.south], [lon] * 3)
    assert lat.tolist() == [region.south, region.north, region.south]
    assert lons.tolist() == [edge] * 3
    column, _ = morton_decode(region.morton(lat[0], lon, 4), 4)
    assert column == int(min(15, (edge - region.west) / (region.east - region.west) * 16))


def test_cutting_moves_no_two_places_apart_in_the_projection():
    """Of places in a larger box, both in that box's projection; as cut to a part of it."""
    rng, part = np.random.default_rng(3), Region(-98.1, 30.0, -97.6, 30.4)
    lat, lon = rng.uniform(29.8, 31.0, (2, 4000)), rng.uniform(-98.3, -97.3, (2, 4000))
    apart, cut_apart = (
        np.hypot(*(np.diff(axis, axis=0) for axis in AUSTIN.to_metres(*places)))
        for places in ((lat, lon), part.clamped(lat, lon))
    )
    assert (cut_apart <= apart * (1 + 1e-12)).all()


def test_it_contains_its_border_and_no_nan():
    lat = np.array([29.8, 31.0, 31.0000001, math.nan, 30])
    lon = np.array([-98.3, -97.3, -98.0, -98.0, -97.2])
    assert AUSTIN.contains(lat, lon).tolist() == [True, True, False, False, False]


# --- metres -----------------------------------------------------------------------------------------


def test_it_knows_its_size_in_metres():
    middle = (29.8 + 31.0) / 2
    assert AUSTIN.width_m == pytest.approx(geodesic_m(middle, -98.3, middle, -97.3), rel=1e-4)
    assert AUSTIN.height_m == pytest.approx(geodesic_m(29.8, -98, 31.0, -98), rel=1e-5)
    assert AUSTIN.diameter_m == pytest.approx(math.hypot(AUSTIN.width_m, AUSTIN.height_m))
    x, y = AUSTIN.to_metres([29.8, 31.0], [-98.3, -97.3])
    assert x.tolist() == pytest.approx([0, AUSTIN.width_m])
    assert y.tolist() == pytest.approx([0, AUSTIN.height_m])


# --- what is no region ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-97.3,29.8,-98.3,31.0", ["east is -98.3", "above west (-97.3)", "antimeridian"]),
        ("170,-20,-170,-10", ["east is -170", "antimeridian", "split"]),
        ("170,-20,190,-10", ["east is 190", "-180.0 to 180.0"]),
        ("-98.3,31.0,-97.3,29.8", ["north is 29.8", "above south (31.0)"]),
        ("-98.3,29.8,-97.3,91", ["north is 91", "-90.0 to 90.0"]),
        ("0,0,1e400,1", ["east is inf", "-180.0 to 180.0"]),
        ("0,0,nan,1", ["bbox", "nan", "four decimal numbers"]),
        ("0,0,1", ["bbox", "four decimal numbers"]),
        ("0,0,1,1,1", ["four decimal numbers"]),
        ("", ["four decimal numbers"]),
        ("０,0,1,1", ["four decimal numbers"]),
        ("0,0,1_0,1", ["four decimal numbers"]),
        ("0,0,0,1", ["east is 0.0", "above west"]),
        ("0,0,1e-9,1", ["east is 1e-09", "0.0001 degrees"]),
        ("0" * 300 + ",0,1,1", ["four decimal numbers"]),
    ],
)
def test_it_explains_what_is_no_region(text, words):
    with pytest.raises(ParameterError) as caught:
        Region.parse(text)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert len(str(caught.value)) < 300


def test_it_reads_a_box():
    assert Region.parse("-98.3, 29.8,-97.3,31") == AUSTIN
