"""Parts of a region: edges on grid lines, their own grid, and the ranges that cover them."""

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from mechanisms.check import ParameterError
from mechanisms.grid import FINEST_LEVEL, Region, morton_encode
from mechanisms.part import LINES, MOST_RANGES, Part

CITY = Region(2.0, 41.0, 3.0, 42.0)


def random_part(rng, sides=(1, 10, 2**12, 2**20, 2**30)):
    wide, high = min(rng.choice(sides) * rng.randint(1, 3), LINES), min(rng.choice(sides), LINES)
    west, south = rng.randint(0, LINES - wide), rng.randint(0, LINES - high)
    return Part(west, south, west + wide, south + high)


def near_points(rng, part, count=200):
    """Finest columns and rows in and around a part, its corners and the region's among them."""
    across, up = part.east - part.west, part.north - part.south
    x = [rng.randint(part.west - across // 3 - 1, part.east + across // 3 + 1) for _ in range(count)]
    y = [rng.randint(part.south - up // 3 - 1, part.north + up // 3 + 1) for _ in range(count)]
    x += [part.west, part.west - 1, part.east, part.east - 1, 0, LINES - 1]
    y += [part.south, part.south - 1, part.north - 1, part.north, 0, LINES - 1]
    return [min(max(v, 0), LINES - 1) for v in x], [min(max(v, 0), LINES - 1) for v in y]


@pytest.mark.parametrize("seed", range(30))
def test_it_puts_cells_into_its_own_grid_exactly(seed):
    rng = random.Random(seed)
    part, level = random_part(rng), rng.choice([0, 1, 4, 12, 31])
    x, y = near_points(rng, part)
    mask, cells = part.cells(morton_encode(x, y, FINEST_LEVEL), level)
    expected_mask, expected = [], []
    for column, row in zip(x, y, strict=True):
        inside = part.west <= column < part.east and part.south <= row < part.north
        expected_mask.append(inside)
        if inside:
            across = Fraction(column - part.west, part.east - part.west) * 2**level
            up = Fraction(row - part.south, part.north - part.south) * 2**level
            expected.append(int(morton_encode([int(across)], [int(up)], level)[0]))
    assert mask.tolist() == expected_mask
    assert cells.tolist() == expected


@pytest.mark.parametrize("seed", range(60))
def test_its_ranges_are_few_and_miss_no_cell(seed):
    rng = random.Random(seed)
    part = random_part(rng)
    ranges = part.ranges()
    assert 1 <= len(ranges) <= MOST_RANGES
    assert all(last < first for (_, last), (first, _) in pairwise(ranges))
    codes = morton_encode(*near_points(rng, part), FINEST_LEVEL)
    inside = codes[part.cells(codes, 0)[0]]
    assert inside.size
    assert all(any(first <= code <= last for first, last in ranges) for code in inside.tolist())


def test_its_ranges_leave_most_of_the_region_out():
    middle = LINES // 2
    part = Part(middle - 1000, middle - 1000, middle + 1000, middle + 1000)  # over the coarsest border of all
    assert sum(last - first + 1 for first, last in part.ranges()) < 20 * 2000**2


@pytest.mark.parametrize(
    "part", [Part(1, 1, LINES - 1, LINES - 1), Part(0, 0, LINES, 1), Part(1, 0, LINES, LINES)]
)
def test_its_ranges_are_found_at_once_where_its_border_is_long(part):
    assert len(part.ranges()) <= MOST_RANGES


def test_it_takes_the_nearest_lines_and_finds_them_again():
    rng = random.Random(1)
    for region in (CITY, Region(-180, -90, 180, 90), Region(179.0, -0.3, 179.99, 0.7)):
        for _ in range(200):
            west, east = sorted(rng.uniform(region.west, region.east) for _ in range(2))
            south, north = sorted(rng.uniform(region.south, region.north) for _ in range(2))
            if min(east - west, north - south) < 0.001:
                continue
            part = Part.nearest(region, Region(west, south, east, north))
            step = (region.east - region.west) / LINES
            assert abs(part.region(region).west - west) <= 0.51 * step
            assert Part.nearest(region, part.region(region)) == part


def test_the_whole_region_is_the_whole_region():
    assert Part.nearest(CITY, CITY) == Part(0, 0, LINES, LINES)
    assert Part.nearest(CITY, CITY).is_whole
    assert Part(0, 0, LINES, LINES).region(CITY) == CITY


@pytest.mark.parametrize("edges", [(5, 0, 5, 9), (0, 9, 5, 5), (-1, 0, 5, 5), (0, 0, LINES + 1, 5)])
def test_it_refuses_what_is_no_rectangle(edges):
    with pytest.raises(ParameterError):
        Part(*edges)


def test_the_points_on_the_regions_own_border_belong_to_a_part_that_reaches_it():
    part = Part(LINES // 2, LINES // 2, LINES, LINES)
    mask, cells = part.cells(CITY.morton([42.0, 41.5, 41.4], [3.0, 2.5, 3.0]), 1)
    np.testing.assert_array_equal(mask, [True, True, False])
    np.testing.assert_array_equal(cells, [3, 0])
