"""Quotes: exact, from public facts alone, and nothing is written."""

from fractions import Fraction

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext, override_settings

from heatmaps.models import CheckIn
from heatmaps.releases import lifecycle
from heatmaps.releases.engine import draw_of
from heatmaps.releases.question import latest_version
from heatmaps.releases.request import Plan
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation

ONE = 10**12


def line(quote, kind):
    return next(line for line in quote.lines if line.kind == kind)


def test_it_quotes_the_exact_cost_and_what_is_left(dataset, ask):
    quote = lifecycle.quote(dataset, ask(epsilon="0.3"))
    assert line(quote, "presence").amount == 3 * ONE // 10
    assert line(quote, "presence").available == line(quote, "presence").limit == 2 * ONE
    assert line(quote, "delta").amount == 0
    assert (quote.affordable, quote.problem, quote.same_release) == (True, "", None)
    assert quote.guarantee.loss(1) == Fraction(3, 10)


def test_it_rounds_a_cost_up(dataset, ask):
    quote = lifecycle.quote(dataset, ask(epsilon="0.1000000000001", mechanism="laplace"))
    assert line(quote, "presence").amount == ONE // 10 + 1


def test_it_quotes_record_and_radius_under_replace(make_dataset, add_checkins, ask):
    dataset = make_dataset(relation=Relation.REPLACE)
    add_checkins(dataset)
    quote = lifecycle.quote(dataset, ask(epsilon="0.5"))
    assert [(row.kind, row.amount, row.available) for row in quote.lines] == [
        ("record", ONE // 2, 2 * ONE),
        ("radius", ONE // 2, None),
        ("delta", 0, 0),
    ]
    assert quote.affordable


def test_it_says_what_is_missing_when_it_is_too_much(dataset, ask):
    quote = lifecycle.quote(dataset, ask(epsilon="2.5"))
    assert not quote.affordable
    assert not line(quote, "presence").affordable
    assert line(quote, "delta").affordable
    assert quote.problem.startswith("this release costs 2.5 of presence (ε), 2 is left")


def test_it_predicts_the_error_from_the_public_number_of_persons(make_dataset, add_checkins, ask):
    guessed, declared = make_dataset("guessed", expected_persons=10**6), make_dataset("r", Relation.REPLACE)
    unknown = make_dataset("unknown", expected_persons=None)
    for dataset in (guessed, declared, unknown):
        add_checkins(dataset)
    one, two, none = (lifecycle.quote(row, ask()).expected_error for row in (guessed, declared, unknown))
    assert none is None
    assert 0 < one.emd < two.emd <= 2


def test_it_has_a_readable_problem_without_a_data_version(make_dataset, ask):
    quote = lifecycle.quote(make_dataset(), ask())
    assert not quote.affordable
    assert "no data version" in quote.problem


def test_it_reads_no_data_and_writes_nothing(dataset, ask):
    with CaptureQueriesContext(
        connection,
    ) as queries:
        lifecycle.quote(dataset, ask())
    texts = [query["sql"] for query in queries]
    assert texts
    assert all(text.startswith("SELECT") for text in texts)
    assert not any(CheckIn._meta.db_table in text or "heatmaps_upload" in text for text in texts)


@pytest.mark.parametrize(
    ("changes", "parameter"),
    [
        ({"epsilon": "0"}, "epsilon"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"epsilon": "NaN"}, "epsilon"),
        ({"epsilon": "1e400"}, "epsilon"),
        ({"epsilon": "0.00099999"}, "epsilon"),
        ({"epsilon": "20.0000001"}, "epsilon"),
        ({"epsilon": 0.5}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"mechanism": "no-such"}, "mechanism"),
        ({"resolution": 17}, "resolution"),
        ({"resolution": "16"}, "resolution"),
        ({"resolution": 2**20}, "resolution"),
        ({"parameters": {"width": "0"}}, "width"),
        ({"parameters": {"unknown": "0"}}, "unknown"),
        ({"parameters": ["width"]}, "parameters"),
    ],
)
def test_it_refuses_by_name(dataset, ask, changes, parameter):
    with pytest.raises(ParameterError) as caught:
        lifecycle.quote(dataset, ask(**changes))
    assert caught.value.parameter == parameter


def test_it_takes_the_least_epsilon(dataset, ask):
    assert lifecycle.quote(dataset, ask(epsilon="0.001")).affordable


def test_it_takes_the_largest_epsilon_from_the_settings(dataset, ask):
    assert not lifecycle.quote(dataset, ask(epsilon="20")).affordable
    with override_settings(MAX_EPSILON=Fraction(1, 2)), pytest.raises(ParameterError, match="at most 1/2"):
        lifecycle.quote(dataset, ask(epsilon="0.6"))


def test_it_knows_equal_questions_however_they_are_spelled(dataset, ask):
    version = latest_version(dataset)

    def question(**changes):
        return Plan.of(dataset, ask(**changes)).question(version)

    same = [
        question(epsilon="0.5"),
        question(epsilon="5e-1"),
        question(epsilon="0.500"),
        question(parameters={"width": "20"}),
        question(parameters={"width": 20, "decay": "7.0710678118654752440e-1"}),
    ]
    assert len(set(same)) == 1
    others = [
        question(epsilon="0.6"),
        question(resolution=32),
        question(mechanism="laplace"),
        question(parameters={"width": "21"}),
        question(parameters={"decay": "0.7"}),
    ]
    assert len({*same, *others}) == 6


def test_it_asks_another_question_about_another_version(dataset, add_checkins, ask):
    first = latest_version(dataset)
    second = add_checkins(dataset, seed=2)
    planned = Plan.of(dataset, ask())
    assert planned.question(first) != planned.question(second)


@pytest.mark.parametrize(
    "decay", ["0.5", "1", "0.70710678118654752440", "5.00000000000000000000000000001e-1"]
)
def test_it_builds_a_stored_question_again_exactly(dataset, analyst, ask, decay):
    request = ask(parameters={"decay": decay, "width": 7})
    release = lifecycle.request_release(analyst, dataset, request)
    release.refresh_from_db()
    assert draw_of(release) == Plan.of(dataset, request).draw
    assert release.parameters["width"] == 7
    assert Fraction(release.parameters["decay"]) == Fraction(decay)
