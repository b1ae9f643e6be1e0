"""Amounts: rounded up, exact, and charged to the accounts of the relation."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heatmaps.ledger.amounts import ACCOUNTS, LARGEST, as_decimal, charges, units_per_one, units_up
from heatmaps.models import AccountKind
from mechanisms.guarantee import INFINITY, Guarantee, Relation, RelationMismatch, Term

PRESENCE, RECORD, RADIUS, DELTA = (AccountKind(kind) for kind in ("presence", "record", "radius", "delta"))


def charged(guarantee, radius_m=None, diameter_m=1000.0):
    return charges(relation=guarantee.relation, radius_m=radius_m, guarantee=guarantee, diameter_m=diameter_m)


@given(st.fractions(min_value=0, max_value=100), st.sampled_from(AccountKind))
@settings(derandomize=True)
def test_it_never_rounds_down_and_by_less_than_a_unit(amount, kind):
    units = units_up(amount, kind)
    assert 0 <= units - amount * units_per_one(kind) < 1


def test_it_refuses_negative_amounts():
    with pytest.raises(ValueError, match="at least 0"):
        units_up(Fraction(-1, 10**30), PRESENCE)


@pytest.mark.parametrize(
    ("units", "kind", "text"),
    [
        (0, PRESENCE, "0"),
        (1, PRESENCE, "0.000000000001"),
        (10**12, PRESENCE, "1"),
        (1_500_000_000_000, RECORD, "1.5"),
        (10**13, RADIUS, "10"),
        (1, DELTA, "0.000000000000000001"),
        (10**18, DELTA, "1"),
        (-500_000_000_000, PRESENCE, "-0.5"),
    ],
)
def test_it_shows_amounts_exactly(units, kind, text):
    assert as_decimal(units, kind) == text


@given(st.integers(0, LARGEST), st.sampled_from(AccountKind))
@settings(derandomize=True)
def test_it_shows_a_text_that_reads_back_to_the_same_units(units, kind):
    assert Fraction(as_decimal(units, kind)) * units_per_one(kind) == units


def test_it_charges_the_presence_of_a_person():
    guarantee = Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=Fraction(1, 3), delta=Fraction(1, 10**6))
    assert charged(guarantee) == {PRESENCE: 333_333_333_334, DELTA: 10**12}


def test_it_charges_a_flat_loss_to_record_and_radius_alike():
    guarantee = Guarantee.flat(relation=Relation.REPLACE, epsilon=Fraction(2))
    assert charged(guarantee, radius_m=500) == {RECORD: 2 * 10**12, RADIUS: 2 * 10**12, DELTA: 0}


def test_it_charges_a_metric_loss_at_the_diameter_and_at_the_radius():
    term = Term(cap=INFINITY, alpha_per_m=Fraction(1, 500))
    guarantee = Guarantee(relation=Relation.REPLACE, terms=(term,))
    amounts = charged(guarantee, radius_m=500, diameter_m=999.5)
    assert amounts == {RECORD: 2 * 10**12, RADIUS: 10**12, DELTA: 0}


def test_it_charges_a_whole_diameter_even_when_its_float_was_rounded_down():
    term = Term(cap=INFINITY, alpha_per_m=Fraction(1))
    guarantee = Guarantee(relation=Relation.REPLACE, terms=(term,))
    assert charged(guarantee, radius_m=1, diameter_m=1000.0)[RECORD] > 1000 * 10**12


def test_it_has_no_bound_beyond_the_distance_that_is_promised():
    term = Term(cap=Fraction(1), alpha_per_m=Fraction(1, 500))
    guarantee = Guarantee(relation=Relation.REPLACE, terms=(term,), max_distance_m=Fraction(600))
    assert charged(guarantee, radius_m=500) == {RECORD: None, RADIUS: 10**12, DELTA: 0}


def test_it_has_no_bound_where_a_charge_is_larger_than_an_account_can_count():
    guarantee = Guarantee.flat(relation=Relation.ADD_REMOVE, epsilon=Fraction(LARGEST + 1, 10**12))
    assert charged(guarantee)[PRESENCE] is None


def test_it_charges_the_accounts_of_the_relation():
    for relation in Relation:
        guarantee = Guarantee.flat(relation=relation, epsilon=1)
        assert tuple(charged(guarantee, radius_m=1)) == ACCOUNTS[relation]


def test_it_refuses_a_guarantee_under_the_other_relation():
    guarantee = Guarantee.flat(relation=Relation.REPLACE, epsilon=1)
    with pytest.raises(RelationMismatch):
        charges(relation=Relation.ADD_REMOVE, radius_m=None, guarantee=guarantee, diameter_m=1.0)
    with pytest.raises(ValueError, match="radius_m"):
        charged(guarantee)
