"""Sentences are generated from the guarantee, and round against ourselves."""

import math
from fractions import Fraction

import pytest

from heatmaps.ledger.reading import moment
from heatmaps.models import Event
from heatmaps.wording.guarantee import decimal, factor, right_guesses, sentences
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Term, Trust


def said(guarantee, **options):
    return " ".join(sentences(guarantee, subject="this map", **options))


def flat(epsilon, delta=0, relation=Relation.ADD_REMOVE):
    return Guarantee.flat(relation=relation, epsilon=Fraction(epsilon), delta=Fraction(delta))


def test_it_says_presence_with_and_without_delta():
    assert "factor of at most 2.72 (presence ε = 1)" in said(flat(1))
    assert "right at most 73.2 % of the time" in said(flat(1))
    assert "without exception (δ = 0)" in said(flat(1))
    assert "δ = 0.000001, at most one in 1,000,000" in said(flat(1, "1e-6"))


def test_it_says_what_a_move_costs_under_add_remove():
    assert "factor of at most 7.39 (ε = 2); nothing smaller is claimed" in said(flat(1))
    # δ(1 + e) = 3.718...e-6, rounded up at the eighteenth digit
    assert "(ε = 2, δ = 0.000003718281828" in said(flat(1, "1e-6"))


def test_it_speaks_of_records_and_radius_under_replace():
    slope = Term(cap=Fraction(4), alpha_per_m=Fraction(1, 600))
    guarantee = Guarantee(relation=Relation.REPLACE, terms=(slope,), delta=Fraction(1, 10**6))

    words = said(guarantee, radius_m=600, diameter_m=1199.5)

    assert "whole record ε = 2)" in words  # 1,200 m: the next whole metre
    assert "within 600 m of each other" in words
    assert "(radius ε = 1)" in words
    assert "number of persons enrolled is public" in words


def test_it_does_not_promise_what_has_no_bound():
    far = Guarantee(
        relation=Relation.REPLACE,
        terms=(Term(cap=INFINITY, alpha_per_m=Fraction(1, 600)),),
        max_distance_m=Fraction(600),
    )

    assert "carries no bound" in said(far, radius_m=600)
    assert "(radius ε = 1)" in said(far, radius_m=600)
    assert "Nothing is promised" in said(Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=INFINITY))


def test_it_adds_up_what_several_releases_promise():
    assert "presence ε = 0.75)" in said(flat("0.5") + flat("0.25"))


def test_it_says_that_nothing_was_released():
    for relation in Relation:
        assert "Nothing about any person" in said(Guarantee(relation=relation))


def test_it_says_whom_to_trust():
    fails = flat(8)
    shuffled = Guarantee(
        relation=Relation.ADD_REMOVE, terms=flat(1).terms, trust=Trust.SHUFFLE, if_shuffler_fails=fails
    )

    assert "shuffler must not" in said(shuffled)
    assert "what is left is ε = 8" in said(shuffled)
    assert "Whoever runs this server" in said(flat(1))
    simulated = Guarantee(relation=Relation.ADD_REMOVE, terms=flat(1).terms, simulated=True)
    assert "simulated" in said(simulated)


def test_it_calls_a_weak_promise_weak():
    assert "weak promise" in said(flat(6))
    assert "weak promise" not in said(flat(5))


@pytest.mark.parametrize("epsilon", ["1e-6", "0.001", "0.1", "1", "3.3", "10", "20", "27"])
def test_it_never_understates(epsilon):
    exact = math.exp(float(Fraction(epsilon)))
    shown = float(factor(Fraction(epsilon)).replace(",", ""))
    assert exact <= shown <= exact * 1.02

    likely = 100 * exact / (1 + exact)
    assert likely <= float(right_guesses(Fraction(epsilon), Fraction(0))) <= likely + 0.11


def test_it_survives_huge_losses():
    assert factor(Fraction(10**9)) == "more than a million million"
    assert right_guesses(Fraction(10**9), Fraction(1)) == "100"
    assert "no useful" not in said(flat(10**9))


@pytest.mark.parametrize(
    ("value", "text"),
    [("1", "1"), ("0.5", "0.5"), ("1/3", "0.333333333334"), ("1e-15", "0.000000000001"), ("100", "100")],
)
def test_it_writes_exact_decimals_or_rounds_up(value, text):
    assert decimal(Fraction(value)) == text


def test_it_writes_moments():
    event = Event(kind="publish", at_microseconds=1_700_000_000_123_456)
    assert moment(event, sees_data=True) == "2023-11-14 22:13:20"
    assert moment(event, sees_data=False) == "2023-11-14 22:13"
