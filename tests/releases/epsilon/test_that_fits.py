"""The largest ε that would fit: found by planning, from public facts and balances, and it fits."""

from dataclasses import replace
from fractions import Fraction

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from heatmaps.budget import allowances
from heatmaps.models import CheckIn, Dataset
from heatmaps.releases import lifecycle
from heatmaps.releases.epsilon import forecast, that_fits
from heatmaps.releases.request import Plan
from mechanisms.guarantee import Relation

UNIT = Fraction(1, 10**12)


@pytest.fixture
def panel(make_dataset, add_checkins):
    """A city of 157 km across with a radius of 2 km, and little δ."""

    def make(**limits):
        facts = {"radius_m": 2000, "persons": 5000}
        made = make_dataset(
            "panel", Relation.REPLACE, limits={"record": "90", "radius": "9"} | limits, **facts
        )
        add_checkins(made)
        return made

    return make


@pytest.fixture
def fits(analyst):
    """Whether a question would be taken now at an ε."""

    def check(dataset, question, epsilon):
        quote = lifecycle.quote(dataset, replace(question, epsilon=epsilon))
        return forecast.for_person(dataset, analyst, quote).affordable

    return check


def test_it_is_what_is_left_where_charges_are_in_proportion(dataset, analyst, ask, fits):
    lifecycle.request_release(analyst, dataset, ask(epsilon="0.765432109876"))
    found = that_fits.largest_epsilon(dataset, analyst, ask(epsilon="1.75"))
    assert found == Fraction("1.234567890124")
    assert fits(dataset, ask(), found)


# Whole records cost 78 times the radius' ε up to a cap, about twice, or just ε.
@pytest.mark.parametrize(
    "asked",
    [
        {"mechanism": "exponential", "epsilon": "20", "resolution": None},
        {"mechanism": "emd-linear", "epsilon": "3", "resolution": None},
        {"mechanism": "geo-local", "epsilon": "3", "resolution": None},
        {"mechanism": "emd-itemwise", "epsilon": "20"},
        {"mechanism": "laplace", "epsilon": "20"},
    ],
    ids=lambda asked: asked["mechanism"],
)
def test_it_is_the_largest_that_all_accounts_hold(panel, analyst, ask, fits, asked):
    dataset, question = panel(record="12.5", radius="9", delta="0.001"), ask(**asked)
    found = that_fits.largest_epsilon(dataset, analyst, question)
    assert fits(dataset, question, found)
    assert not fits(dataset, question, found * Fraction(10001, 10000) + UNIT)


def test_a_period_is_charged_as_a_whole_record_and_it_knows(panel, analyst, ask):
    dataset = panel(record=None, radius="1")
    whole = ask(mechanism="emd-linear", resolution=None, epsilon="2")
    found = that_fits.largest_epsilon(dataset, analyst, whole)
    of_a_month = that_fits.largest_epsilon(dataset, analyst, replace(whole, since="2026-03-01"))
    assert Fraction("0.999") < found <= Fraction("1.001")
    assert 0 < of_a_month < found / 50


def test_ones_own_allowance_counts_and_nobody_elses(dataset, analyst, steward, ask):
    allowed = {"account": "presence", "reason": "shares"}
    allowances.change(steward, dataset, analyst="analyst", allowance="0.6", **allowed)
    lifecycle.request_release(analyst, dataset, ask(epsilon="0.25"))
    asked = ask(epsilon="2")
    assert that_fits.largest_epsilon(dataset, analyst, asked) == Fraction("0.35")
    assert that_fits.largest_epsilon(dataset, steward, asked) == Fraction("1.75")


def test_it_says_nothing_where_the_question_fits_or_no_epsilon_helps(dataset, make_dataset, analyst, ask):
    assert that_fits.largest_epsilon(dataset, analyst, ask(epsilon="2")) is None
    assert that_fits.largest_epsilon(make_dataset("empty"), analyst, ask(epsilon="3")) is None
    lifecycle.request_release(analyst, dataset, ask(epsilon="2"))
    assert that_fits.largest_epsilon(dataset, analyst, ask(epsilon="0.1")) is None


# Nothing of δ, half of what is asked for, and so little ε that squares would have to be larger.
@pytest.mark.parametrize(
    ("mechanism", "limits"),
    [
        ("emd-itemwise", {"delta": "0"}),
        ("emd-itemwise", {"delta": "0.0000000005"}),
        ("geo-local", {"record": "0.000001"}),
    ],
)
def test_it_says_nothing_below_what_a_mechanism_can_do(panel, analyst, ask, mechanism, limits):
    question = ask(mechanism=mechanism, resolution=16 if mechanism == "emd-itemwise" else None)
    assert that_fits.largest_epsilon(panel(**limits), analyst, question) is None


def test_a_charge_too_large_to_count_is_not_one_without_a_bound(panel, analyst, ask, fits):
    dataset = panel(record="20000", radius=None)
    Dataset.objects.filter(pk=dataset.pk).update(radius_m=1, west=-60, east=60, south=-30, north=30)
    dataset.refresh_from_db()
    question = ask(mechanism="emd-linear", resolution=None, epsilon="20")
    assert Plan.of(dataset, question).charges["record"] is None
    found = that_fits.largest_epsilon(dataset, analyst, question)
    assert fits(dataset, question, found)
    assert not fits(dataset, question, found * Fraction(10001, 10000) + UNIT)


def test_it_reads_no_data_and_writes_nothing(dataset, analyst, ask):
    with CaptureQueriesContext(connection) as queries:
        assert that_fits.largest_epsilon(dataset, analyst, ask(epsilon="2.5")) == 2
    texts = [query["sql"] for query in queries]
    assert all(text.startswith("SELECT") for text in texts)
    assert not any(CheckIn._meta.db_table in text or "heatmaps_upload" in text for text in texts)
