"""Degrees become the finest cells that `mechanisms.space.grid` finds, bit for bit."""

import math

import numpy as np

from mechanisms.space.grid import Region, morton_decode

CELLS = """
const { finestCell } = await import("./places.js");
const cells = ({ region, places }) => places.map(([lat, lon]) => finestCell(region, lat, lon));
answer(given.map((one) => cells(one).map(({ x, y }) => [x, y])));
"""
REGIONS = [
    Region(11.3, 48.0, 11.8, 48.3),
    Region(-180.0, -90.0, 180.0, 90.0),
    Region(100.0, -45.5, 180.0, -12.25),
    Region(-0.00011, 0.0, 0.0, 0.00011),
    Region(-123.456789012345, 37.1, -121.98765432101, 38.123456789),
]


def test_it_finds_the_same_cells(node):
    spots = [places(region) for region in REGIONS]
    given = [
        {"region": list(region), "places": np.stack(spot, axis=1).tolist()}
        for region, spot in zip(REGIONS, spots, strict=True)
    ]
    for region, (lat, lon), found in zip(REGIONS, spots, node(CELLS, given), strict=True):
        expected = np.stack(morton_decode(region.morton(lat, lon), 31), axis=1)
        assert np.array_equal(found, expected), region


def test_it_refuses_what_is_no_number(node):
    program = """
    const { finestCell } = await import("./places.js");
    try { finestCell([0, 0, 1, 1], NaN, 0.5); answer("taken"); } catch (error) { answer(error.name); }
    """
    assert node(program) == "RangeError"


def places(region):
    """Inside, outside, and on edges of cells with their neighbours, where a division rounds across."""
    rng = np.random.default_rng(1)
    inside = [
        rng.uniform(low, high, 2000)
        for low, high in ((region.south, region.north), (region.west, region.east))
    ]
    outside = [rng.uniform(-90, 90, 2000), rng.uniform(-180, 180, 2000)]
    edges = []
    for low, high in ((region.south, region.north), (region.west, region.east)):
        cells = np.concatenate([rng.integers(0, 2**31, 1500), [0, 1, 2**31 - 1]])
        edge = low + cells * ((high - low) / 2**31)
        edges.append(np.concatenate([edge, np.nextafter(edge, -math.inf), np.nextafter(edge, math.inf)]))
    corners = [[region.south, region.north] * 2, [region.west, region.east, region.east, region.west]]
    lat, lon = (np.concatenate(parts) for parts in zip(inside, outside, edges, corners, strict=True))
    return np.clip(lat, -90, 90), np.clip(lon, -180, 180)
