"""The ground of maps: a small one made here, and the real one where it is installed."""

import gzip
import json

import numpy as np
import pytest
from django.urls import reverse
from PIL import ImageColor

from heatmaps.config.settings import BASE_DIR, GROUND_DIR
from heatmaps.maps import ground
from heatmaps.maps.ground import index
from heatmaps.maps.ground.picture import ground_picture
from heatmaps.maps.looks import LIGHT
from mechanisms.space.grid import Region
from tests.maps.ground.test_shapes import holds

WIDE = Region(-10, -10, 10, 10)
LAND, WATER = LIGHT.land, LIGHT.water
# A boot of two squares with an island beside it, a land across the antimeridian, and one around the pole.
NAMED = {
    "arcs": [
        [[0, 0], [8, 0], [0, 2], [-6, 0], [0, 6], [-2, 0], [0, -8]],
        [[9, 0], [1, 0], [0, 1], [-1, 0], [0, -1]],
        [[176, 0], [4, 0], [-358, 0], [0, 2], [358, 0], [-4, 0], [0, -2]],
        [[-180, -60], [180, 0], [180, 0]],
    ],
    "transform": {"scale": [1, 1], "translate": [0, 0]},
    "objects": {
        "countries": {
            "geometries": [
                {"type": "MultiPolygon", "arcs": [[[1]], [[0]]], "properties": {"name": "Boot"}},
                {"type": "Polygon", "arcs": [[2]], "properties": {"name": "Fiji"}},
                {"type": "Polygon", "arcs": [[3]], "properties": {"name": "Antarctica"}},
            ]
        }
    },
}


@pytest.fixture
def packages(tmp_path, settings, monkeypatch):
    """A sea with an island, a lake in that, a pond, and two countries with one border."""
    square = [[-5, -5], [5, -5], [5, 5], [-5, 5], [-5, -5]]
    island = [[-3, -3], [3, -3], [3, 3], [-3, 3], [-3, -3]]
    angles = np.linspace(0, 2 * np.pi, 100)
    lake = [
        [round(float(x), 4), round(float(y), 4)] for x, y in zip(np.cos(angles), np.sin(angles), strict=True)
    ]
    pond = [[2, 2], [2.1, 2], [2.1, 2.1], [2, 2]]
    countries = {
        "arcs": [[[0, 0], [10, 0]], [[0, 0], [0, 10]]],
        "transform": {"scale": [0.1, 0.1], "translate": [-1, -1]},
        "objects": {"countries": {"geometries": [{"arcs": [[0, 1]]}, {"arcs": [[[~0]]]}]}},
    }
    write(tmp_path / index._SEAS, multipolygon([[square, island]]))
    write(tmp_path / index._LAKES, multipolygon([[[*lake, lake[0]]], [pond]]))
    write(tmp_path / index._COUNTRIES, countries)
    write(tmp_path / index._NAMES, NAMED)
    settings.GROUND_DIR = tmp_path / "ground"
    forget()
    yield tmp_path
    forget()


def forget():
    ground._shapes.cache_clear()
    ground._countries.cache_clear()


def multipolygon(polygons):
    return {
        "type": "GeometryCollection",
        "geometries": [{"type": "MultiPolygon", "coordinates": polygons}],
    }


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, separators=(",", ":")))


def outlines(found, kind):
    """In degrees, as the script reads them."""
    return [
        np.cumsum(np.array(steps).reshape(-1, 2), axis=0) * found["unit"] + found["origin"]
        for steps in found[kind]
    ]


def is_water(found, lon, lat):
    return any(holds(outlines(found, kind), lon, lat) for kind in ("sea", "lakes"))


def test_islands_are_land_and_lakes_in_them_water(packages, settings):
    index.build(packages, settings.GROUND_DIR)
    found = ground.ground_of(WIDE)
    assert is_water(found, 4, 0.01)
    assert not is_water(found, 2, 0.01)
    assert is_water(found, 0.5, 0.01)
    assert not is_water(found, 2.05, 2.02)  # a pond of four points
    assert not is_water(found, 7, 0.01)


def test_a_border_is_what_two_countries_share(packages, settings):
    index.build(packages, settings.GROUND_DIR)
    (line,) = outlines(ground.ground_of(WIDE), "borders")
    assert line[[0, -1]] == pytest.approx(np.array([[-1, -1], [0, -1]]), abs=0.01)


def test_countries_are_named_where_they_are_broad(packages, settings):
    index.build(packages, settings.GROUND_DIR)
    (boot,) = ground.ground_of(WIDE)["countries"]
    assert boot["name"] == "Boot"
    assert boot["width"] == 8
    assert boot["lon"] == 4
    assert 1 < boot["lat"] < 2
    (fiji,) = ground.ground_of(Region(170, -10, 180, 10))["countries"]
    assert (fiji["name"], fiji["lon"], fiji["width"]) == ("Fiji", 179, 6)
    assert ground.ground_of(Region(-10, -80, 10, -50))["countries"] == []


def test_an_index_without_names_is_a_ground_all_the_same(packages, settings):
    index.build(packages, settings.GROUND_DIR)
    (settings.GROUND_DIR / index.COUNTRIES).unlink()
    assert ground.ground_of(WIDE)["countries"] == []


def test_a_part_is_finer_than_the_whole(packages, settings):
    index.build(packages, settings.GROUND_DIR)
    part = ground.ground_of(Region(0.9, -0.1, 1.1, 0.1))
    assert part["unit"] < ground.ground_of(WIDE)["unit"] / 50
    assert is_water(part, 0.95, 0.001)
    assert not is_water(part, 1.05, 0.001)


def test_a_map_without_it_says_so(packages):
    assert ground.ground_of(WIDE) == {"missing": ground.MISSING}


def test_a_package_of_another_shape_is_refused(packages, settings):
    (packages / index._SEAS).write_text('{"type": "Point"}')
    with pytest.raises(ValueError, match=r"map\.geo\.json holds no MultiPolygon"):
        index.build(packages, settings.GROUND_DIR)
    assert not settings.GROUND_DIR.exists()


def test_pages_ask_for_it_by_a_box(client, django_user_model, packages, settings, db):
    index.build(packages, settings.GROUND_DIR)
    client.force_login(django_user_model.objects.create_user("ada"))
    answer = client.get(reverse("ground"), {"bbox": "-10,-10,10,10"})
    assert answer.json() == ground.ground_of(WIDE)
    assert client.get(reverse("ground"), {"bbox": "10,0,0"}).status_code == 400


def test_a_picture_shows_the_same(packages, settings):
    index.build(packages, settings.GROUND_DIR)
    picture = ground_picture(WIDE, (200, 200))
    for lon, lat, colour in ((4, 0, WATER), (2, 1, LAND), (0.5, 0.5, WATER), (8, 1, LAND), (4, 4, WATER)):
        x, y = 100 + 10 * lon, 100 - 10 * lat  # so near to the equator
        assert picture.getpixel((x, y)) == ImageColor.getrgb(colour), (lon, lat)


@pytest.fixture
def installed(settings):
    settings.GROUND_DIR = GROUND_DIR
    forget()
    yield
    forget()


INSTALLED = (GROUND_DIR / "sea-1.npz").is_file()


def test_it_is_indexed_where_its_packages_are():
    if not (BASE_DIR / "node_modules" / "world-atlas").is_dir():
        pytest.skip("the packages of the ground are not installed; `make setup` does it where npm is")
    assert INSTALLED


PLACES = {
    "the Upper Bay": (-74.05, 40.65, True),
    "Central Park": (-73.97, 40.78, False),
    "Lake Michigan": (-87.3, 41.9, True),
    "Chicago's City Hall": (-87.632, 41.884, False),
    "the San Francisco Bay": (-122.3, 37.7, True),
    "the Gulf of Finland": (24.95, 60.05, True),
    "Helsinki's railway station": (24.941, 60.172, False),
    "Kansas": (-98.5, 38.5, False),
    "the Pacific": (-150.0, 0.0, True),
}


needs_ground = pytest.mark.skipif(not INSTALLED, reason="the ground is not installed")


@needs_ground
@pytest.mark.parametrize("place", PLACES)
def test_the_real_one_knows_land_from_water(installed, place):
    lon, lat, wet = PLACES[place]
    found = ground.ground_of(Region(lon - 0.4, lat - 0.3, lon + 0.4, lat + 0.3))
    assert is_water(found, lon, lat) == wet


BOXES = {
    "New York": (-74.6, 40.2, -73.3, 41.2),
    "the Aegean": (22, 35, 29, 41),
    "Norway": (4, 57, 32, 72),
    "Europe": (-25, 34, 45, 72),
    "the world": (-180, -85, 180, 85),
}


@needs_ground
@pytest.mark.parametrize("name", BOXES)
def test_a_region_is_small_enough_to_be_sent(installed, name):
    content = json.dumps(ground.ground_of(Region(*BOXES[name])), separators=(",", ":")).encode()
    assert len(gzip.compress(content)) < 300_000
    assert len(content) < 1_000_000


@needs_ground
def test_the_index_is_small():
    assert sum(path.stat().st_size for path in GROUND_DIR.rglob("*")) <= 24 * 2**20
