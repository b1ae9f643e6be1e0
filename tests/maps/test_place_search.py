"""Places by the beginnings of their names, and the extent that a city proposes."""

import numpy as np
import pytest

from heatmaps.maps.place_search import extent, find_places
from heatmaps.places.gazetteer import KM_PER_DEGREE, gazetteer
from mechanisms.space.grid import Region

NEW_YORK = Region(-74.1, 40.5, -73.7, 40.95)


def names(text, *, most=5, **options):
    return [found.place.name for found in find_places(text, most=most, **options)]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("aust", "Austin"),  # and not Austintown
        ("  ROUND   rock ", "Round Rock"),
        ("bronx", "The Bronx"),  # a word that is not the first
        ("sao pau", "São Paulo"),  # accents aside
        ("Łódź", "Łódź"),
        ("lodz", "Łódź"),
        ("saint etien", "Saint-Étienne"),
        ("praha", "Prague"),  # by another name
        ("Мюнх", "Munich"),
        ("京", "Kyoto"),
        ("york", "York"),  # a whole name before greater places that have more words
        ("manhat", "Manhattan"),  # by its own name before New York City, which is called so, too
        ("portland, mai", "Portland"),
        ("Austin, US", "Austin"),
    ],
)
def test_a_place_is_found_by_the_beginning_of_a_word(text, first):
    assert names(text)[0] == first


def test_the_most_populous_come_first_and_the_area_tells_them_apart():
    people = [found.place.population for found in find_places("portl", most=5)]
    assert people == sorted(people, reverse=True)
    assert people[0] > 600_000
    (maine,) = find_places("portland, maine", most=1)
    assert maine.place.area == "Maine, United States"


def test_another_name_is_told_as_it_is_spelled():
    (mumbai,) = find_places("bombay", most=1)
    assert (mumbai.place.name, mumbai.also) == ("Mumbai", "Bombay")
    assert find_places("mumbai", most=1)[0].also == ""


@pytest.mark.parametrize("text", ["", " ", "a", ",", "-", "ound rock", "qqqzz", "austin, france"])
def test_a_miss_finds_nothing(text):
    assert names(text) == []


def test_places_inside_the_region_come_first_and_few_others_follow():
    assert names("man", region=NEW_YORK)[0] == "Manhattan"
    assert names("man")[0] != "Manhattan"
    found = find_places("lon", most=8, region=NEW_YORK)
    assert [one.inside for one in found] == sorted((one.inside for one in found), reverse=True)
    assert sum(not one.inside for one in found) == 3


def test_a_city_proposes_the_square_of_its_people_up_to_the_next_larger_place():
    (austin, brooklyn) = (find_places(name, most=1)[0] for name in ("Austin, Texas", "Brooklyn, New York"))
    assert side_km(austin.extent) == pytest.approx(np.sqrt(austin.place.population / 1_500), rel=0.05)
    assert austin.extent.contains(np.array([austin.place.lat]), np.array([austin.place.lon]))[0]
    (city,) = find_places("New York City", most=1)
    across = (brooklyn.place.lon - city.place.lon) * np.cos(np.radians(brooklyn.place.lat))
    way_km = np.hypot(brooklyn.place.lat - city.place.lat, across) * KM_PER_DEGREE
    assert side_km(brooklyn.extent) == pytest.approx(2 * way_km, rel=0.05)


def test_every_extent_is_a_region_of_6_to_120_km():
    known = gazetteer()
    for index in [*range(0, len(known), 997), *range(20), len(known) - 1]:
        assert 5 < side_km(extent(index)) < 122


def side_km(region):
    return (region.north - region.south) * KM_PER_DEGREE
