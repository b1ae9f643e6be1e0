"""Finest cells, place by place as `mechanisms.space.grid` finds them."""

import numpy as np
import pytest
from hazemap_device import DeviceError, Place
from hazemap_device import places as client

from mechanisms.space import grid

REGIONS = [
    (16.18, 48.11, 16.58, 48.33),
    (-180.0, -90.0, 180.0, 90.0),
    (170.0, -45.0, 180.0, -30.0),  # its east edge is the antimeridian
    (-180.0, 10.0, -179.9998, 10.0002),  # nearly the smallest
    (-0.1, -0.1, 0.2, 0.3),
    (-20.0, -45.0, -10.0, -30.0),  # 165° is as far from its east as from its west
]
PLACES = 100_000  # of all regions together, and every edge place


def cells_of(box, lat, lon):
    x, y = grid.morton_decode(grid.Region(*box).morton(lat, lon), grid.FINEST_LEVEL)
    return list(zip(x.tolist(), y.tolist(), strict=True))


def ours(box, lat, lon):
    region = client.Region(west=box[0], south=box[1], east=box[2], north=box[3])
    return [region.cell(Place(lat=y, lon=x)) for y, x in zip(lat.tolist(), lon.tolist(), strict=True)]


def random_places(box, seed):
    """Half of them in and around the region, half anywhere on earth."""
    rng = np.random.default_rng(seed)
    count = PLACES // len(REGIONS) // 2
    west, south, east, north = box
    near_lat = south + (north - south) * rng.uniform(-0.2, 1.2, count)
    near_lon = west + (east - west) * rng.uniform(-0.2, 1.2, count)
    lat = np.concatenate([near_lat, rng.uniform(-90, 90, count)])
    lon = np.concatenate([near_lon, rng.uniform(-180, 180, count)])
    return lat.clip(-90, 90), (lon + 180) % 360 - 180


def edge_places(box, seed):
    """On edges of finest cells as printed, and one double beside them; corners; the antimeridian."""
    rng = np.random.default_rng(seed)
    columns = np.concatenate([[0, 1, 2, 2**30, 2**31 - 2, 2**31 - 1], rng.integers(0, 2**31, 500)])
    west, south, east, north = box
    lon = west + columns * ((east - west) / 2**31)
    lat = south + columns * ((north - south) / 2**31)
    lon = np.concatenate([np.nextafter(lon, -500), lon, np.nextafter(lon, 500), [east, west, 180, -180, 165]])
    lat = np.concatenate([np.nextafter(lat, -500), lat, np.nextafter(lat, 500), [north, south, 90, -90, -40]])
    return lat.clip(-90, 90), lon.clip(-180, 180)


@pytest.mark.parametrize("box", REGIONS)
@pytest.mark.parametrize("places", [random_places, edge_places])
def test_cells_are_those_of_the_server(box, places):
    lat, lon = places(box, seed=31)
    assert ours(box, lat, lon) == cells_of(box, lat, lon)


def test_beyond_the_antimeridian_the_nearer_edge_counts():
    region = client.Region(west=170, south=-45, east=180, north=-30)
    assert region.cell(Place(lat=-40, lon=-179.9))[0] == client.LAST_CELL
    assert region.cell(Place(lat=-40, lon=-5.0))[0] == client.LAST_CELL  # as far from both: the east
    assert region.cell(Place(lat=-40, lon=-4.9))[0] == 0
    region = client.Region(west=-20, south=-45, east=-10, north=-30)
    assert region.cell(Place(lat=-40, lon=165.0))[0] == client.LAST_CELL
    assert region.cell(Place(lat=-40, lon=165.1))[0] == 0


@pytest.mark.parametrize(
    "text", ["48.2", "48.2,16.3,1", "nan,16", "91,0", "0,181", "4_8,1", "1e2,3", "", "٤,1"]
)
def test_what_is_no_place_is_refused(text):
    with pytest.raises(DeviceError, match=r"(Write|Give) a"):
        Place.parse(text)


def test_no_place_is_made_of_no_number():
    with pytest.raises(DeviceError):
        Place(lat=float("nan"), lon=0.0)
