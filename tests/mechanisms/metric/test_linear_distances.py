"""emd-distances: answers are mean distances, also of who is absent, and what places are."""

import json

import numpy as np
import pytest

from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.metric.linear.answers import PARTS, AnswerSums
from mechanisms.results.distances import Places
from tests.mechanisms.examples import SEED
from tests.mechanisms.linear import CITY, ONE, SOUTH, distances, points, read


def test_answers_are_mean_distances_and_who_is_absent_stands_in_the_middle():
    made = distances(ONE, epsilon=10**6, persons=2)
    north, middle = 30.3 - 1000 / 110_857, (CITY.south + CITY.north) / 2
    here = np.array([30.3, north]), np.array([-97.75, -97.75])
    absent_m = float(made.absent[0]) / PARTS * float(made.query.reach_m)
    across_m = abs(-97.75 - (CITY.west + CITY.east) / 2) / (CITY.east - CITY.west) * CITY.width_m
    assert absent_m == pytest.approx(np.hypot(across_m, (30.3 - middle) * 110_857), rel=1e-3)
    found = made.release(made.sums(read(made, here)), SeededSource(SEED))
    assert found.distances_m[0] == pytest.approx((500 + absent_m) / 2, abs=5)


def test_distances_are_cut_to_what_they_can_be():
    made = distances()
    found = made.release(AnswerSums(sums=(0, -(2**60), 2**60)), SeededSource(SEED))
    assert found.distances_m[1] == 0
    assert found.distances_m[2] == float(made.query.reach_m)


@pytest.mark.parametrize(
    "wrong",
    [
        "{",
        5,
        {"type": "Polygon", "coordinates": [[0, 0]]},
        {"type": "FeatureCollection", "features": []},
        {"type": "Feature", "properties": [1], "geometry": {"type": "Point", "coordinates": [-97.7, 30.2]}},
        points([0, 0]),
        points([-97.7, "30.2"]),
        points([1e300, 30.2]),
        points(*[[-97.7, 30.2]] * 13),
        '[["x",[1.5,2]]]',
    ],
)
def test_what_are_no_places_is_refused(wrong):
    with pytest.raises(ParameterError, match="places"):
        distances(wrong)


def test_places_have_one_spelling():
    spelled = Places.parse(SOUTH)
    assert Places.parse(json.dumps(SOUTH)) == spelled == Places.parse(spelled.text)
    assert [place.name for place in spelled] == ["site 0", "site 1", "site 2"]
    assert spelled.places[0].degrees == (30.3, -97.75)
