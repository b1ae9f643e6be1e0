"""What a restored ledger does not know is charged, and nothing that was queued is drawn again."""

import json

import pytest
from django.db.models import F

from heatmaps.ledger import transitions
from heatmaps.ledger.amounts import LARGEST
from heatmaps.ledger.balances import balances
from heatmaps.ledger.errors import InvalidLimit
from heatmaps.ledger.verification import verify
from heatmaps.models import (
    AccountKind,
    Drawing,
    Event,
    Release,
    Restoration,
    RestoredCharge,
)
from heatmaps.record.hold import OnHold
from tests.conftest import drop_triggers
from tests.ledger.test_verification import rehash
from tests.services import draws

ONE = 10**12
PRESENCE, DELTA = AccountKind.PRESENCE, AccountKind.DELTA


def restore(dataset, charges=(), reason="the disk broke", **facts):
    unknown = transitions.Unknown(charges=dict(charges), other_copy="unknown", reason=reason, **facts)
    return transitions.restore(dataset, unknown)


def confirm(dataset):
    assert transitions.confirm(dataset, actor=dataset.created_by, opt_outs="entered again")


def account(dataset, kind=PRESENCE):
    return dataset.accounts.get(kind=kind)


def amounts(restoration):
    return dict(restoration.charges.values_list("account__kind", "amount"))


def assert_verifies(dataset):
    report = verify(dataset)
    assert report.ok, report.problem


@pytest.fixture
def dataset(make_dataset):
    """A limit of 10 on ε, and none on δ."""
    return make_dataset(delta=None)


@pytest.fixture
def lives(dataset, reserve):
    """A release in each state, one of ε 1 each; the one that is spent is being drawn."""
    made = {name: reserve(dataset) for name in ("published", "cancelled", "spent", "reserved")}
    transitions.spend(made["published"].pk)
    draws.publish(made["published"].pk)
    transitions.cancel(made["cancelled"].pk, actor=None)
    transitions.spend(made["spent"].pk)
    Drawing.objects.create(pk=made["spent"].pk, state="drawn", content=b"a map", sha256="0" * 64)
    return made


def test_it_ends_what_was_queued_and_keeps_its_charge(dataset, lives):
    before = account(dataset).committed
    restore(dataset, dict.fromkeys(AccountKind, 0))

    states = {name: Release.objects.get(pk=made.pk).state for name, made in lives.items()}
    assert states == {
        "published": "published",
        "cancelled": "cancelled",
        "spent": "failed",
        "reserved": "failed",
    }
    assert not Drawing.objects.exists()
    assert account(dataset).committed == before == 3 * ONE
    kinds = dict(
        Event.objects.filter(dataset=dataset, kind__in=["lose", "fail"]).values_list("kind", "release")
    )
    assert kinds == {"lose": lives["reserved"].pk, "fail": lives["spent"].pk}
    assert_verifies(dataset)


def test_it_draws_none_of_them_any_more(dataset, lives):
    restore(dataset)
    for name in ("spent", "reserved"):
        assert not transitions.spend(lives[name].pk)
        assert not transitions.cancel(lives[name].pk, actor=None)
    assert_verifies(dataset)


def test_it_charges_all_that_was_left_where_nothing_is_known(dataset, lives):
    restoration = restore(dataset)

    assert amounts(restoration)[PRESENCE] == 7 * ONE
    [balance] = [one for one in balances(dataset) if one.kind == PRESENCE]
    assert (balance.limit, balance.committed, balance.available) == (10 * ONE, 10 * ONE, 0)
    assert_verifies(dataset)


def test_it_charges_a_number(dataset, lives):
    restoration = restore(dataset, {PRESENCE: 2 * ONE})

    assert amounts(restoration)[PRESENCE] == 2 * ONE
    assert account(dataset).committed == 5 * ONE
    assert_verifies(dataset)


def test_it_raises_a_limit_that_what_is_recorded_passes(dataset, lives):
    """The limit was raised in the time that the backup does not know."""
    restore(dataset, {PRESENCE: 12 * ONE})

    assert (account(dataset).committed, account(dataset).limit) == (15 * ONE, 15 * ONE)
    assert_verifies(dataset)


def test_it_leaves_no_bound_where_there_is_no_limit(dataset, lives):
    restoration = restore(dataset)

    assert account(dataset, DELTA).limit is None
    assert amounts(restoration)[DELTA] is None
    assert account(dataset, DELTA).unbounded
    assert_verifies(dataset)


def test_it_lifts_a_limit_under_which_a_charge_has_no_bound(dataset, lives):
    """It was lifted in the time that the backup does not know: the record has such a charge."""
    restore(dataset, {PRESENCE: None})

    assert (account(dataset).limit, account(dataset).unbounded) == (None, True)
    assert_verifies(dataset)


def test_it_charges_what_an_account_can_count_at_most(dataset):
    restoration = restore(dataset, {DELTA: LARGEST + 1, PRESENCE: LARGEST + 1})

    assert amounts(restoration)[DELTA] is None
    assert amounts(restoration)[PRESENCE] == 10 * ONE
    assert_verifies(dataset)


def test_it_keeps_an_account_without_a_bound_when_a_later_charge_goes_back(dataset, reserve):
    restore(dataset, {PRESENCE: 0})
    confirm(dataset)
    release = reserve(dataset, 1, delta=None)
    assert transitions.cancel(release.pk, actor=None)

    assert account(dataset, DELTA).unbounded
    assert_verifies(dataset)


def test_it_asks_nothing_before_a_steward_confirmed(dataset, reserve):
    restore(dataset, {PRESENCE: 0})
    with pytest.raises(OnHold, match="until a steward confirmed"):
        reserve(dataset)
    confirm(dataset)
    assert not transitions.confirm(dataset, actor=dataset.created_by, opt_outs="entered again")
    reserve(dataset)
    assert_verifies(dataset)


def test_it_says_what_is_not_known(dataset, lives):
    latest = Event.objects.filter(dataset=dataset).latest("sequence")
    restoration = restore(dataset, {PRESENCE: ONE}, reason=" the disk broke ")

    event = Event.objects.get(dataset=dataset, kind="restored")
    before, after = json.loads(event.before), json.loads(event.after)
    assert 0 <= latest.at_microseconds - after["known_until"] < 60 * 10**6
    assert after["known_until"] % (60 * 10**6) == 0  # no moment of an event to anybody
    assert (after["other_copy"], after["reason"]) == ("unknown", "the disk broke")
    assert after["charges"]["presence"] == ONE
    assert after["charges"]["delta"] == "no bound"
    assert after["committed"]["presence"] - before["committed"]["presence"] == ONE
    assert (restoration.confirmed_at, restoration.confirmed_by) == (None, None)


def test_it_needs_a_reason(dataset):
    with pytest.raises(InvalidLimit):
        restore(dataset, reason=" ")
    assert not Restoration.objects.exists()


def test_it_restores_again_what_nobody_confirmed(dataset, lives, reserve):
    first = restore(dataset, {PRESENCE: ONE})
    second = restore(dataset, {PRESENCE: 2 * ONE})

    first.refresh_from_db()
    assert first.confirmed_at is not None
    assert second.known_until >= first.known_until
    assert account(dataset).committed == 6 * ONE
    assert_verifies(dataset)
    confirm(dataset)
    reserve(dataset)
    third = restore(dataset)
    assert amounts(third)[PRESENCE] == 3 * ONE
    assert_verifies(dataset)


def test_it_restores_every_dataset_alone(make_dataset, reserve):
    other = make_dataset("other")
    restore(make_dataset())
    reserve(other, ONE)
    assert_verifies(other)


FORGERIES = {
    "the account's balance": lambda dataset: dataset.accounts.filter(kind=PRESENCE).update(
        committed=F("committed") - ONE
    ),
    "the account's bound": lambda dataset: dataset.accounts.filter(kind=DELTA).update(unbounded=False),
    "the account's limit": lambda dataset: dataset.accounts.filter(kind=PRESENCE).update(limit=20 * ONE),
    "the charge": lambda dataset: RestoredCharge.objects.filter(account__kind=PRESENCE).update(amount=ONE),
    "the charge's row": lambda dataset: RestoredCharge.objects.filter(account__kind=PRESENCE).delete(),
    "its moment": lambda dataset: dataset.restorations.update(known_until=F("resumed_at")),
    "the confirmation": lambda dataset: dataset.restorations.update(confirmed_at=F("resumed_at")),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_it_finds_a_changed_row(dataset, lives, forge):
    restore(dataset)
    assert_verifies(dataset)
    forge(dataset)
    assert not verify(dataset).ok


def smaller_charge(event):
    after = json.loads(event.after)
    after["charges"]["presence"] -= ONE
    return after


def smaller_everywhere(event):
    after = smaller_charge(event)
    after["committed"]["presence"] -= ONE
    return after


@pytest.mark.parametrize("forged", [smaller_charge, smaller_everywhere])
def test_it_finds_a_changed_event(dataset, lives, forged):
    """Also where every hash after it was made to fit."""
    drop_triggers()
    restore(dataset)
    event = Event.objects.get(dataset=dataset, kind="restored")
    event.after = json.dumps(forged(event), sort_keys=True, separators=(",", ":"))
    event.save()
    assert verify(dataset).first_bad_sequence == event.sequence
    rehash(dataset, event.sequence)
    assert not verify(dataset).ok


def test_it_finds_an_event_that_is_gone(dataset, lives):
    drop_triggers()
    restore(dataset)
    last = Event.objects.filter(dataset=dataset).latest("sequence")
    assert last.kind == "restored"
    last.delete()
    rehash(dataset, last.sequence - 1)
    assert not verify(dataset).ok


def test_it_finds_a_question_before_the_confirmation(dataset, reserve):
    """A row that says a steward confirmed, and no event of it."""
    restore(dataset, {PRESENCE: 0})
    dataset.restorations.update(confirmed_at=F("resumed_at"))
    reserve(dataset)
    assert "nobody confirmed" in verify(dataset).problem


def test_it_finds_a_confirmation_of_nothing(dataset):
    drop_triggers()
    restore(dataset)
    confirm(dataset)
    events = Event.objects.filter(dataset=dataset)
    events.filter(kind="restored").update(kind="member")
    rehash(dataset, events.get(kind="member").sequence)
    assert "confirms what was not restored" in verify(dataset).problem
