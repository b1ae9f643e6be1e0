"""The promise in one sentence never says more than the guarantee that was computed."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from heatmaps.data_slice import DataSlice
from heatmaps.numbers import amount
from heatmaps.regions import region_of
from heatmaps.releases import slice_guarantee
from heatmaps.releases.request import Plan, ReleaseRequest
from heatmaps.wording.promise import promise
from heatmaps.wording.release import promise_for
from mechanisms.catalogue import registry
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Term, Trust
from tests.pages.questions import BOTH

LOSS = re.compile(r"\((presence|radius|whole record) ε = ([0-9.,]+)\)")
FACTOR = re.compile(r"a factor of at most ([0-9.,]+) \((presence|radius|whole record) ε")
RADIUS_M = 600


def flat(epsilon, delta=0, relation=Relation.ADD_REMOVE):
    return Guarantee.flat(relation=relation, epsilon=Fraction(epsilon), delta=Fraction(delta))


def metric(cap, **facts):
    slope = Term(cap=cap, alpha_per_m=Fraction(1, RADIUS_M))
    return Guarantee(relation=Relation.REPLACE, terms=(slope,), **facts)


def said(guarantee):
    return promise(guarantee, subject="this map", radius_m=RADIUS_M, diameter_m=1199.5)


def read(number):
    return Fraction(number.replace(",", ""))


def is_kept(sentence, guarantee, *, radius_m=RADIUS_M, diameter_m=1199.5):
    """Whether losses, factors and δ of the sentence are at least those computed for its changes."""
    real = {
        "presence": guarantee.loss(INFINITY),
        "whole record": guarantee.exchange_loss(math.floor(diameter_m) + 1),
        "radius": guarantee.loss(radius_m),
    }
    told, factors = LOSS.findall(sentence), FACTOR.findall(sentence)
    chances = [read(chance) for chance in re.findall(r"at most one in ([0-9,]+) \(δ = ", sentence)]
    return (
        bool(told)
        and all(real[name] <= read(epsilon) for name, epsilon in told)
        and all(math.exp(real[name]) <= read(times) * (1 + 1e-12) for times, name in factors)
        and [guarantee.delta * chance <= 1 for chance in chances] == [True] * bool(guarantee.delta)
    )


def asked(entry):
    """A question for every mechanism; zones and places are named in a file's words."""
    texts = {one.mechanism: {one.parameter: one.text} for one in BOTH.values()}
    resolution = 16 if entry.kind == "heatmap" else None
    parameters = texts.get(entry.name, {})
    return ReleaseRequest(mechanism=entry.name, epsilon="2", resolution=resolution, parameters=parameters)


@pytest.mark.parametrize("relation", Relation)
def test_every_mechanism_keeps_it_also_of_a_period(make_dataset, relation):
    facts = {"radius_m": 5_000, "limits": {"record": "90", "radius": "30", "delta": "0.001"}}
    dataset = make_dataset("panel", relation, **(facts if relation is Relation.REPLACE else {}))
    diameter_m = region_of(dataset).diameter_m
    for entry in registry.entries(relation=relation):
        whole = Plan.of(dataset, asked(entry)).guarantee
        period = slice_guarantee.promise(dataset, whole, DataSlice(since=0))
        for guarantee in (whole, period):
            sentence = promise_for(guarantee, dataset, subject="this map")
            assert is_kept(sentence, guarantee, radius_m=5_000, diameter_m=diameter_m), entry.name
        assert "Moving" not in sentence  # a choice by time is a change of whole records


def test_it_is_one_plain_sentence():
    assert said(flat(1)) == (
        "Whether any one person is in the data changes the chance of anything this map could show by a "
        "factor of at most 2.72 (presence ε = 1)."
    )
    assert said(flat(1, relation=Relation.REPLACE)).startswith(
        "Exchanging one person's whole record for any "
    )
    assert said(metric(Fraction(4))) == (
        "Moving each of one person's check-ins by up to 600 m inside the region changes the chance of "
        "anything this map could show by a factor of at most 2.72 (radius ε = 1); any other change, by a "
        "factor of at most 54.60 (whole record ε = 4)."
    )


@pytest.mark.parametrize("delta", ["1e-9", "3e-7", "0.001", "0.6", "0.999"])
def test_a_delta_is_on_top_of_every_factor(delta):
    assert said(flat(1, delta)).endswith(f"(δ = {amount(Fraction(delta))}).")
    assert "; in both cases plus at most one in" in said(metric(Fraction(4), delta=Fraction(delta)))
    for guarantee in (
        flat("0.3", delta),
        flat(3, delta, Relation.REPLACE),
        metric(Fraction(4), delta=Fraction(delta)),
    ):
        assert is_kept(said(guarantee), guarantee)


def test_it_promises_nothing_where_nothing_is_kept():
    none = "Nothing is promised: what this map can show about any one person has no bound."
    assert said(Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=INFINITY)) == none
    assert said(metric(Fraction(4), max_distance_m=Fraction(599))) == none
    assert said(flat(1, 1)) == said(flat("0.1", 2)) == said(metric(Fraction(1), delta=Fraction(1))) == none
    assert said(flat(40)).startswith("Almost nothing is promised: whether any one person is in the data may")
    assert said(Guarantee(relation=Relation.REPLACE)).startswith("Nothing about any person can be learned")


def test_it_calls_weak_what_is_weak_and_leaves_no_change_out():
    assert "which is a weak promise" in said(flat("5.001"))
    assert "weak" not in said(flat(5))
    far = metric(INFINITY, max_distance_m=Fraction(600))
    assert said(far).endswith("(radius ε = 1); other changes have no bound.")
    twenty = Guarantee(relation=Relation.REPLACE, terms=(Term(cap=20, alpha_per_m=Fraction(1, 100)),))
    assert said(twenty).endswith("; other changes are hardly protected (whole record ε = 20).")


def test_it_counts_on_a_shuffler_aloud():
    left = Guarantee.flat(relation=Relation.REPLACE, epsilon=Fraction(8), trust=Trust.LOCAL)
    shuffled = replace(flat(1, "1e-6", Relation.REPLACE), trust=Trust.SHUFFLE, if_shuffler_fails=left)
    condition = ", as long as the shuffler does not work together with its reader."
    assert said(shuffled).endswith(condition)
    assert said(shuffled + flat(1, relation=Relation.REPLACE)).endswith(
        condition
    )  # trust is the server's then
    assert "shuffler" not in said(replace(flat(1), simulated=True))
