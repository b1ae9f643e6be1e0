"""What one person may take: refused in the same transaction, given back, and recomputed from events."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from heatmaps.ledger import transitions
from heatmaps.ledger.errors import (
    AllowanceExceeded,
    BudgetExceeded,
    InvalidLimit,
    Overtaken,
    UnboundedCharge,
)
from heatmaps.ledger.facts import FOLLOWS_DEFAULT
from heatmaps.ledger.verification import verify
from heatmaps.models import Account, Allowance, Charge, Release, RequestKey
from mechanisms.guarantee import Relation
from tests.services import draws

ONE = 10**12


@pytest.fixture
def allow(steward):
    """Sets an allowance on the presence account."""

    def set_to(dataset, person, units, kind="presence"):
        account = dataset.accounts.get(kind=kind)
        transitions.change_allowance(account, person, units, actor=steward, reason="a share each")

    return set_to


def taken(dataset, person):
    row = Allowance.objects.get(account__dataset=dataset, account__kind="presence", person=person)
    return row.committed


def untouched(dataset):
    return (
        dataset.events.count(),
        list(dataset.accounts.values_list("committed", flat=True)),
        Release.objects.count(),
        Charge.objects.count(),
    )


def test_it_grants_an_allowance_to_the_last_unit(dataset, reserve, steward, allow):
    allow(dataset, steward, 3 * ONE)
    reserve(dataset, 2 * ONE)
    before = untouched(dataset)
    with pytest.raises(AllowanceExceeded) as caught:
        reserve(dataset, ONE + 1)
    assert (caught.value.requested, caught.value.available) == (ONE + 1, ONE)
    assert untouched(dataset) == before
    reserve(dataset, ONE)
    assert taken(dataset, steward) == 3 * ONE
    assert verify(dataset).ok


def test_it_holds_everybody_to_the_default_but_who_has_an_own_one(dataset, reserve, steward, allow):
    allow(dataset, None, ONE)
    reserve(dataset, ONE)
    with pytest.raises(AllowanceExceeded):
        reserve(dataset, 1)
    allow(dataset, steward, None)
    reserve(dataset, ONE)
    allow(dataset, steward, FOLLOWS_DEFAULT)
    with pytest.raises(AllowanceExceeded) as caught:
        reserve(dataset, 1)
    assert caught.value.available == 0  # more was taken: never below nothing
    allow(dataset, None, None)
    reserve(dataset, ONE)
    assert verify(dataset).ok


def test_it_counts_each_person_for_himself(dataset, new_release, allow):
    ann, bob = (User.objects.create_user(name) for name in ("ann", "bob"))
    allow(dataset, None, ONE)
    for person in (ann, bob):
        release = new_release(dataset)
        release.requested_by = person
        transitions.reserve(release, {"presence": ONE, "delta": 0}, actor=person)
    assert (taken(dataset, ann), taken(dataset, bob)) == (ONE, ONE)
    assert verify(dataset).ok


def test_it_gives_an_allowance_back_by_cancelling_alone(dataset, reserve, steward, allow):
    allow(dataset, steward, 2 * ONE)
    cancelled, failed = reserve(dataset, ONE), reserve(dataset, ONE)
    transitions.cancel(cancelled.pk, actor=None)
    transitions.spend(failed.pk)
    draws.fail(failed.pk)
    assert taken(dataset, steward) == ONE
    assert verify(dataset).ok


def test_a_limit_holds_whatever_is_allowed(make_dataset, reserve, steward, allow):
    dataset = make_dataset(presence=ONE)
    allow(dataset, steward, 5 * ONE)
    with pytest.raises(BudgetExceeded):
        reserve(dataset, 2 * ONE)


def test_a_charge_without_a_bound_fits_no_allowance(make_dataset, reserve, steward, allow):
    dataset = make_dataset("metric", Relation.REPLACE, record=None)
    reserve(dataset, record=None)
    allow(dataset, steward, 5 * ONE, kind="record")
    with pytest.raises(UnboundedCharge):
        reserve(dataset, record=None)
    assert verify(dataset).ok


def test_a_charge_of_nothing_always_fits(dataset, reserve, steward, allow):
    reserve(dataset, ONE)
    allow(dataset, steward, 0)
    reserve(dataset, 0)
    with pytest.raises(AllowanceExceeded):
        reserve(dataset, 1)
    assert verify(dataset).ok


@pytest.mark.parametrize(("units", "reason"), [(-1, "x"), (2**62 + 1, "x"), (1, " "), (1, "x" * 501)])
def test_it_refuses_what_is_no_allowance(dataset, steward, units, reason):
    with pytest.raises(InvalidLimit):
        transitions.change_allowance(dataset.accounts.first(), steward, units, actor=steward, reason=reason)
    assert not Allowance.objects.exists()


@pytest.mark.parametrize("change", [{"committed": 1}, {"follows_default": False, "limit": 9}])
def test_it_finds_an_edited_allowance(dataset, reserve, steward, change):
    reserve(dataset)
    Allowance.objects.filter(account__kind="presence", person=steward).update(**change)
    assert "the allowance of" in verify(dataset).problem


def test_it_finds_an_edited_default_and_a_missing_row(dataset, reserve, steward, allow):
    allow(dataset, None, 5 * ONE)
    reserve(dataset)
    Allowance.objects.filter(account__kind="presence", person=None).update(limit=6 * ONE)
    assert "the allowance of everybody" in verify(dataset).problem
    Allowance.objects.filter(account__kind="presence", person=None).update(limit=5 * ONE)
    assert verify(dataset).ok
    Allowance.objects.filter(account__kind="presence", person=steward).delete()
    assert "the allowance of" in verify(dataset).problem


def test_it_does_not_spend_an_expired_reservation(dataset, reserve):
    release = reserve(dataset)
    Release.objects.filter(pk=release.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert transitions.spend(release.pk) is False
    release.refresh_from_db()
    assert release.state == "reserved"
    assert dataset.events.filter(kind="spend").count() == 0
    assert transitions.cancel(release.pk, actor=None)
    assert dataset.accounts.get(kind="presence").committed == 0


@pytest.mark.unguarded
def test_it_reserves_nothing_that_was_answered_meanwhile(dataset, new_release, steward, add_version):
    charges = {"presence": ONE, "delta": 0}

    def ask(release, key=None):
        return transitions.reserve(release, charges, actor=steward, key=key, unless_answered=True)

    first = ask(new_release(dataset), key="k")
    assert RequestKey.objects.get(key="k").release_id == first.pk
    with pytest.raises(Overtaken):
        ask(new_release(dataset), key="k")
    Release.objects.filter(pk=first.pk).update(state="published")
    with pytest.raises(Overtaken):
        ask(new_release(dataset))
    ask(new_release(dataset, question="b" * 64))
    stale = new_release(dataset, question="c" * 64)
    add_version(dataset)
    with pytest.raises(Overtaken):
        ask(stale)
    assert Account.objects.get(dataset=dataset, kind="presence").committed == 2 * ONE
