"""Charges against limits, and changes of limits."""

import json

import pytest

from heatmaps.ledger import transitions
from heatmaps.ledger.amounts import LARGEST
from heatmaps.ledger.balances import balances
from heatmaps.ledger.errors import BudgetExceeded, InvalidLimit, LimitMoved, UnboundedCharge
from heatmaps.ledger.transitions import reserving
from heatmaps.ledger.verification import verify
from heatmaps.models import Account, Charge, Event, Release
from mechanisms.guarantee import Relation
from tests.services import draws

ONE = 10**12


@pytest.fixture
def metric(make_dataset):
    """A dataset under replace where the whole record is tracked without a limit."""
    return make_dataset("metric", Relation.REPLACE, record=None)


def presence(dataset):
    return next(balance for balance in balances(dataset) if balance.kind == "presence")


def test_it_grants_a_limit_to_the_last_unit(make_dataset, reserve):
    dataset = make_dataset(presence=3 * ONE)
    for _ in range(2):
        reserve(dataset, ONE)
    with pytest.raises(BudgetExceeded):
        reserve(dataset, ONE + 1)
    reserve(dataset, ONE)
    assert presence(dataset).available == 0


def test_it_grants_three_tenths_of_three_tenths(make_dataset, reserve):
    # With binary fractions 0.1 + 0.1 + 0.1 > 0.3, and the third release would be refused.
    dataset = make_dataset(presence=3 * ONE // 10)
    for _ in range(3):
        reserve(dataset, ONE // 10)
    assert presence(dataset).available == 0


def test_it_lets_the_update_decide_and_not_what_was_read_before(dataset, reserve, monkeypatch):
    """As if somebody else's charge had come between reading the accounts and writing them."""
    stale = list(dataset.accounts.order_by("pk"))
    reserve(dataset, 10 * ONE)
    monkeypatch.setattr(reserving, "locked_accounts", lambda _dataset: stale)
    with pytest.raises(BudgetExceeded):
        reserve(dataset, ONE)
    assert dataset.accounts.get(kind="presence").committed == 10 * ONE


def test_it_says_what_was_asked_what_is_left_and_what_is_held(dataset, reserve):
    first = reserve(dataset, 2 * ONE)
    reserve(dataset, 5 * ONE)
    transitions.spend(first.pk)
    draws.fail(first.pk)
    with pytest.raises(BudgetExceeded) as caught:
        reserve(dataset, 4 * ONE)
    error = caught.value
    assert error.code == "budget_exceeded"
    assert error.account_kind == "presence"
    assert (error.requested, error.available, error.reserved) == (4 * ONE, 3 * ONE, 5 * ONE)
    assert "4 of presence (ε), 3 is left (5 is held" in str(error)


def test_it_writes_nothing_when_one_of_several_accounts_is_short(make_dataset, reserve):
    dataset = make_dataset("metric", Relation.REPLACE, radius=ONE, delta=0)
    events = Event.objects.count()
    with pytest.raises(BudgetExceeded):
        reserve(dataset, ONE, delta=1)
    assert [account.committed for account in dataset.accounts.all()] == [0, 0, 0]
    assert (Release.objects.count(), Charge.objects.count(), Event.objects.count()) == (0, 0, events)


def test_it_keeps_queued_and_finished_apart(dataset, reserve):
    first, second = reserve(dataset, ONE), reserve(dataset, 2 * ONE)
    transitions.spend(first.pk)
    assert presence(dataset).reserved == 3 * ONE  # that its draw began is nobody's business
    draws.fail(first.pk)
    now = presence(dataset)
    assert (now.reserved, now.committed, now.available) == (2 * ONE, 3 * ONE, 7 * ONE)
    transitions.cancel(second.pk, actor=None)
    now = presence(dataset)
    assert (now.reserved, now.committed, now.available) == (0, ONE, 9 * ONE)


def test_it_refuses_a_charge_without_bound_where_there_is_a_limit(dataset, reserve):
    with pytest.raises(UnboundedCharge):
        reserve(dataset, None)
    assert not Release.objects.exists()


def test_it_tracks_a_charge_without_bound_where_there_is_no_limit(metric, reserve):
    release = reserve(metric, ONE, record=None)
    record = balances(metric)[0]
    assert (record.kind, record.unbounded, record.available) == ("record", True, None)
    assert json.loads(metric.events.get(kind="reserve").after)["charges"]["record"] == "no bound"
    assert verify(metric).ok
    transitions.cancel(release.pk, actor=None)
    assert not balances(metric)[0].unbounded
    assert verify(metric).ok


def test_it_stays_without_bound_while_another_such_charge_is_there(metric, reserve):
    first, second = reserve(metric, 0, record=None), reserve(metric, 0, record=None)
    transitions.cancel(first.pk, actor=None)
    assert balances(metric)[0].unbounded
    transitions.cancel(second.pk, actor=None)
    assert not balances(metric)[0].unbounded


def test_it_calls_a_sum_that_no_longer_fits_unbounded(metric, reserve):
    reserve(metric, 0, record=LARGEST)
    reserve(metric, 0, record=1)
    assert (balances(metric)[0].committed, balances(metric)[0].unbounded) == (LARGEST, True)
    assert verify(metric).ok


@pytest.mark.parametrize("amount", [-1, LARGEST + 1])
def test_it_refuses_amounts_that_no_account_holds(dataset, reserve, amount):
    with pytest.raises(ValueError, match="a charge is"):
        reserve(dataset, amount)


def test_it_refuses_charges_to_other_accounts(dataset, new_release, steward):
    with pytest.raises(ValueError, match="exactly the accounts"):
        transitions.reserve(new_release(dataset), {"presence": 0}, actor=steward)


@pytest.mark.parametrize(
    ("relation", "limits"),
    [
        (Relation.ADD_REMOVE, {"presence": None}),
        (Relation.REPLACE, {"record": None, "radius": None}),
        (Relation.ADD_REMOVE, {"record": ONE}),
        (Relation.ADD_REMOVE, {"presence": -1}),
        (Relation.ADD_REMOVE, {"presence": LARGEST + 1}),
    ],
)
def test_it_opens_no_ledger_with_such_limits(make_dataset, relation, limits):
    with pytest.raises(InvalidLimit):
        make_dataset("other", relation, **limits)


def change(dataset, limit, kind="presence", **options):
    account = dataset.accounts.get(kind=kind)
    named = {"reason": "the board agreed", "actor": dataset.created_by} | options
    transitions.change_limit(account, limit, **named)


def test_it_changes_a_limit_with_a_reason(dataset):
    change(dataset, 12 * ONE, reason=" the board agreed ")
    assert presence(dataset).limit == 12 * ONE
    event = dataset.events.get(kind="limit")
    assert event.actor == dataset.created_by
    assert json.loads(event.before) == {"limits": {"presence": 10 * ONE}}
    assert json.loads(event.after) == {"limits": {"presence": 12 * ONE}, "reason": "the board agreed"}
    assert verify(dataset).ok


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
def test_it_changes_no_limit_without_a_reason(dataset, reason):
    with pytest.raises(InvalidLimit) as caught:
        change(dataset, 12 * ONE, reason=reason)
    assert caught.value.field == "reason"
    assert presence(dataset).limit == 10 * ONE


def test_it_sets_a_limit_down_to_what_is_committed_and_no_further(dataset, reserve):
    reserve(dataset, ONE)
    with pytest.raises(InvalidLimit, match="committed"):
        change(dataset, ONE - 1)
    assert presence(dataset).limit == 10 * ONE
    change(dataset, ONE)
    assert presence(dataset).available == 0


def test_it_changes_a_limit_only_from_the_value_that_was_seen(dataset):
    change(dataset, 11 * ONE, expected=10 * ONE)
    with pytest.raises(LimitMoved) as caught:
        change(dataset, 12 * ONE, expected=10 * ONE)
    assert caught.value.current == 11 * ONE
    assert presence(dataset).limit == 11 * ONE


def test_it_keeps_a_limit_on_some_account(metric, dataset):
    with pytest.raises(InvalidLimit, match="at least one"):
        change(dataset, None)
    with pytest.raises(InvalidLimit, match="at least one"):
        change(metric, None, kind="radius")
    assert Account.objects.get(dataset=metric, kind="radius").limit == 10 * ONE
    change(metric, 20 * ONE, kind="record")
    change(metric, None, kind="radius", expected=10 * ONE)
    assert verify(metric).ok


def test_it_limits_no_account_that_has_no_bound(metric, reserve):
    reserve(metric, 0, record=None)
    with pytest.raises(InvalidLimit, match="committed"):
        change(metric, LARGEST, kind="record")
