"""The table of mechanisms for rounds: what is in it, what it builds, and what it refuses."""

import dataclasses
import json
import math

import numpy as np
import pytest

from mechanisms.check import ParameterError
from mechanisms.devices import catalogue
from mechanisms.devices import plan as plan_module
from mechanisms.expected_error import ErrorBound, PointError
from mechanisms.guarantee import Guarantee, Relation, Trust
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.point import Point
from mechanisms.space.grid import Region
from tests.mechanisms.devices.plans import REGION, SMALL, plan, target

TABLE_BYTES = {
    "offsets": lambda e: 8 * e["columns"] * e["rows"],
    "axes": lambda e: 8 * (e["columns"] + e["rows"]),
    "items": lambda e: 8 * (e["columns"] + e["rows"]),
    "rows": lambda e: 8 * (e["columns"] * e["rows"]) ** 2,
    "gkrr": lambda e: 0,
    "unary": lambda e: 2 * e["padding"] * e["number_bytes"],
    "flips": lambda e: 0,
    "shares": lambda e: sum(e["cluster_entries"]) * e["number_bytes"],
}
MESSAGES = {
    "unary": lambda e: 2 * e["places"],
    "flips": lambda e: sum(e["domains"]),
    "items": lambda e: e["samples"],
    "shares": lambda e: e["shares"] * sum(4**level for level in e["levels"]),
}


def test_all_mechanisms_of_the_protocol_are_listed():
    assert {entry.name for entry in catalogue.entries()} == set(SMALL)
    for entry in catalogue.entries():
        assert catalogue.get(entry.name) is entry
        assert entry.open_groups == (entry.name != "shuffle-emd")
        assert entry.has_resolution == (entry.kind == "heatmap")
        assert entry.needs_delta == (entry.trust is Trust.SHUFFLE)


@pytest.mark.parametrize("name", list(SMALL))
def test_a_plan_is_what_its_entry_says(name):
    made, entry = plan(name), catalogue.get(name)
    assert (made.name, made.trust, made.kind) == (name, entry.trust, entry.kind)
    assert (made.resolution is None) == (not entry.has_resolution)
    assert plan(name) == made
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(made, dataclasses.fields(made)[0].name, None)


@pytest.mark.parametrize("name", list(SMALL))
def test_encodings_are_facts(name):
    made = plan(name)
    encoding = made.encoding
    text = json.dumps(encoding, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert json.loads(text, parse_float=pytest.fail) == encoding
    numbers = [json.loads(text, parse_int=lambda number: check_small(int(number)))]
    assert numbers
    assert len(made.table) == TABLE_BYTES[encoding["kind"]](encoding)
    assert made.messages == MESSAGES.get(encoding["kind"], lambda e: 1)(encoding)


def check_small(number):
    assert abs(number) < 2**53
    return number


@pytest.mark.parametrize("name", list(SMALL))
def test_nothing_that_devices_send_makes_the_analysis_fail(name):
    made, rng = plan(name), np.random.default_rng(1)
    kind = Heatmap if made.kind == "heatmap" else Point
    for count in (0, 1, 500):
        for filled in (0, 255, None):
            messages = (
                rng.integers(0, 256, (count, made.message_bytes), np.uint8)
                if filled is None
                else np.full((count, made.message_bytes), filled, np.uint8)
            )
            found = made.analyse(messages, 120)
            assert isinstance(found, kind)
            assert kind.from_bytes(found.to_bytes()).to_bytes() == found.to_bytes()


@pytest.mark.parametrize("name", ["geo-shuffle", "shuffle-emd"])
def test_large_batches_are_counted_in_parts(name, monkeypatch):
    made = plan(name)
    messages = np.random.default_rng(2).integers(0, 4, (1000, made.message_bytes), np.uint8)
    if name == "shuffle-emd":
        messages[:, :3] = 0
    reports = 1000 // made.messages + 1
    whole = made.analyse(messages, reports).to_bytes()
    monkeypatch.setattr(plan_module, "_AT_ONCE", 7)
    assert made.analyse(messages, reports).to_bytes() == whole
    assert made.analyse(messages[:7], reports).to_bytes() != whole


@pytest.mark.parametrize("name", list(SMALL))
def test_errors_and_influence_are_numbers_of_public_facts(name):
    made = plan(name)
    few, many = made.expected_error(100), made.expected_error(10_000)
    assert isinstance(few, PointError if made.kind == "centroid" else ErrorBound)
    size = (lambda error: error.expected_m) if made.kind == "centroid" else (lambda error: error.emd)
    assert 0 < size(many) <= size(few)
    influence = made.influence(10, 1000)
    assert influence.number > 0
    assert influence.is_bounded == (name != "shuffle-emd")
    assert influence.sentence.endswith(".")
    assert math.isinf(influence.number) != influence.is_bounded


@pytest.mark.parametrize("name", list(SMALL))
def test_a_promise_survives_json(name):
    for reports in (1, 2):
        promise = plan(name).guarantee(reports)
        assert Guarantee.from_json(json.loads(json.dumps(promise.to_json()))) == promise


@pytest.mark.parametrize("name", list(SMALL))
@pytest.mark.parametrize("reports", [0, 10_001, True])
def test_numbers_of_reports_are_checked(name, reports):
    made = plan(name)
    for ask in (made.expected_error, lambda n: made.influence(1, n)):
        with pytest.raises(ParameterError, match="reports"):
            ask(reports)
    with pytest.raises(ParameterError, match="reports"):
        made.analyse(np.zeros((0, made.message_bytes), np.uint8), reports)


@pytest.mark.parametrize(
    ("name", "change", "field"),
    [
        ("frequency", {"least_honest": 0}, "least_honest"),
        ("geo-shuffle", {"least_honest": 1}, "least_honest"),
        ("frequency", {"most_reports": 99}, "most_reports"),
        ("frequency", {"most_reports": 10**7}, "most_reports"),
        ("frequency", {"resolution": 12}, "resolution"),
        ("frequency", {"resolution": 512}, "resolution"),
        ("planar-geometric", {"resolution": 128}, "resolution"),
        ("optimal", {"resolution": 16}, "resolution"),
        ("geo-shuffle", {"resolution": 16}, "resolution"),
        ("frequency", {"delta": "1e-9"}, "delta"),
        ("geo-shuffle", {"delta": "0.01"}, "delta"),
        ("shuffle-emd", {"delta": "1e-19"}, "delta"),
        ("frequency", {"parameters": {"samples": 3}}, "samples"),
        ("frequency", {"parameters": {"district_levels": 9}}, "district_levels"),
        ("emd-itemwise", {"parameters": {"samples": 0}}, "samples"),
        ("geo-shuffle", {"parameters": {"cell_m": 0.5}}, "cell_m"),
        ("geo-shuffle", {"parameters": {"reach_m": "10"}}, "reach_m"),
        ("shuffle-emd", {"parameters": {"parts": 3}}, "parts"),
        ("planar-geometric", {"region": Region(-170, -60, 170, 70)}, "region"),
        ("optimal", {"epsilon": 1, "radius_m": 5000}, "epsilon"),
        ("geo-local", {"epsilon": 1, "radius_m": 9000, "resolution": 256}, "epsilon"),
    ],
)
def test_what_cannot_be_is_refused_by_name(name, change, field):
    with pytest.raises(ParameterError) as caught:
        plan(name, **change)
    assert caught.value.parameter == field
    assert caught.value.allowed


def test_shares_of_too_many_squares_are_refused_with_their_number():
    with pytest.raises(
        ParameterError, match=r"resolution is 32, .* \d{5} messages, of at most 20000"
    ) as caught:
        plan("shuffle-emd", resolution=32)
    assert caught.value.parameter == "resolution"


def test_unknown_mechanisms_relations_and_missing_radii_are_refused():
    with pytest.raises(ParameterError, match="planar-geometric"):
        catalogue.get("laplace")
    wrong = dataclasses.replace(target("frequency"), relation=Relation.ADD_REMOVE)
    with pytest.raises(ParameterError, match="relation"):
        plan("frequency", target=wrong)
    with pytest.raises(ParameterError, match="radius_m"):
        plan("geo-shuffle", target=dataclasses.replace(target("geo-shuffle"), radius_m=None))


@pytest.mark.parametrize(
    "name", ["planar-geometric", "geo-local", "frequency", "sgdl-shuffle", "geo-shuffle"]
)
def test_the_usual_choice_works_in_a_city(name):
    entry = catalogue.get(name)
    made = catalogue.build(
        name,
        region=REGION,
        target=target(name, epsilon=4, radius_m=1000),
        least_honest=200,
        most_reports=2000,
        resolution=None,
        parameters={},
    )
    assert made.resolution == (entry.usual_resolution or None)
    assert made.messages <= 2000
