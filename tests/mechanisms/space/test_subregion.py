"""Parts of a region: edges on grid lines, their own grid, and the ranges that cover them."""

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from mechanisms.check import ParameterError
from mechanisms.space.grid import FINEST_LEVEL, Region, morton_encode
from mechanisms.space.subregion import LINES, MOST_RANGES, Rectangle

CITY = Region(2.0, 41.0, 3.0, 42.0)


def random_part(rng, sides=(1, 10, 2**12, 2**20, 2**30)):
    wide, high = min(rng.choice(sides) * rng.randint(1, 3), LINES), min(rng.choice(sides), LINES)
    west, south = rng.randint(0, LINES - wide), rng.randint(0, LINES - high)
    return Rectangle(west, south, west + wide, south + high)


def near_points(rng, rectangle, count=200):
    """Finest columns and rows in and around a rectangle, its corners and the region's among them."""
    across, up = rectangle.east - rectangle.west, rectangle.north - rectangle.south
    x = [
        rng.randint(rectangle.west - across // 3 - 1, rectangle.east + across // 3 + 1) for _ in range(count)
    ]
    y = [rng.randint(rectangle.south - up // 3 - 1, rectangle.north + up // 3 + 1) for _ in range(count)]
    x += [rectangle.west, rectangle.west - 1, rectangle.east, rectangle.east - 1, 0, LINES - 1]
    y += [rectangle.south, rectangle.south - 1, rectangle.north - 1, rectangle.north, 0, LINES - 1]
    return [min(max(v, 0), LINES - 1) for v in x], [min(max(v, 0), LINES - 1) for v in y]


@pytest.mark.parametrize("seed", range(30))
def test_it_puts_cells_into_its_own_grid_exactly(seed):
    rng = random.Random(seed)
    rectangle, level = random_part(rng), rng.choice([0, 1, 4, 12, 31])
    x, y = near_points(rng, rectangle)
    mask, cells = rectangle.cells(morton_encode(x, y, FINEST_LEVEL), level)
    expected_mask, expected = [], []
    for column, row in zip(x, y, strict=True):
        inside = rectangle.west <= column < rectangle.east and rectangle.south <= row < rectangle.north
        expected_mask.append(inside)
        if inside:
            across = Fraction(column - rectangle.west, rectangle.east - rectangle.west) * 2**level
            up = Fraction(row - rectangle.south, rectangle.north - rectangle.south) * 2**level
            expected.append(int(morton_encode([int(across)], [int(up)], level)[0]))
    assert mask.tolist() == expected_mask
    assert cells.tolist() == expected


@pytest.mark.parametrize("seed", range(60))
def test_its_ranges_are_few_and_miss_no_cell(seed):
    rng = random.Random(seed)
    rectangle = random_part(rng)
    ranges = rectangle.ranges()
    assert 1 <= len(ranges) <= MOST_RANGES
    assert all(last < first for (_, last), (first, _) in pairwise(ranges))
    codes = morton_encode(*near_points(rng, rectangle), FINEST_LEVEL)
    inside = codes[rectangle.cells(codes, 0)[0]]
    assert inside.size
    assert all(any(first <= code <= last for first, last in ranges) for code in inside.tolist())


def test_its_ranges_leave_most_of_the_region_out():
    middle = LINES // 2
    rectangle = Rectangle(
        middle - 1000, middle - 1000, middle + 1000, middle + 1000
    )  # over the coarsest border of all
    assert sum(last - first + 1 for first, last in rectangle.ranges()) < 20 * 2000**2


@pytest.mark.parametrize(
    "rectangle",
    [Rectangle(1, 1, LINES - 1, LINES - 1), Rectangle(0, 0, LINES, 1), Rectangle(1, 0, LINES, LINES)],
)
def test_its_ranges_are_found_at_once_where_its_border_is_long(rectangle):
    assert len(rectangle.ranges()) <= MOST_RANGES


def test_it_takes_the_nearest_lines_and_finds_them_again():
    rng = random.Random(1)
    for region in (CITY, Region(-180, -90, 180, 90), Region(179.0, -0.3, 179.99, 0.7)):
        for _ in range(200):
            west, east = sorted(rng.uniform(region.west, region.east) for _ in range(2))
            south, north = sorted(rng.uniform(region.south, region.north) for _ in range(2))
            if min(east - west, north - south) < 0.001:
                continue
            rectangle = Rectangle.nearest(region, Region(west, south, east, north))
            step = (region.east - region.west) / LINES
            assert abs(rectangle.region(region).west - west) <= 0.51 * step
            assert Rectangle.nearest(region, rectangle.region(region)) == rectangle


def test_the_whole_region_is_the_whole_region():
    assert Rectangle.nearest(CITY, CITY) == Rectangle(0, 0, LINES, LINES)
    assert Rectangle.nearest(CITY, CITY).is_whole
    assert Rectangle(0, 0, LINES, LINES).region(CITY) == CITY


@pytest.mark.parametrize("edges", [(5, 0, 5, 9), (0, 9, 5, 5), (-1, 0, 5, 5), (0, 0, LINES + 1, 5)])
def test_it_refuses_what_is_no_rectangle(edges):
    with pytest.raises(ParameterError):
        Rectangle(*edges)


def test_the_points_on_the_regions_own_border_belong_to_a_part_that_reaches_it():
    rectangle = Rectangle(LINES // 2, LINES // 2, LINES, LINES)
    mask, cells = rectangle.cells(CITY.morton([42.0, 41.5, 41.4], [3.0, 2.5, 3.0]), 1)
    np.testing.assert_array_equal(mask, [True, True, False])
    np.testing.assert_array_equal(cells, [3, 0])
