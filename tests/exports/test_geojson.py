"""GeoJSON (RFC 7946): disjoint squares with what was released of each."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from heatmaps.exports import geojson
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.expected_error import WITHIN_ERRORS
from mechanisms.guide import Guide
from tests.exports.examples import NAN, OCEAN, SQUARES, make_released, written
from tests.mechanisms.examples import SEED, crowd, make

PROPERTIES = {
    "value",
    "standard_error",
    "low",
    "high",
    "deviation",
    "share",
    "distinguishable",
    "rectangle",
}


def read(released):
    return json.loads(written(".geojson", released))


def ring(feature):
    assert feature["type"] == "Feature"
    assert feature["geometry"]["type"] == "Polygon"
    (found,) = feature["geometry"]["coordinates"]
    return found


def box(feature):
    lons, lats = zip(*ring(feature), strict=True)
    return min(lons), min(lats), max(lons), max(lats)


def test_it_is_a_collection_with_the_sheet_as_a_foreign_member():
    released = make_released()
    found = read(released)
    assert set(found) == {"type", "bbox", "features", "release_sheet"}  # no "crs": RFC 7946 has one only
    assert found["type"] == "FeatureCollection"
    assert found["bbox"] == list(OCEAN)
    assert found["release_sheet"] == released.sheet


def test_it_draws_closed_rings_against_the_clock():
    for feature in read(make_released())["features"]:
        points = np.array(ring(feature))
        assert points.shape == (5, 2)
        assert (points[0] == points[-1]).all()
        x, y = points.T
        assert (x[:-1] * y[1:] - x[1:] * y[:-1]).sum() > 0


def test_it_draws_disjoint_squares_of_the_right_size():
    features = read(make_released())["features"]
    boxes = [box(feature) for feature in features]
    for one, other in itertools.combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    whole = (OCEAN.east - OCEAN.west) * (OCEAN.north - OCEAN.south)
    areas = sorted((east - west) * (north - south) / whole for west, south, east, north in boxes)
    assert areas == pytest.approx(sorted(4.0**-level for level, _, _ in SQUARES))


def test_numbers_have_a_point():
    """By the first rows programs guess the kind of a column: by zeros that it has whole numbers."""
    told = [feature["properties"] for feature in read(make_released({(1, 0, 0): (2.0, 1.0)}))["features"]]
    numbers = [one[name] for one in told for name in ("value", "standard_error", "low", "high", "share")]
    assert any(number == int(number) for number in numbers)
    assert {type(number) for number in numbers} == {float}


def test_neighbours_share_their_border_exactly():
    released = make_released({(1, 0, 0): (1, NAN), (5, 16, 3): (1, NAN)}, level=5)
    first, second = sorted(box(feature) for feature in read(released)["features"])
    assert first[2] == second[0]


def test_it_states_what_was_released():
    properties = [feature["properties"] for feature in read(make_released())["features"]]
    assert all(set(found) == PROPERTIES for found in properties)
    assert sorted(found["value"] for found in properties) == sorted(value for value, _ in SQUARES.values())
    assert sum(found["share"] for found in properties) == pytest.approx(1)
    by_value = {found["value"]: found for found in properties}
    assert by_value[40.0]["standard_error"] == 1.0
    assert by_value[20.0]["standard_error"] is None
    assert by_value[40.0]["low"] == pytest.approx(40 - WITHIN_ERRORS)
    assert by_value[40.0]["high"] == pytest.approx(40 + WITHIN_ERRORS)
    assert (by_value[20.0]["low"], by_value[20.0]["high"]) == (None, None)
    assert [by_value[value]["distinguishable"] for value in (40.0, 5.0)] == [True, False]
    assert by_value[40.0]["share"] == 40 / 65.5


def test_squares_of_a_guided_map_name_the_rectangle_that_was_measured():
    """Nothing is said of a square alone; squares with one number make a rectangle."""
    plain = make("adaptive", epsilon=1, resolution=32)
    people = crowd(plain, cells=25, persons=200)
    guide = Guide.of_map(plain.release(people, SeededSource(SEED)))
    guided = replace(plain, guide=guide).release(people, SeededSource(SEED + 1))
    of_before = replace(guided, deviations=np.ones(guided.values.size))
    features = read(replace(make_released(), result=of_before))["features"]
    assert {feature["properties"]["distinguishable"] for feature in features} == {None}
    assert {feature["properties"]["deviation"] for feature in features} == {None}
    squares = {}
    for feature in features:
        squares.setdefault(feature["properties"]["rectangle"], []).append(box(feature))
    assert sorted(squares) == list(range(1, len(squares) + 1))
    assert len(squares) < len(features) / 2
    for parts in squares.values():
        west, south, east, north = np.array(parts).T
        around = (east.max() - west.min()) * (north.max() - south.min())
        assert ((east - west) * (north - south)).sum() == pytest.approx(around)


def test_squares_that_were_measured_are_in_no_rectangle():
    assert {feature["properties"]["rectangle"] for feature in read(make_released())["features"]} == {None}


def test_a_square_has_the_value_of_its_place():
    found = {box(feature): feature["properties"]["value"] for feature in read(make_released())["features"]}
    assert found[-40.0, 20.0, -39.0, 21.5] == 40.0
    assert found[-38.25, 22.625, -38.0, 23.0] == 20.0


def test_it_writes_grids_beyond_the_dense_limit():
    released = make_released({(20, 0, 0): (1, NAN)}, level=20)
    (feature,) = read(released)["features"]
    assert box(feature)[2] - OCEAN.west == pytest.approx(2 / 2**20, rel=1e-6)


def test_it_writes_in_parts_what_it_would_write_at_once(monkeypatch):
    at_once = written(".geojson", make_released())
    monkeypatch.setattr(geojson, "AT_ONCE", 3)
    assert written(".geojson", make_released()) == at_once


@pytest.mark.parametrize("squares", [{}, {(1, 0, 0): (0.0, 1.0)}])
def test_it_writes_a_map_without_mass(squares):
    features = read(make_released(squares))["features"]
    assert [feature["properties"]["share"] for feature in features] == [0.0] * len(squares)
