"""Released shares and distances in the words of their tables, and in the classes and order of their maps."""

from fractions import Fraction

from heatmaps.maps.distances import drawn_circles
from heatmaps.maps.legend import FIRST, UNCERTAIN
from heatmaps.maps.zones import drawn_zones, zone_classes
from heatmaps.wording.distances import distances_words
from heatmaps.wording.zones import shares_words
from mechanisms.results.distances import PlaceDistances, Places
from mechanisms.results.zones import Zones, ZoneShares
from mechanisms.space.grid import Region
from tests.geojson import collection, place, zone


def square(side):
    return [[0, 0], [side, 0], [side, side], [0, side]]


REGION = Region(0, 0, 1, 1)
SHARES = ZoneShares(
    zones=Zones.parse(
        collection(zone(name, square(side)) for name, side in (("a", 0.1), ("b", 0.3), ("c", 0.2)))
    ),
    margin_m=Fraction(2500, 2),
    shares=(0.5, 0.04, 0.3),
    standard_error=0.02,
)
DISTANCES = PlaceDistances(
    places=Places.parse(collection([place("near", [0.5, 0.5]), place("far", [0.25, 0.5])])),
    distances_m=(150.0, 2345.0),
    standard_error_m=100.0,
)


def test_shares_are_told_with_what_they_may_be():
    told = shares_words(SHARES, REGION)
    assert [(row.name, row.percent, row.least, row.most, row.told_apart) for row in told.rows] == [
        ("a", "50.0", "45.7", "54.3", True),
        ("b", "4.0", "0.0", "8.3", False),
        ("c", "30.0", "25.7", "34.3", True),
    ]
    assert (told.margin, told.error) == ("1250", "2.0")
    nearly_all = ZoneShares(
        zones=Zones.parse(zone("a", square(0.1))), margin_m=Fraction(1), shares=(0.99,), standard_error=0.02
    )
    assert shares_words(nearly_all, REGION).rows[0].most == "100.0"


def test_zones_are_drawn_in_the_classes_of_the_legend_large_ones_first():
    labels = {row.key: row.label for row in zone_classes(SHARES)}
    assert list(labels.values()) == [
        "40 – 50 %",
        "30 – 40 %",
        "20 – 30 %",
        "10 – 20 %",
        "0 – 10 %",
        "not distinguishable from zero",
    ]
    drawn = drawn_zones(SHARES)
    assert [one.text for one in drawn] == ["2 · 4.0 %", "3 · 30.0 %", "1 · 50.0 %"]
    assert [labels[one.key] for one in drawn] == ["not distinguishable from zero", "20 – 30 %", "40 – 50 %"]
    assert {f"class-{UNCERTAIN}", f"class-{FIRST}"} <= set(labels)


def test_distances_are_told_in_the_decimals_of_their_error_and_are_at_least_0():
    told = distances_words(DISTANCES, REGION)
    assert [(row.name, row.distance, row.least, row.most) for row in told.rows] == [
        ("near", "0.15 km", "0.00 km", "0.37 km"),
        ("far", "2.34 km", "2.13 km", "2.56 km"),
    ]
    assert told.error == "0.10 km"


def test_circles_are_drawn_around_their_places_large_ones_first():
    drawn = drawn_circles(DISTANCES)
    assert [(one.text, one.middle) for one in drawn] == [
        ("2 · 2.34 km", (0.5, 0.25)),
        ("1 · 0.15 km", (0.5, 0.5)),
    ]
    north = max(lat for lat, _ in drawn[0].corners) - 0.5
    assert abs(north * 111_195 - 2345) < 5  # metres a degree on the sphere that circles are drawn on
