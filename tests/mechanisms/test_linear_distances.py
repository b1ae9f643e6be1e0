"""emd-distances: sensitivity is as claimed, noise as promised, faults are seen."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.check import ParameterError
from mechanisms.experiments.seeded import SeededSource
from mechanisms.guarantee import Relation
from mechanisms.interface import Target
from mechanisms.metric.linear_answers import PARTS, AnswerSums
from mechanisms.metric.linear_distances import EmdDistances
from mechanisms.places import PlaceDistances, Places
from tests.mechanisms.examples import SEED
from tests.mechanisms.test_linear_release import CITY, emd_m, records
from tests.mechanisms.test_linear_zones import loss_seen, read


def feature(name, place):
    return {
        "type": "Feature",
        "properties": {"name": name},
        "geometry": {"type": "Point", "coordinates": place},
    }


def points(*places):
    features = [feature(f"site {at}", place) for at, place in enumerate(places)]
    return {"type": "FeatureCollection", "features": features}


ONE = points([-97.75, 30.3])
SOUTH = points([-97.75, 30.3], [-97.76, 30.3], [-97.75, 30.31])


def mechanism(places=SOUTH, kind=EmdDistances, *, epsilon=1, radius_m=400, persons=3):
    target = Target(relation=Relation.REPLACE, epsilon=Fraction(epsilon), radius_m=Fraction(radius_m))
    return kind.calibrate(target, region=CITY, persons=persons, places=places)


@pytest.mark.parametrize(("places", "order"), [(SOUTH, 2), (ONE, 1)], ids=["k-norm", "laplace"])
def test_no_pair_of_records_moves_the_answers_farther_than_claimed(places, order):
    made = mechanism(places)
    assert made.uses_laplace == (order == 1)
    term, scale = made.guarantee.terms[0], float(made._plan.scale)
    random, found = np.random.default_rng(SEED), 0.0
    for _ in range(200):
        one, other = records(random, None)
        answers = made.answers(read(made, one, other))
        change = float(np.linalg.norm(answers[0] - answers[1], ord=order)) + (order == 2)
        distance_m = emd_m(one, other)
        assert change / scale <= made.guarantee.loss(distance_m)
        found = max(found, change / scale / float(term.alpha_per_m) / (distance_m + float(term.offset_m)))
    assert found > 0.6  # six tenths of the claim would be refuted


def test_answers_are_mean_distances_and_who_is_absent_stands_in_the_middle():
    made = mechanism(ONE, epsilon=10**6, persons=2)
    north, middle = 30.3 - 1000 / 110_857, (CITY.south + CITY.north) / 2
    here = np.array([30.3, north]), np.array([-97.75, -97.75])
    absent_m = float(made.absent[0]) / PARTS * float(made.query.reach_m)
    across_m = abs(-97.75 - (CITY.west + CITY.east) / 2) / (CITY.east - CITY.west) * CITY.width_m
    assert absent_m == pytest.approx(np.hypot(across_m, (30.3 - middle) * 110_857), rel=1e-3)
    found = made.release(made.sums(read(made, here)), SeededSource(SEED))
    assert found.distances_m[0] == pytest.approx((500 + absent_m) / 2, abs=5)


@pytest.mark.parametrize("places", [SOUTH, ONE], ids=["k-norm", "laplace"])
def test_its_noise_and_what_it_spends_are_as_promised(places):
    made = mechanism(places)
    assert 0.9999 < made.guarantee.loss(400) <= 1
    assert made.guarantee.loss(200) == pytest.approx(0.5, rel=0.01)
    error, unit_m = made.expected_error(), float(made.query.reach_m) / PARTS / made.persons
    drawn = np.abs(made.noise(SeededSource(SEED), size=20_000)) * unit_m
    assert drawn.mean() == pytest.approx(error.expected_m, rel=0.03)
    assert (drawn <= error.within_m).mean() > 0.945
    # One metre a place and person: √d·radius/(ε·n) by √(d+1), or √2 for one place; cells and stretch on top.
    d = len(made.places)
    width = float(np.sqrt((drawn**2).mean()))
    assert width == pytest.approx(np.sqrt(d * (d + 1)) * 400 / 3, rel=0.05)


def test_distances_are_kept_as_bytes():
    found = mechanism().release(AnswerSums(sums=(0, -(2**60), 2**60)), SeededSource(SEED))
    assert PlaceDistances.from_bytes(found.to_bytes()) == found
    assert found.distances_m[1] == 0
    assert found.distances_m[2] == float(mechanism().query.reach_m)
    for damaged in (b"", found.to_bytes()[:-4], b"HZD1" + b"x" * 9):
        with pytest.raises(ValueError, match="damaged"):
            PlaceDistances.from_bytes(damaged)


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
        mechanism(wrong)
    assert Places.parse(Places.parse(SOUTH).text) == Places.parse(SOUTH)


# --- audits: one of three persons moves away from the places, by several distances ---


@dataclass(frozen=True, slots=True, kw_only=True)
class TwiceByPersons(EmdDistances):
    """Planted: the noise of the sum divided by n, as if it were the mean's; that is divided by n anyway."""

    def noise(self, rng, *, size):
        return EmdDistances.noise(self, rng, size=size) // self.persons


@pytest.mark.parametrize("places", [SOUTH, ONE], ids=["k-norm", "laplace"])
@pytest.mark.parametrize("distance_m", [200, 400, 2000])
def test_an_audit_does_not_refute_it(places, distance_m):
    made = mechanism(places, epsilon=2)
    seen, claimed = loss_seen(made, distance_m), float(made.guarantee.loss(distance_m))
    assert seen <= claimed
    if distance_m > 200:
        assert seen > 0.3 * min(claimed, 3)


def test_an_audit_sees_a_forgotten_factor():
    faulty = mechanism(ONE, TwiceByPersons, epsilon=2)
    assert loss_seen(faulty, 400) > 1.5 * faulty.guarantee.loss(400)
