"""What every mechanism of the catalogue that releases a central point owes."""

import dataclasses
import inspect
import json
from fractions import Fraction

import pytest

from mechanisms.catalogue.registry import build_centroid, entries, get
from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Trust
from mechanisms.mechanism import Target
from mechanisms.randomness import SystemSource
from mechanisms.records.means import MOST_PERSONS, PARTS, RecordMeans
from mechanisms.results.point import Point
from mechanisms.space.grid import Region
from tests.mechanisms.examples import SEED

NAMES = [entry.name for entry in entries(kind="centroid")]
SHUFFLED = [entry.name for entry in entries(kind="centroid") if entry.usual_delta]
CITY = Region(-97.9, 30.1, -97.5, 30.5)
REGIONS = [
    CITY,
    Region(-18, -35, 52, 38),
    Region(10, 88.9, 20, 89),
    Region(0, 0, 0.0001, 0.0001),
    Region(-0.1, -0.1, 0.3, 0.3),  # west + (east - west) is rounded to beyond the east
]
TOO_WIDE = [Region(-180, -90, 180, 90), Region(10, 89.9, 20, 90), Region(-141, 41.7, -52.6, 83.1)]
every = pytest.mark.parametrize("name", NAMES)
BLURRED = [entry.name for entry in entries(kind="centroid") if entry.simulates_devices]
pure = pytest.mark.parametrize("name", [name for name in NAMES if name not in SHUFFLED + BLURRED])
blurred = pytest.mark.parametrize("name", BLURRED)
shuffled = pytest.mark.parametrize("name", SHUFFLED)


def make(name, *, epsilon=1, radius_m=600, persons=100, region=CITY, **parameters):
    target = Target(
        relation=Relation.REPLACE,
        epsilon=Fraction(epsilon),
        delta=get(name).delta(None),
        radius_m=Fraction(radius_m),
    )
    # Few squares: what is owed does not depend on them, and its account is computed in a moment.
    parameters |= {"cell_m": radius_m} if name in SHUFFLED else {}
    return build_centroid(name, target=target, region=region, persons=persons, parameters=parameters)


def means_at(x, y, persons=100):
    return RecordMeans(persons=persons, x=int(x * persons * PARTS), y=int(y * persons * PARTS))


@every
def test_it_is_frozen_and_its_fields_are_public(name):
    mechanism = make(name)
    for field in dataclasses.fields(mechanism):
        assert field.kw_only
        assert isinstance(getattr(mechanism, field.name), Relation | Fraction | int | Region)
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(mechanism, field.name, getattr(mechanism, field.name))
    assert not hasattr(mechanism, "__dict__")
    assert mechanism == make(name) != make(name, epsilon=2)


@every
def test_release_takes_data_and_randomness_and_has_no_defaults(name):
    parameters = inspect.signature(make(name).release).parameters
    assert list(parameters) == ["means", "rng"]
    assert all(parameter.default is inspect.Parameter.empty for parameter in parameters.values())


@every
def test_the_same_words_give_the_same_point_and_others_another(name):
    mechanism, means = make(name), means_at(0.3, 0.4)
    one, same, other = (mechanism.release(means, SeededSource(seed)) for seed in (SEED, SEED, SEED + 1))
    assert one == same != other


@pure
@pytest.mark.parametrize("persons", [1, 100, 5000])
@pytest.mark.parametrize("epsilon", ["1e-6", "0.3", "1", "20"])
def test_it_spends_its_target_at_the_radius_and_no_more(name, epsilon, persons):
    guarantee = make(name, epsilon=epsilon, persons=persons).guarantee
    assert guarantee.relation is Relation.REPLACE
    assert Fraction(999, 1000) * Fraction(epsilon) <= guarantee.loss(600) <= Fraction(epsilon)
    assert guarantee.loss(0) == guarantee.delta == 0
    assert not guarantee.simulated
    assert guarantee.loss(1200) <= 2 * Fraction(epsilon)
    assert guarantee.loss(600) <= guarantee.loss(INFINITY) <= 2 * Fraction(epsilon) * Fraction(60_000, 600)


@every
def test_its_guarantee_survives_json(name):
    guarantee = make(name).guarantee
    assert Guarantee.from_json(json.loads(json.dumps(guarantee.to_json()))) == guarantee


@every
def test_at_epsilon_infinity_the_point_is_the_truth(name):
    persons, within = (1000, 1e-3) if name in SHUFFLED else (10**5, 1e-5)
    if name in BLURRED:
        # A report is a uniform square once in a million and moves the mean by up to 0.5 m: 1 m is missed once
        # in a thousand runs, 5 m once in 10^9.
        within = 5e-5
    mechanism = make(name, epsilon=20, persons=persons)
    for x, y in ((0, 0), (0.25, 0.75), (1, 1)):
        point = mechanism.release(means_at(x, y, persons), SystemSource())
        assert point.lon == pytest.approx(-97.9 + 0.4 * x, abs=within)
        assert point.lat == pytest.approx(30.1 + 0.4 * y, abs=within)


@pure
def test_at_epsilon_0_the_point_does_not_depend_on_the_data(name):
    mechanism = make(name, epsilon="1e-6", persons=1)
    here, there = means_at(0, 0, 1), means_at(1, 1, 1)
    for seed in range(20):
        assert mechanism.release(here, SeededSource(seed)) == mechanism.release(there, SeededSource(seed))


@pure
@pytest.mark.parametrize("region", REGIONS, ids=str)
@pytest.mark.parametrize(("epsilon", "persons"), [("1e-9", 1), ("1e9", 1), (20, 10**6), (1, MOST_PERSONS)])
def test_it_is_total(name, region, epsilon, persons):
    mechanism = make(name, region=region, epsilon=epsilon, persons=persons)
    assert mechanism.guarantee.loss(600) <= Fraction(epsilon)
    for x, y in ((0, 0), (1, 1), (Fraction(1, 3), Fraction(1, 2))):
        point = mechanism.release(means_at(x, y, persons), SystemSource())
        assert isinstance(point, Point)
        assert region.contains(point.lat, point.lon)
        assert point.within_m >= point.expected_m / 2 >= 0


@shuffled
def test_by_shuffling_it_spends_its_target_at_the_radius_and_promises_up_to_its_reach(name):
    guarantee = make(name, epsilon="0.5").guarantee
    assert Fraction(4995, 10**4) <= guarantee.loss(600) <= Fraction(1, 2)
    assert (guarantee.delta, guarantee.simulated) == (get(name).delta(None), True)
    assert guarantee.loss(601) == INFINITY
    far = make(name, epsilon="0.5", reach_m=60_000).guarantee
    assert 10 < far.loss(60_000) < 50  # 100 radii, less what rounding adds to the first
    assert far.loss(60_001) == INFINITY


@every
@pytest.mark.parametrize("region", TOO_WIDE, ids=str)
def test_regions_too_wide_for_metres_are_refused(name, region):
    with pytest.raises(ParameterError, match=r"^region is .* choose a smaller region") as refused:
        make(name, region=region)
    assert refused.value.parameter == "region"
    with pytest.raises(ParameterError, match=r"^region is"):
        dataclasses.replace(make(name), region=region)


@shuffled
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"region": REGIONS[1]}, "cell_m is 600.0, allowed: at least 807.1"),
        ({"region": REGIONS[3]}, "radius_m is 600.0, allowed: less than the region's longer side"),
        ({"persons": MOST_PERSONS}, "persons is 2147483648"),
        ({"epsilon": "1e9"}, "epsilon is 1000000000.0, allowed: at most 250"),
        ({"epsilon": "1e-6"}, "epsilon is 1e-06, allowed: at least 0.0024"),
    ],
)
def test_by_shuffling_what_cannot_be_accounted_for_is_refused_from_public_facts(name, change, complaint):
    with pytest.raises(ParameterError, match=complaint):
        make(name, **change)


@blurred
@pytest.mark.parametrize("persons", [1, 5000])
@pytest.mark.parametrize("epsilon", ["0.002", "0.3", "20"])
def test_by_blurred_reports_it_spends_its_target_at_the_radius_and_no_more(name, epsilon, persons):
    mechanism = make(name, epsilon=epsilon, persons=persons)
    guarantee = mechanism.guarantee
    assert Fraction(999, 1000) * Fraction(epsilon) <= guarantee.loss(600) <= Fraction(epsilon)
    assert guarantee.loss(0) == guarantee.delta == 0
    assert guarantee.simulated
    assert guarantee.loss(1200) <= 2 * Fraction(epsilon)
    assert guarantee.loss(600) < guarantee.loss(INFINITY) <= 2 * Fraction(epsilon) * Fraction(60_000, 600)
    device = mechanism.guarantee_on_devices
    assert (device.trust, device.simulated, device.loss(600)) == (Trust.LOCAL, False, guarantee.loss(600))
    assert device.loss(INFINITY) <= guarantee.loss(INFINITY)


@blurred
@pytest.mark.parametrize("region", REGIONS, ids=str)
@pytest.mark.parametrize(("epsilon", "persons"), [("0.02", 1), ("1e9", 1), (20, 10**4)])
def test_by_blurred_reports_it_is_total(name, region, epsilon, persons):
    mechanism = make(name, region=region, epsilon=epsilon, persons=persons)
    assert mechanism.guarantee.loss(600) <= Fraction(epsilon)
    for x, y in ((0, 0), (1, 1), (Fraction(1, 3), Fraction(1, 2))):
        point = mechanism.release(means_at(x, y, persons), SystemSource())
        assert region.contains(point.lat, point.lon)
        assert point.within_m >= point.expected_m / 2 >= 0


@blurred
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"epsilon": "1e-6"}, "epsilon is 1e-06, allowed: at least 0.0009"),
        ({"persons": 10**6 + 1}, "persons is 1000001"),
        ({"cell_m": 1}, "cell_m is 1.0, allowed: at least 4.4"),
    ],
)
def test_by_blurred_reports_what_tables_cannot_follow_is_refused_from_public_facts(name, change, complaint):
    with pytest.raises(ParameterError, match=complaint):
        make(name, **change)


@every
def test_means_of_other_persons_are_refused_without_a_word_on_the_data(name):
    with pytest.raises(ParameterError, match="means is 'of 99 persons', allowed: of 100") as refused:
        make(name).release(RecordMeans(persons=99, x=31337, y=31337), SeededSource(SEED))
    assert "31337" not in str(refused.value)


@every
@pytest.mark.parametrize("field", ["relation", "epsilon", "radius_m", "persons"])
def test_an_invalid_mechanism_cannot_exist(name, field):
    wrong = {
        "relation": ["nobody", "add_remove"],
        "epsilon": [0, -1, 10**10, 0.5],
        "radius_m": [0, -1, 600.0],
    }
    wrong["persons"] = [0, -1, MOST_PERSONS + 1, 10.0, True]
    for value in wrong[field]:
        with pytest.raises(ValueError, match=f"(?i){field}"):
            dataclasses.replace(make(name), **{field: value})
