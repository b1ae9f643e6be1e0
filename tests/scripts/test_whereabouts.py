"""Where a point lies in words (static/hazemap/whereabouts.js): as the server says it."""

import re
from dataclasses import asdict

import numpy as np

from heatmaps.places.whereabouts import nearest, places_in
from mechanisms.space.grid import Region
from tests.scripts.node import evaluated

AUSTIN = Region(-98.3, 29.8, -97.3, 31.0)
PLACES = [
    {"name": "Hoboken", "lat": 40.744, "lon": -74.032},
    {"name": "Suva", "lat": -18.0, "lon": 178.4},
]


def whereabouts(places, points):
    points = [{"lat": lat, "lng": lon} for lat, lon in points]
    return evaluated(
        ["whereabouts.js"],
        "given.points.map((point) => whereabouts.whereabouts(given.places, point))",
        {"places": places, "points": points},
    )


def test_it_names_the_nearest_place_with_distance_and_wind():
    points = [(40.744, -74.03), (40.771, -74.032), (40.7, -74.0), (-18.0, -179.6), (0, 0)]
    assert whereabouts(PLACES, points) == [
        "Hoboken",
        "3 km north of Hoboken",
        "6 km south-east of Hoboken",
        "212 km east of Suva",
        "",
    ]
    assert whereabouts([], points[:1]) == [""]


def test_it_says_what_the_server_says():
    rng = np.random.default_rng(5)
    points = np.column_stack((rng.uniform(30.1, 30.7, 40), rng.uniform(-98, -97.5, 40))).tolist()
    known = [asdict(place) for place in places_in(AUSTIN, most=300)]
    said = [re.sub("^Within 1 km of ", "", nearest(lat, lon)) for lat, lon in points]
    assert whereabouts(known, points) == said
