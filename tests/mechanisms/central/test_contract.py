"""What every heatmap mechanism of the catalogue owes, under every relation it allows."""

import dataclasses
import inspect
import json
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.catalogue.registry import get
from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Guarantee, Relation
from mechanisms.guide import Guide
from mechanisms.mechanism import Target
from mechanisms.randomness import SystemSource
from mechanisms.records.mass_map import MassMap
from mechanisms.results.areas import Areas
from tests.mechanisms.examples import (
    EXPECTED_PERSONS,
    NAMES,
    SEED,
    by_pairs,
    crowd,
    make,
    masses_for,
    spread_over_areas,
    true_dense,
)

PAIRS = [(name, relation) for name in NAMES for relation in sorted(get(name).relations)]
each = pytest.mark.parametrize(("name", "relation"), PAIRS)


def each_with(field, values):
    return pytest.mark.parametrize(("name", "relation", field), by_pairs(PAIRS, values))


@pytest.fixture
def mechanism(name, relation):
    return make(name, relation=relation)


@pytest.fixture
def masses(mechanism):
    return crowd(mechanism, cells=12, persons=150)


def released(mechanism, masses, seed=SEED):
    return mechanism.release(masses, SeededSource(seed))


@each
def test_it_is_frozen(mechanism):
    for field in dataclasses.fields(mechanism):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(mechanism, field.name, getattr(mechanism, field.name))
    assert not hasattr(mechanism, "__dict__")


@each
def test_its_fields_are_public_numbers_given_by_keyword(mechanism):
    for field in dataclasses.fields(mechanism):
        assert field.kw_only
        assert isinstance(getattr(mechanism, field.name), Relation | Fraction | int | Guide | None)


@each
def test_it_compares_by_its_parameters(mechanism, name, relation):
    assert mechanism == make(name, relation=relation)
    assert mechanism != make(name, relation=relation, epsilon=2)


@each
def test_release_takes_data_and_randomness_and_has_no_defaults(mechanism):
    parameters = inspect.signature(mechanism.release).parameters
    assert list(parameters) == ["masses", "rng"]
    assert all(parameter.default is inspect.Parameter.empty for parameter in parameters.values())


@each
def test_it_leaves_its_input_alone(mechanism, masses):
    before = masses.cells.copy(), masses.masses.copy()
    released(mechanism, masses)
    assert np.array_equal(masses.cells, before[0])
    assert np.array_equal(masses.masses, before[1])


@each
def test_the_same_words_give_the_same_map_and_others_another(mechanism, masses):
    one = released(mechanism, masses)
    assert one.to_bytes() == released(mechanism, masses).to_bytes()
    assert one.to_bytes() != released(mechanism, masses, SEED + 1).to_bytes()


@each
def test_it_keeps_nothing_between_releases(mechanism, masses, name, relation):
    released(mechanism, masses_for(mechanism, {0: 100}))
    fresh = make(name, relation=relation)
    assert released(mechanism, masses).to_bytes() == released(fresh, masses).to_bytes()


@each_with("epsilon", ["1e-6", "0.3", "1", "3.7", "20", "1e6"])
def test_it_spends_no_more_than_its_target(name, relation, epsilon):
    target = Target(relation=relation, epsilon=Fraction(epsilon), expected_persons=EXPECTED_PERSONS)
    guarantee = get(name).mechanism.calibrate(target, resolution=16).guarantee
    assert guarantee.relation is relation
    assert guarantee.loss(INFINITY) <= target.epsilon
    assert guarantee.loss(INFINITY) >= target.epsilon * Fraction(999, 1000)  # and wastes none
    assert guarantee.delta <= target.delta


@each
def test_its_guarantee_survives_json(mechanism):
    guarantee = mechanism.guarantee
    assert Guarantee.from_json(json.loads(json.dumps(guarantee.to_json()))) == guarantee


@each_with("resolution", [16, 256])
def test_at_epsilon_0_the_map_does_not_depend_on_the_data(name, relation, resolution):
    mechanism = make(name, relation=relation, resolution=resolution, epsilon="1e-6")
    here, there = (masses_for(mechanism, {cell: 200}) for cell in (0, resolution**2 - 1))
    for seed in range(3):
        one, other = (released(mechanism, masses, seed).dense() for masses in (here, there))
        # Noise is about a million persons wide; 200 persons are a rounding error of the map.
        assert np.abs(one - other).sum() < 0.01


@each_with("resolution", [16, 256])
def test_at_epsilon_infinity_the_map_is_the_truth(name, relation, resolution):
    mechanism = make(name, relation=relation, resolution=resolution, epsilon="1e8")
    masses = crowd(mechanism, cells=12, persons=200)
    heatmap = released(mechanism, masses)
    truth = spread_over_areas(heatmap, masses) if isinstance(heatmap, Areas) else true_dense(masses)
    # Items are sampled for `frequency`, whatever epsilon is: a million of them.
    within = 1e-2 if name == "frequency" else 1e-4
    assert np.abs(heatmap.dense() - truth).sum() < within


@each
def test_it_is_total(mechanism):
    last = mechanism.resolution**2 - 1
    everywhere = dict.fromkeys(range(last + 1), 1)
    nobody = MassMap(level=4, unit=mechanism.unit, cells=np.empty(0, np.int64), masses=np.empty(0, np.int64))
    one_unit = MassMap(level=4, unit=mechanism.unit, cells=np.array([last]), masses=np.array([1]))
    as_much_as_fits = MassMap(level=4, unit=mechanism.unit, cells=np.array([3]), masses=np.array([2**61]))
    inputs = [nobody, one_unit, as_much_as_fits]
    inputs += [masses_for(mechanism, persons) for persons in ({0: 1}, {last: 10**9}, everywhere)]
    for masses in inputs:
        dense = mechanism.release(masses, SystemSource()).dense()
        assert dense.shape == (16, 16)
        assert dense.min() >= 0
        assert dense.sum() == pytest.approx(1)


@each
def test_masses_of_another_grid_or_unit_are_refused_without_a_word_on_the_data(mechanism):
    for level, unit in ((5, mechanism.unit), (4, mechanism.unit // 2)):
        wrong = MassMap(level=level, unit=unit, cells=np.array([95]), masses=np.array([31337]))
        with pytest.raises(ParameterError, match="masses") as refused:
            released(mechanism, wrong)
        assert "31337" not in str(refused.value)
        assert "95" not in str(refused.value)


@each
def test_its_repr_and_its_maps_repr_show_no_data(mechanism, masses):
    before = repr(mechanism)
    heatmap = released(mechanism, masses)
    assert repr(mechanism) == before
    assert "array" not in repr(mechanism) + repr(heatmap) + repr(masses)


@each
def test_its_unit_is_a_power_of_two_and_public(mechanism):
    assert mechanism.unit & (mechanism.unit - 1) == 0
    assert mechanism.unit <= 2**24


@each_with("field", ["relation", "epsilon", "resolution"])
def test_an_invalid_mechanism_cannot_exist(mechanism, field):
    wrong = {"relation": ["nobody"], "epsilon": [0, -1, 10**10, Fraction(1, 10**15), 0.5]}
    wrong["resolution"] = [0, 1, 3, 100, -2, 2**17, 16.0]
    for value in wrong[field]:
        with pytest.raises(ValueError, match=r"relation|Relation|epsilon|resolution"):
            dataclasses.replace(mechanism, **{field: value})


@each
def test_its_predicted_error_falls_with_persons_and_epsilon(name, relation):
    mechanism, larger = (make(name, relation=relation, epsilon=epsilon) for epsilon in (100, 1000))
    few, many = (mechanism.expected_error(persons=persons) for persons in (10**5, 10**6))
    if name == "frequency":  # which samples for the number that was expected
        few, many, larger = (
            make(name, relation=relation, epsilon=epsilon, expected_persons=persons)
            for epsilon, persons in ((100, 10**5), (100, 10**6), (1000, 10**6))
        )
        few, many = few.expected_error(persons=10**5), many.expected_error(persons=10**6)
    assert 2 >= few.emd > many.emd > larger.expected_error(persons=10**6).emd > 0
    assert few.quantity.endswith(".")
    assert few.assumptions.endswith(".")
    assert mechanism.expected_error(persons=1).emd <= 2
    with pytest.raises(ParameterError, match="persons"):
        mechanism.expected_error(persons=0)


@each
def test_a_replaced_record_is_hidden_by_twice_the_noise(name, relation):
    if name == "frequency":
        return  # one bound for both relations
    if relation is Relation.ADD_REMOVE:
        return  # compared with itself
    if Relation.ADD_REMOVE not in get(name).relations:
        return  # nothing to compare with: its own audit catches noise for one change
    alone = make(name, relation=Relation.ADD_REMOVE, epsilon="0.01")
    mechanism = make(name, relation=relation, epsilon="0.01")
    nobody = [
        MassMap(level=4, unit=m.unit, cells=np.empty(0, np.int64), masses=np.empty(0, np.int64))
        for m in (alone, mechanism)
    ]
    # Most mechanisms meet the same noise twice, at two scales. What is left of chance: without the factor
    # of 2 the ratio is 1, and the scales themselves have tests of their own.
    draws = 100
    # Half of the maps of nobody are empty for some: no place for a median.
    share = 0.9 if name in {"dense-emd", "privtree"} else 0.5
    totals = [
        np.quantile([released(m, empty, seed).values.max() for seed in range(draws)], share)
        for m, empty in zip((alone, mechanism), nobody, strict=True)
    ]
    assert totals[1] == pytest.approx(2 * totals[0], rel=0.25)


@each
def test_every_name_appears_once(name, relation):
    assert NAMES.count(name) == 1
    assert get(name).mechanism.name == name
