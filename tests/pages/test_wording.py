"""Sentences are generated from the guarantee, and round against ourselves."""

import math
import re
from fractions import Fraction

import mpmath
import pytest

from heatmaps.ledger.reading import moment
from heatmaps.models import Event
from heatmaps.wording.goals import granted, plan_sentences, wish_sentence
from heatmaps.wording.guarantee import decimal, delta_of_a_move, factor, right_guesses, sentences
from heatmaps.wording.local import statements
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Term, Trust
from mechanisms.local.geo_local import GeoLocal
from mechanisms.local.lattice import Lattice
from mechanisms.metric.protection_planner import Wish
from mechanisms.space.grid import Region


def said(guarantee, **options):
    return " ".join(sentences(guarantee, subject="this map", **options))


def flat(epsilon, delta=0, relation=Relation.ADD_REMOVE):
    return Guarantee.flat(relation=relation, epsilon=Fraction(epsilon), delta=Fraction(delta))


def test_it_says_presence_with_and_without_delta():
    assert "factor of at most 2.72 (presence ε = 1)" in said(flat(1))
    assert "right at most 73.2 % of the time" in said(flat(1))
    assert "without exception (δ = 0)" in said(flat(1))
    assert "δ = 0.000001, at most one in 1,000,000" in said(flat(1, "1e-6"))
    assert "δ = 3 × 10⁻⁷, at most one in 3,333,333." in said(flat(1, "3e-7"))


def test_it_says_what_a_move_costs_under_add_remove():
    assert "factor of at most 7.39 (ε = 2); nothing smaller is claimed" in said(flat(1))
    # δ(1 + e) = 3.718...e-6, rounded up to four digits
    assert "(ε = 2, δ = 0.000003719)" in said(flat(1, "1e-6"))


def test_it_speaks_of_records_and_radius_under_replace():
    slope = Term(cap=Fraction(4), alpha_per_m=Fraction(1, 600))
    guarantee = Guarantee(relation=Relation.REPLACE, terms=(slope,), delta=Fraction(1, 10**6))

    words = said(guarantee, radius_m=600, diameter_m=1199.5)

    assert "whole record ε = 4)" in words  # also where the other record is empty: at any distance
    assert "within 600 m of each other" in words
    assert "(radius ε = 1)" in words
    assert "a place outside the region counts at the region's nearest edge" in words
    assert "The largest distance in any data version counts, of all that the dataset ever has." in words
    assert "none in the other, only the whole-record ε covers the change" in words
    assert "number of people enrolled is public" in words


@pytest.mark.parametrize(
    ("radius_m", "told"),
    [(9999, "9,999 m"), (15_600, "15.6 km"), (123_456, "123.456 km"), (1_200_000, "1,200 km")],
)
def test_a_radius_is_told_to_the_metre(radius_m, told):
    """To the kilometre, 15,600 m would be 16 km, where more is lost than is said."""
    slope = Term(cap=Fraction(4), alpha_per_m=Fraction(1, 10**6))
    promise = Guarantee(relation=Relation.REPLACE, terms=(slope,))
    assert f"within {told} of each other" in said(promise, radius_m=radius_m)


def test_without_delta_only_versions_that_are_read_count():
    words = said(flat(1, relation=Relation.REPLACE), radius_m=600, diameter_m=1199.5)
    assert "If several data versions are read, the largest of their distances counts." in words
    assert "earth mover" not in said(flat(1))
    assert "Distances" not in said(flat(1))


def test_a_record_without_a_cap_is_exchanged_at_the_next_whole_metre():
    far = Guarantee(relation=Relation.REPLACE, terms=(Term(cap=INFINITY, alpha_per_m=Fraction(1, 600)),))
    assert "whole record ε = 2)" in said(far, radius_m=600, diameter_m=1199.5)  # 1,200 m


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
    assert "This server's operator sees" in said(flat(1))
    simulated = Guarantee(relation=Relation.ADD_REMOVE, terms=flat(1).terms, simulated=True)
    assert "simulated" in said(simulated)


def test_what_a_colluding_shuffler_leaves_is_told_with_its_delta():
    """A person's reports seen one by one: a sum of losses, and a δ of its own, also where releases add up."""
    alone = Guarantee.flat(
        relation=Relation.REPLACE, epsilon=Fraction(4), delta=Fraction("1e-6") / 3, trust=Trust.LOCAL
    )
    shuffled = Guarantee(
        relation=Relation.REPLACE, terms=(Term(cap=1),), trust=Trust.SHUFFLE, if_shuffler_fails=alone
    )
    assert "what is left is ε = 4, δ = 3.334 × 10⁻⁷." in said(shuffled)
    assert "what is left is ε = 8, δ = 6.667 × 10⁻⁷." in said(shuffled + shuffled)


@pytest.mark.parametrize("delta", ["0.000001", "0.01"])
def test_the_delta_of_a_move_is_never_understated(delta):
    """Also where the floating point of e^ε is seen."""
    with mpmath.workdps(60):
        for thousandth in range(1, 3000, 14):
            epsilon, one = Fraction(thousandth, 1000), mpmath.mpf(delta)
            exact = one * (1 + mpmath.exp(mpmath.mpf(thousandth) / 1000))
            twice = delta_of_a_move(epsilon, Fraction(delta))
            counted = mpmath.mpf(twice.numerator) / twice.denominator
            assert 0 <= counted - exact <= one * 3e-11
            told = re.search(r"δ = ([0-9.]+)\); nothing smaller", said(flat(epsilon, delta)))
            assert twice <= Fraction(told[1]) <= twice * Fraction(1001, 1000)


def test_a_guess_is_right_with_what_delta_adds():
    # (1 + δ) / 2 where the factor is 1
    assert right_guesses(Fraction(0), Fraction(3, 10)) == "65"
    assert right_guesses(Fraction(0), Fraction(1, 1000)) == "50.1"


def test_losses_of_blurred_reports_are_told_at_their_distances_and_rounded_up():
    lattice = Lattice.of(Region(-98.0, 30.0, -97.5, 30.5), Fraction(4000))
    mechanism = GeoLocal(lattice=lattice, decay_per_m=Fraction(1, 17_000), max_reports=3)
    one, each, anywhere, *_ = statements(mechanism, radius_m=10_500, diameter_m=15_000.5)
    claims = (
        (one, mechanism.per_report, 10_500),
        (each, mechanism.guarantee, 10_500),
        (anywhere, mechanism.guarantee, 15_001),  # the next metre covers the rounding of a diameter
    )
    for told, guarantee, distance_m in claims:
        shown = Fraction(re.search(r"ε = ([0-9.]+)", told)[1])
        assert guarantee.loss(distance_m) <= shown <= guarantee.loss(distance_m) * Fraction(1001, 1000)
    assert "within 10.5 km of the true one" in one


def test_what_wishes_cost_is_told_with_delta_and_rounded_up():
    wish = Wish(part=Fraction(1), distance_m=Fraction(1000), epsilon=Fraction("0.1234567"))
    exchange = flat(Fraction(1, 3), "1e-6", relation=Relation.REPLACE)
    (told,) = granted(exchange, [wish], diameter_m=5000)
    assert "costs ε = 0.3334, δ = 0.000001; at most ε = 0.1234567 was allowed" in told
    grows, costs, _ = plan_sentences(wish.alpha_per_m, [wish])
    assert "grow by ε = 0.1234 a kilometre" in grows  # less than planned spends less
    assert "costs at most ε = 0.1235." in costs
    third = Fraction(1, 3)
    _, costs, _ = plan_sentences(third / 1000, [wish])
    assert "costs at most ε = 0.3334." in costs
    assert wish_sentence(wish).endswith("may cost ε = 0.1234567.")


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
