"""From wishes to α and back, and from records of any length to a fixed one."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Guarantee, Relation, Term
from mechanisms.metric.itemwise.reduction import Sampling, chernoff, divergence, lemma_5_2, sample_records
from mechanisms.metric.protection_planner import Wish, covered_m, planned_alpha, reaches, spent
from tests.mechanisms.sources import Scripted

MILE_M = Fraction(1609344, 1000)
DAY, MONTH = Fraction(1, 30), Fraction(1)
EPSILON = Fraction(1, 5)


def linear(alpha, cap=INFINITY, **term):
    return Guarantee(relation=Relation.REPLACE, terms=(Term(cap=cap, alpha_per_m=alpha, **term),))


def test_it_plans_the_papers_example():
    """Any day within 1000 miles and the whole month within 100 miles, at ε = 0.2."""
    rounded = [Wish(part=DAY, distance_m=Fraction(8, 100), epsilon=EPSILON)]
    rounded.append(Wish(part=MONTH, distance_m=Fraction(8, 1000), epsilon=EPSILON))
    assert planned_alpha(rounded) == 25
    wishes = [
        Wish(part=DAY, distance_m=1000 * MILE_M, epsilon=EPSILON),
        Wish(part=MONTH, distance_m=100 * MILE_M, epsilon=EPSILON),
    ]
    alpha = planned_alpha(wishes)
    assert float(alpha) == pytest.approx(1.2427e-6, rel=1e-4)
    assert float(alpha * 12930 * MILE_M) == pytest.approx(25.86, abs=0.005)
    assert spent(linear(alpha), wishes[1]) == EPSILON
    assert spent(linear(alpha), wishes[0]) <= EPSILON


def test_it_explains_a_guarantee_by_what_may_be_moved():
    day, month = reaches(linear(Fraction(1, 10**6)), EPSILON, (DAY, MONTH), diameter_m=Fraction(10**6))
    assert float(month.distance_m) == pytest.approx(200_000)
    assert day.distance_m == INFINITY  # a thirtieth of 1,000 km is less than 200 km


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    alpha=st.fractions(Fraction(1, 10**6), Fraction(1, 100)),
    cap=st.fractions(Fraction(1, 100), 20),
    offset=st.integers(0, 500),
    step=st.integers(0, 500),
    epsilon=st.fractions(Fraction(1, 100), 5),
)
def test_what_it_explains_never_costs_more_and_a_little_more_does(alpha, cap, offset, step, epsilon):
    guarantee = linear(alpha, cap, offset_m=Fraction(offset), step_m=Fraction(step))
    covered = covered_m(guarantee, epsilon, diameter_m=Fraction(50_000))
    assert guarantee.loss(covered) <= epsilon
    if covered < 50_000:
        assert guarantee.loss(covered * Fraction(1001, 1000) + Fraction(1, 100)) > epsilon


def test_a_round_distance_is_covered_whole():
    """Its tenth of a record, too: halving alone ends a hair below, which is told as 5,990 m."""
    whole, tenth = reaches(
        linear(Fraction(1, 1000)), Fraction(3, 5), (1, Fraction(1, 10)), diameter_m=Fraction(15_000)
    )
    assert (whole.distance_m, tenth.distance_m) == (600, 6000)
    uneven = covered_m(linear(Fraction(1, 3000)), Fraction(1, 7), diameter_m=Fraction(15_000))
    assert uneven <= Fraction(3000, 7)  # no whole number of millimetres


@pytest.mark.parametrize(
    ("part", "distance_m", "epsilon"), [(2, 1, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 10**9, 1)]
)
def test_it_refuses_wishes_without_meaning(part, distance_m, epsilon):
    with pytest.raises((ParameterError, ValueError)):
        Wish(part=Fraction(part), distance_m=Fraction(distance_m), epsilon=Fraction(epsilon))


def test_it_refuses_a_plan_without_wishes():
    with pytest.raises(ParameterError, match="wishes"):
        planned_alpha([])


def test_the_sharper_concentration_bound_is_the_reference_value_and_below_the_lemma():
    assert chernoff(0.05, samples=1000, delta=1e-6) == pytest.approx(0.0901, abs=5e-5)
    assert lemma_5_2(0.05, samples=1000, delta=1e-6) == pytest.approx(0.1622, abs=5e-5)


def test_samples_exceed_the_bound_no_more_often_than_it_says():
    """Exact: distances 0 or D, the worst case, are binomial; 0.8 of the bound is too little."""
    samples, part, delta = 200, 0.1, 0.02
    bound = chernoff(part, samples=samples, delta=delta)
    law = [math.comb(samples, k) * part**k * (1 - part) ** (samples - k) for k in range(samples + 1)]
    assert sum(law[math.floor(bound * samples) + 1 :]) <= delta
    assert samples * divergence(bound, part) >= -math.log(delta)
    assert sum(law[math.floor(0.8 * bound * samples) + 1 :]) > delta


def test_the_tangent_is_above_the_curve_everywhere_and_the_discrete_term_above_the_tangent():
    sampling = Sampling(samples=100, delta=Fraction(1, 10**6), diameter_m=Fraction(40_000))
    alpha, radius_m = Fraction(1, 10**4), Fraction(3000)
    line = sampling.tangent_term(alpha_per_m=alpha, cap=4, radius_m=radius_m)
    steps = sampling.discrete_term(alpha_per_m=alpha, cap=4, radius_m=radius_m)
    for distance_m in np.geomspace(1, 40_000, 60).round().astype(int).tolist():
        curve = alpha * sampling.reach(Fraction(distance_m))
        assert curve <= line.loss(Fraction(distance_m))
        assert curve <= steps.loss(Fraction(distance_m))
    assert line.loss(radius_m) <= steps.loss(radius_m) * Fraction(1_000_001, 1_000_000)


def test_too_few_samples_promise_only_the_flat_cap():
    sampling = Sampling(samples=1, delta=Fraction(1, 10**6), diameter_m=Fraction(40_000))
    term = sampling.tangent_term(alpha_per_m=Fraction(1, 10**4), cap=Fraction(9), radius_m=Fraction(100))
    assert (term.cap, term.alpha_per_m) == (4, INFINITY)


def test_samples_are_uniform_over_each_record():
    """20,000 draws from three places: a share 5 % off would be 7 standard deviations away."""
    found = sample_records(np.array([3, 0]), 20_000, SeededSource(3))
    shares = np.bincount(found[0], minlength=3) / 20_000
    assert np.abs(shares - 1 / 3).max() < 0.0167
    assert (found[1] == -1).all()


def test_words_below_the_surplus_are_drawn_again():
    """2^64 = 3k + 1: with the word 0 the first place would have one word more than the others."""
    found = sample_records(np.array([3]), 2, Scripted(0, 5, 4))
    assert found.tolist() == [[1, 2]]
