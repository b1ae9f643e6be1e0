from dataclasses import MISSING, fields, replace
from fractions import Fraction

import pytest

from mechanisms.catalogue import local, registry
from mechanisms.catalogue.entries import EXPECTED_PERSONS
from mechanisms.catalogue.registry import (
    CentroidEntry,
    DistancesEntry,
    ItemsEntry,
    ZonesEntry,
    build,
    build_centroid,
    build_items,
    entries,
    get,
)
from mechanisms.central.expected_persons import MOST_PERSONS
from mechanisms.central.k_median.mechanism import MOST_CENTRES
from mechanisms.central.sparse_emd.mechanism import HIGHEST_WIDTH
from mechanisms.check import ParameterError
from mechanisms.devices import catalogue
from mechanisms.guarantee import Relation, Trust
from mechanisms.mechanism import Target
from mechanisms.metric.frequency.mechanism import MOST_DISTRICT_LEVELS
from mechanisms.metric.itemwise.mechanism import MOST_SAMPLES
from mechanisms.metric.linear.zones import SMALLEST_MARGIN_M
from mechanisms.shuffle.shuffle_emd import DEFAULT_PARTS, MOST_PARTS
from mechanisms.space.grid import Region
from tests.mechanisms.examples import NAMES

TARGET = Target(relation=Relation.ADD_REMOVE, epsilon=Fraction(1))
GUESSED = replace(TARGET, expected_persons=200)
PARAMETERS = [(get(name), parameter) for name in NAMES for parameter in get(name).parameters]
REGION = Region(-97.9, 30.1, -97.5, 30.5)


def guessed(entry):
    """A target under a relation that the mechanism allows."""
    return replace(GUESSED, relation=min(entry.relations))


# Names stand in databases and in URLs: more may come, none may go.
MAPS = ["adaptive", "sparse-emd", "privtree", "dense-emd", "k-median", "laplace-top", "laplace", "frequency"]
MAPS += ["emd-itemwise", "shuffle-emd"]
POINTS = ["exponential", "emd-linear", "sgdl-shuffle", "geo-shuffle", "rr-shuffle", "geo-local"]


@pytest.mark.parametrize(
    ("kind", "names"),
    [("heatmap", MAPS), ("centroid", POINTS), ("zones", ["emd-zones"]), ("distances", ["emd-distances"])],
)
def test_it_keeps_every_name_in_the_order_it_is_offered(kind, names):
    offered = [entry.name for entry in entries(relation=Relation.REPLACE, kind=kind)]
    assert [name for name in offered if name in names] == names
    assert len(set(offered)) == len(offered)


def test_what_they_release_and_whom_they_trust():
    assert [entry.name for entry in entries() if isinstance(entry, ItemsEntry)] == ["emd-itemwise"]
    assert entries(relation=Relation.ADD_REMOVE, kind="centroid") == ()
    assert {entry.kind: entry.max_resolution > 0 for entry in entries()} == {
        "heatmap": True,
        "centroid": False,
        "zones": False,
        "distances": False,
    }
    assert {entry.trust for entry in entries()} == {Trust.CENTRAL}


@pytest.mark.parametrize("entry", [*entries(), *local.entries()], ids=lambda entry: entry.name)
def test_a_name_is_that_of_the_class_that_is_loaded(entry):
    assert entry.mechanism.name == entry.name
    assert f"{entry.mechanism.__module__}.{entry.mechanism.__qualname__}" == entry.class_path


def test_shown_limits_are_the_mechanisms_own():
    """Those of parameters that maps of no region have, beside `test_shown_ranges_are_the_mechanisms_own`."""
    stored = {(entry.name, one.name): one for entry in entries() for one in entry.parameters}
    devices = {(entry.name, one.name): one for entry in catalogue.entries() for one in entry.parameters}
    assert EXPECTED_PERSONS.high == str(MOST_PERSONS)
    for known in (stored, devices):
        assert known["emd-itemwise", "samples"].high == str(MOST_SAMPLES)
        parts = known["shuffle-emd", "parts"]
        assert (parts.default, parts.high) == (str(DEFAULT_PARTS), str(MOST_PARTS))
        assert known["frequency", "district_levels"].high == str(MOST_DISTRICT_LEVELS)
    assert stored["emd-zones", "margin_m"].low == str(SMALLEST_MARGIN_M)
    assert stored["sparse-emd", "width"].high == str(HIGHEST_WIDTH)
    assert stored["k-median", "centres"].high == str(MOST_CENTRES)
    assert catalogue.get("emd-itemwise").highest_resolution == get("emd-itemwise").max_resolution


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_entries_are_for_people(entry):
    assert get(entry.name) is entry
    assert entry.title
    assert entry.summary.endswith(".")
    given = {"relation", "epsilon"} | ({"resolution"} if entry.max_resolution else set())
    if isinstance(entry, CentroidEntry | ItemsEntry | ZonesEntry | DistancesEntry):
        given |= {"radius_m", "region", "persons"}
    if entry.name == "adaptive":
        given |= {"guide", "version"}
    own = {field.name for field in fields(entry.mechanism)} - given
    assert ("delta" in own) == bool(entry.usual_delta)
    assert own - {"delta"} == {parameter.name for parameter in entry.parameters}


@pytest.mark.parametrize(("entry", "parameter"), PARAMETERS, ids=lambda one: one.name)
def test_shown_defaults_are_the_mechanisms_own(entry, parameter):
    default = {field.name: field.default for field in fields(entry.mechanism)}[parameter.name]
    if parameter.default:
        assert parameter.parse(parameter.default) == default
    else:  # chosen from public facts
        assert default in (MISSING, None)
    assert parameter.title
    assert parameter.help.endswith(".")


@pytest.mark.parametrize(("entry", "parameter"), PARAMETERS, ids=lambda one: one.name)
def test_shown_ranges_are_the_mechanisms_own(entry, parameter):
    low, high = Fraction(parameter.low), Fraction(parameter.high)
    tiny = Fraction(1, 10**9)
    valid = [high, low + tiny if parameter.low_open else low] if parameter.kind == "decimal" else [high, low]
    invalid = [high + 1, low if parameter.low_open else low - tiny, -1]
    for value in valid:
        build(entry.name, target=guessed(entry), resolution=16, parameters={parameter.name: value})
    for value in invalid:
        with pytest.raises(ParameterError, match=parameter.name):
            build(entry.name, target=guessed(entry), resolution=16, parameters={parameter.name: value})


@pytest.mark.parametrize("value", ["x", "", None, [], 0.5, True, "nan", "1e400", {}])
@pytest.mark.parametrize(("entry", "parameter"), PARAMETERS, ids=lambda one: one.name)
def test_values_of_the_wrong_kind_are_refused(entry, parameter, value):
    with pytest.raises(ParameterError, match=parameter.name):
        build(entry.name, target=guessed(entry), resolution=16, parameters={parameter.name: value})


def test_texts_and_numbers_mean_the_same():
    one, other = (
        build("sparse-emd", target=TARGET, resolution=64, parameters={"width": width, "decay": decay})
        for width, decay in ((7, Fraction(3, 5)), ("7", "0.6"))
    )
    assert one == other


def test_delta_is_taken_by_those_that_need_one_alone():
    assert get("laplace").delta(None) == get("exponential").delta("0") == 0
    assert get("rr-shuffle").delta(None) == get("rr-shuffle").delta("1e-9") == Fraction(1, 10**9)
    with pytest.raises(ParameterError, match="delta is 1e-9, allowed: 0 or nothing: laplace holds without"):
        get("laplace").delta("1e-9")
    for wrong in ("0", "1e-19", "0.0011", "nan", "-1"):
        with pytest.raises(ParameterError, match="delta is "):
            get("sgdl-shuffle").delta(wrong)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(
        ParameterError, match=r"mechanism is gauss, allowed: adaptive, sparse-emd, .*exponential"
    ):
        get("gauss")


def test_a_relation_the_mechanism_was_not_made_for_is_refused(monkeypatch):
    only = replace(get("laplace"), relations=frozenset({Relation.REPLACE}))
    monkeypatch.setattr(registry, "_ENTRIES", (only,))
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


def centroid(**change):
    target = Target(relation=Relation.REPLACE, epsilon=Fraction(1), radius_m=Fraction(600))
    asked = {"name": "exponential", "target": target, "region": REGION, "persons": 100, "parameters": {}}
    asked |= change
    return build_centroid(asked.pop("name"), **asked)


def test_a_central_point_is_built_from_region_and_persons():
    mechanism = centroid(parameters={"spacing_m": "10"})
    assert (mechanism.region, mechanism.persons, mechanism.spacing_m) == (REGION, 100, 10)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"name": "laplace"}, "mechanism is laplace, allowed: exponential"),
        ({"target": TARGET}, "relation is add_remove, allowed: replace"),
        ({"target": Target(relation=Relation.REPLACE, epsilon=Fraction(1))}, "radius_m is missing"),
        ({"parameters": {"spacing": "10"}}, "spacing is 10, allowed: no such parameter of exponential"),
        ({"parameters": {"spacing_m": "0"}}, "spacing_m is 0"),
        ({"parameters": {"spacing_m": "0.001"}}, "spacing_m is 0.001, allowed: .* with this epsilon"),
        ({"parameters": {"spacing_m": "9000"}}, "spacing_m is 9000.0, allowed"),
        ({"persons": 0}, "persons is 0"),
    ],
)
def test_a_central_point_that_cannot_be_is_refused(change, complaint):
    with pytest.raises(ParameterError, match=complaint):
        centroid(**change)


def test_a_central_point_has_no_map():
    with pytest.raises(ParameterError, match="mechanism is exponential, allowed: adaptive, sparse-emd"):
        build("exponential", target=TARGET, resolution=16, parameters={})


def items(**change):
    target = Target(
        relation=Relation.REPLACE, epsilon=Fraction(1), delta=Fraction(1, 10**9), radius_m=Fraction(2000)
    )
    asked = {"name": "emd-itemwise", "target": target, "region": REGION, "persons": 100, "resolution": 16}
    asked |= {"parameters": {}} | change
    return build_items(asked.pop("name"), **asked)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"name": "laplace"}, "mechanism is laplace, allowed: emd-itemwise"),
        ({"target": TARGET}, "relation is add_remove, allowed: replace"),
        ({"target": Target(relation=Relation.REPLACE, epsilon=Fraction(1))}, "radius_m is missing"),
        ({"resolution": 512}, "resolution is 512, allowed: a power of two from 2 to 256"),
        ({"persons": 0}, "persons is 0"),
        ({"parameters": {"samples": "0"}}, "samples is 0, allowed"),
        ({"parameters": {"samples": "1025"}}, "samples is 1025, allowed"),
        ({"parameters": {"samples": "1024"}, "persons": 10**6}, "samples is 1024, allowed: at most 100 of"),
    ],
)
def test_a_map_of_whole_records_that_cannot_be_is_refused(change, complaint):
    with pytest.raises(ParameterError, match=complaint):
        items(**change)
    assert items(parameters={"samples": "7"}).samples == 7
