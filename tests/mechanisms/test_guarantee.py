import json
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.guarantee import INFINITY, Guarantee, Relation, RelationMismatch, Term, Trust

exact = st.fractions(min_value=0, max_value=1000, max_denominator=10**6)
exact_or_infinite = st.one_of(exact, st.just(INFINITY))
terms = st.builds(Term, cap=exact_or_infinite, alpha_per_m=exact_or_infinite, offset_m=exact, step_m=exact)


def guarantees(*relations):
    return st.sampled_from(relations or tuple(Relation)).flatmap(
        lambda chosen: st.builds(
            Guarantee,
            relation=st.just(chosen),
            delta=st.fractions(min_value=0, max_value=1, max_denominator=10**9),
            trust=st.sampled_from(Trust),
            max_distance_m=exact_or_infinite,
            terms=st.lists(terms, max_size=3).map(tuple),
            simulated=st.booleans(),
            if_shuffler_fails=st.one_of(
                st.none(), st.just(Guarantee.flat(relation=chosen, epsilon=Fraction(7, 3)))
            ),
        )
    )


FLAT = Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=Fraction(1, 10))
METRIC = Guarantee(
    relation=Relation.REPLACE,
    max_distance_m=Fraction(5000),
    terms=(Term(cap=Fraction(4), alpha_per_m=Fraction(1, 600), offset_m=Fraction(50), step_m=Fraction(100)),),
)


def test_it_costs_the_same_at_any_distance_when_flat():
    assert FLAT.loss(Fraction(1, 10**9)) == FLAT.loss(600) == FLAT.loss(INFINITY) == Fraction(1, 10)


def test_it_costs_nothing_at_distance_zero():
    assert FLAT.loss(0) == METRIC.loss(0) == 0


@pytest.mark.parametrize(
    ("distance_m", "loss"),
    [
        (1, Fraction(150, 600)),  # rounded up to 100, plus 50
        (100, Fraction(150, 600)),
        (Fraction(100_000_001, 10**6), Fraction(250, 600)),
        (600, Fraction(650, 600)),
        (2300, Fraction(2350, 600)),
        (2351, Fraction(4)),  # the cap
        (5000, Fraction(4)),
        (5001, INFINITY),  # nothing is promised so far away
        (INFINITY, INFINITY),
    ],
)
def test_it_follows_the_formula(distance_m, loss):
    assert METRIC.loss(distance_m) == loss


def test_it_takes_floats_at_their_exact_value():
    assert METRIC.loss(100.0) == METRIC.loss(100)
    assert METRIC.loss(100.00000000000001) == METRIC.loss(200)


def test_losses_are_never_rounded():
    tenths = Guarantee(relation=Relation.ADD_REMOVE)
    for _ in range(10):
        tenths = tenths + FLAT
    assert tenths.loss(INFINITY) == 1
    assert isinstance(tenths.loss(INFINITY), Fraction)


def test_a_term_without_slope_costs_nothing_even_far_away():
    free = Guarantee(relation=Relation.REPLACE, terms=(Term(cap=INFINITY, alpha_per_m=Fraction(0)),))
    assert free.loss(INFINITY) == free.loss(5) == 0


def test_a_term_without_bound_costs_infinitely_much():
    assert Guarantee.flat(relation=Relation.REPLACE, epsilon=INFINITY).loss(1) == INFINITY


@settings(derandomize=True)
@given(st.data(), st.sampled_from(Relation), exact_or_infinite)
def test_the_loss_of_a_sum_is_the_sum_of_losses(data, relation, distance_m):
    one, other = (data.draw(guarantees(relation)) for _ in range(2))
    both = one + other
    assert both.loss(distance_m) == one.loss(distance_m) + other.loss(distance_m)
    assert both.delta == one.delta + other.delta
    assert both.simulated == (one.simulated or other.simulated)


@settings(derandomize=True)
@given(guarantees(), exact, exact)
def test_losses_grow_with_distance(guarantee, near_m, further_m):
    assert guarantee.loss(near_m) <= guarantee.loss(near_m + further_m) <= guarantee.loss(INFINITY)


@settings(derandomize=True)
@given(guarantees())
def test_it_survives_json(guarantee):
    assert Guarantee.from_json(json.loads(json.dumps(guarantee.to_json()))) == guarantee


def test_its_json_has_exact_text():
    assert FLAT.to_json() == {
        "relation": "add_remove",
        "delta": "0/1",
        "trust": "central",
        "max_distance_m": "inf",
        "terms": [{"cap": "1/10", "alpha_per_m": "inf", "offset_m": "0/1", "step_m": "0/1"}],
        "simulated": False,
        "if_shuffler_fails": None,
    }


@pytest.mark.parametrize(
    "change",
    [
        {"relation": "nobody"},
        {"trust": 3},
        {"delta": "inf"},
        {"delta": 0.1},
        {"delta": "1/0"},
        {"delta": "-1/2"},
        {"terms": "x"},
        {"terms": [{"cap": "1/1"}]},
        {"simulated": 1},
        {"if_shuffler_fails": "x"},
        {"unknown": 1},
    ],
)
def test_other_json_is_refused(change):
    reasons = r"not a valid|infinite|exact|allowed|list|keys"
    with pytest.raises(ValueError, match=reasons):
        Guarantee.from_json({**FLAT.to_json(), **change})


def test_relations_do_not_mix():
    with pytest.raises(RelationMismatch):
        FLAT + METRIC
    with pytest.raises(RelationMismatch):
        replace(METRIC, if_shuffler_fails=FLAT)
    with pytest.raises(TypeError):
        FLAT + 1


@pytest.mark.parametrize("trust", Trust)
def test_a_sum_needs_the_greater_trust(trust):
    local = Guarantee.flat(relation=Relation.REPLACE, epsilon=1, trust=Trust.LOCAL)
    other = Guarantee.flat(relation=Relation.REPLACE, epsilon=1, trust=trust)
    assert (local + other).trust is (other + local).trust is trust


def test_a_failing_shuffler_is_counted_where_there_is_one():
    worse = Guarantee.flat(relation=Relation.REPLACE, epsilon=8, trust=Trust.LOCAL)
    shuffled = replace(worse, terms=(Term(cap=1),), trust=Trust.SHUFFLE, if_shuffler_fails=worse)
    central = Guarantee.flat(relation=Relation.REPLACE, epsilon=2)
    total = shuffled + central
    assert (total.loss(INFINITY), total.if_shuffler_fails.loss(INFINITY)) == (3, 10)


@pytest.mark.parametrize("wrong", [-1, float("nan"), 0.5, "1", True, None])
def test_it_takes_exact_numbers_only(wrong):
    with pytest.raises(ValueError, match="epsilon is"):
        Guarantee.flat(relation=Relation.REPLACE, epsilon=wrong)
    with pytest.raises(ValueError, match="offset_m is"):
        Term(cap=Fraction(1), offset_m=wrong)


def test_it_is_a_frozen_value():
    with pytest.raises(FrozenInstanceError):
        FLAT.delta = Fraction(1)
    assert hash(FLAT) == hash(Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=Fraction(1, 10)))


def test_an_exchange_covers_a_record_without_check_ins():
    """At infinite distance: the caps, and the diameter for a term that has none."""
    capped, rising = (
        Term(cap=Fraction(9), alpha_per_m=Fraction(1, 100)),
        Term(cap=INFINITY, alpha_per_m=Fraction(1, 100)),
    )
    promise = Guarantee(
        relation=Relation.REPLACE, terms=(capped, rising, Term(cap=Fraction(5), alpha_per_m=Fraction(0)))
    )
    assert promise.loss(300) == 3 + 3
    assert promise.exchange_loss(300) == 9 + 3
    near = Guarantee(relation=Relation.REPLACE, terms=(capped,), max_distance_m=Fraction(299))
    assert near.exchange_loss(300) == INFINITY
    assert near.exchange_loss(299) == 9


# --- totals ----------------------------------------------------------------------------------------------


DISTANCES_M = (Fraction(1, 3), 1, 99, 100, 101, 600, 2350, 2351, 5000, 5001, 10**7, INFINITY)


def says_the_same(total, added):
    """The same promise at every distance, however many terms say so."""
    facts = ("relation", "delta", "trust", "max_distance_m", "simulated")
    left, left_added = total.if_shuffler_fails, added.if_shuffler_fails
    return (
        [getattr(total, name) for name in facts] == [getattr(added, name) for name in facts]
        and [total.loss(d) for d in DISTANCES_M] == [added.loss(d) for d in DISTANCES_M]
        and [total.exchange_loss(d) for d in DISTANCES_M[:-1]]
        == [added.exchange_loss(d) for d in DISTANCES_M[:-1]]
        and bool(total.terms) == bool(added.terms)
        and (left is None) == (left_added is None)
        and (left is None or left_added is None or says_the_same(left, left_added))
    )


slopes = st.sampled_from([Fraction(0), Fraction(1, 600), Fraction(1, 300), INFINITY])
alike_terms = st.builds(
    Term,
    cap=st.sampled_from([Fraction(0), Fraction(2), Fraction(4), Fraction(1, 7), INFINITY]),
    alpha_per_m=slopes,
    offset_m=st.sampled_from([Fraction(0), Fraction(50)]),
    step_m=st.sampled_from([Fraction(0), Fraction(100)]),
)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(guarantees(Relation.REPLACE), st.integers(1, 3)), min_size=1, max_size=4), st.data()
)
def test_a_total_is_what_adding_up_gives(counted, data):
    alike = st.lists(alike_terms, max_size=4).map(tuple)
    counted = [(replace(each, terms=data.draw(alike)), count) for each, count in counted]
    first, *rest = [each for each, count in counted for _ in range(count)]

    assert says_the_same(Guarantee.total(counted), sum(rest, start=first))


def test_a_total_has_a_term_a_shape():
    flat = [(Guarantee.flat(relation=Relation.REPLACE, epsilon=Fraction(1, n)), n) for n in range(1, 100)]
    double = replace(METRIC, terms=(replace(METRIC.terms[0], cap=Fraction(8), alpha_per_m=Fraction(1, 300)),))

    total = Guarantee.total([*flat, (METRIC, 3), (double, 1)])

    assert [term.cap for term in total.terms] == [99, 20]
    assert total.terms[1].alpha_per_m == Fraction(5, 600)


def test_a_total_needs_a_guarantee_and_one_relation():
    with pytest.raises(ValueError, match="counted has no guarantee"):
        Guarantee.total([])
    with pytest.raises(RelationMismatch):
        Guarantee.total([(FLAT, 1), (METRIC, 1)])
