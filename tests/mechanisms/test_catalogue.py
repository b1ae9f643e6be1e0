from dataclasses import fields, replace
from fractions import Fraction

import pytest

from mechanisms import catalogue
from mechanisms.catalogue import build, entries, get
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation, Trust
from mechanisms.interface import Target
from tests.mechanisms.examples import NAMES

TARGET = Target(relation=Relation.ADD_REMOVE, epsilon=Fraction(1))
PARAMETERS = [(entry, parameter) for entry in entries() for parameter in entry.parameters]


def test_it_lists_the_mechanisms_that_exist():
    assert sorted(NAMES) == ["laplace", "laplace-top", "sparse-emd"]
    assert [entry.name for entry in entries(relation=Relation.REPLACE, kind="heatmap")] == NAMES
    assert entries(kind="centroid") == ()
    assert {entry.trust for entry in entries()} == {Trust.CENTRAL}


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_entries_are_for_people(entry):
    assert get(entry.name) is entry
    assert entry.title
    assert entry.summary.endswith(".")
    given = {"relation", "epsilon", "resolution"}
    own = {field.name for field in fields(entry.mechanism)} - given
    assert own == {parameter.name for parameter in entry.parameters}


@pytest.mark.parametrize(("entry", "parameter"), PARAMETERS, ids=lambda one: one.name)
def test_shown_defaults_are_the_mechanisms_own(entry, parameter):
    default = {field.name: field.default for field in fields(entry.mechanism)}[parameter.name]
    assert parameter.parse(parameter.default) == default
    assert parameter.title
    assert parameter.help.endswith(".")


@pytest.mark.parametrize(("entry", "parameter"), PARAMETERS, ids=lambda one: one.name)
def test_shown_ranges_are_the_mechanisms_own(entry, parameter):
    low, high = Fraction(parameter.low), Fraction(parameter.high)
    tiny = Fraction(1, 10**9)
    valid = [high, low + tiny if parameter.low_open else low] if parameter.kind == "decimal" else [high, low]
    invalid = [high + 1, low if parameter.low_open else low - tiny, -1]
    for value in valid:
        build(entry.name, target=TARGET, resolution=16, parameters={parameter.name: value})
    for value in invalid:
        with pytest.raises(ParameterError, match=parameter.name):
            build(entry.name, target=TARGET, resolution=16, parameters={parameter.name: value})


@pytest.mark.parametrize("value", ["x", "", None, [], 0.5, True, "nan", "1e400", {}])
@pytest.mark.parametrize(("entry", "parameter"), PARAMETERS, ids=lambda one: one.name)
def test_values_of_the_wrong_kind_are_refused(entry, parameter, value):
    with pytest.raises(ParameterError, match=parameter.name):
        build(entry.name, target=TARGET, resolution=16, parameters={parameter.name: value})


def test_texts_and_numbers_mean_the_same():
    one, other = (
        build("sparse-emd", target=TARGET, resolution=64, parameters={"width": width, "decay": decay})
        for width, decay in ((7, Fraction(3, 5)), ("7", "0.6"))
    )
    assert one == other


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ParameterError, match="mechanism is gauss, allowed: sparse-emd, laplace-top, laplace"):
        get("gauss")


def test_a_relation_the_mechanism_was_not_made_for_is_refused(monkeypatch):
    only = replace(get("laplace"), relations=frozenset({Relation.REPLACE}))
    monkeypatch.setattr(catalogue, "_ENTRIES", (only,))
    assert entries(relation=Relation.ADD_REMOVE) == ()
    with pytest.raises(ParameterError, match="relation is add_remove, allowed: replace"):
        build("laplace", target=TARGET, resolution=16, parameters={})


def test_an_unknown_parameter_lists_the_known_ones():
    with pytest.raises(
        ParameterError, match="w is 20, allowed: no such parameter of sparse-emd, which has width"
    ):
        build("sparse-emd", target=TARGET, resolution=64, parameters={"w": 20})


@pytest.mark.parametrize("resolution", [0, 1, 100, 2**17, "64", 64.0, True])
def test_impossible_resolutions_are_refused(resolution):
    with pytest.raises(ParameterError, match="resolution"):
        build("sparse-emd", target=TARGET, resolution=resolution, parameters={})
