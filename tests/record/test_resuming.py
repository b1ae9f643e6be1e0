"""After a restore nothing that was ended comes back, and what cannot be known is charged."""

from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from heatmaps.ingest import opt_outs
from heatmaps.ledger import transitions
from heatmaps.ledger.errors import InvalidLimit
from heatmaps.ledger.verification import verify
from heatmaps.management import resuming
from heatmaps.management.resuming import OtherCopy, Statement
from heatmaps.models import (
    AccountKind,
    ApiToken,
    Dataset,
    Election,
    Event,
    HoldCause,
    Invitation,
    Release,
    Restoration,
    Suppression,
)
from heatmaps.people import password_links
from heatmaps.record import elections, hold
from heatmaps.record.hold import OnHold
from heatmaps.record.journal import opened
from heatmaps.releases import lifecycle, publication
from mechanisms.guarantee import Relation
from tests.services.draws import carry_out
from tests.triggers import disabled

ONE = 10**12


@pytest.fixture
def administrator(db):
    return User.objects.create_superuser("administrator", password="a long one 1")


@pytest.fixture
def restored(dataset, administrator):
    hold.put(HoldCause.RESTORED)
    return dataset


def resume(*, other_copy=OtherCopy.STOPPED, **charges):
    named = {("city", AccountKind(kind)): amount for kind, amount in charges.items()}
    return resuming.restored(Statement(reason="the disk broke", other_copy=other_copy, charges=named))


def account(dataset, kind="presence"):
    return dataset.accounts.get(kind=kind)


def lose_an_election(dataset, units):
    """As if this server had drawn once more after the backup."""
    [folder] = elections.folders()
    charges = {str(account(dataset).pk): units}
    with opened(folder / elections.FILE) as journal:
        journal.append(
            {"kind": "intent", "id": "1" * 32, "release": "2" * 32, "charges": charges, "at": "later"},
            {"kind": "done", "id": "1" * 32},
        )


def test_it_charges_exactly_what_the_record_has_and_the_database_lacks(dataset, administrator, analyst, ask):
    carry_out(lifecycle.request_release(analyst, dataset, ask()).pk)
    lose_an_election(dataset, ONE // 8)
    with pytest.raises(OnHold):
        elections.look()
    assert resume().knows_charges
    assert account(dataset).committed == ONE // 2 + ONE // 8
    assert verify(dataset).ok


def test_a_charge_of_more_than_was_left_raises_a_limit_that_must_have_been_higher(restored):
    elections.go_on(forget=False)
    lose_an_election(restored, 5 * ONE)
    resume()
    assert (account(restored).committed, account(restored).limit) == (5 * ONE, 5 * ONE)
    assert verify(restored).ok


def test_it_charges_all_that_was_left_where_the_other_copy_may_run(restored, analyst, ask):
    elections.go_on(forget=False)
    assert not resume(other_copy=OtherCopy.UNKNOWN).knows_charges
    assert account(restored).committed == account(restored).limit == 2 * ONE
    assert verify(restored).ok


def test_it_charges_all_that_was_left_without_a_record(restored):
    resume()
    assert account(restored).committed == 2 * ONE


def test_it_charges_all_that_was_left_where_another_machine_draws_too(restored):
    elections.go_on(forget=False)
    Election.objects.create(recorder="3" * 32)
    assert not resume().knows_charges


def test_it_charges_the_operators_number(restored):
    resume(presence=ONE // 4)
    assert account(restored).committed == ONE // 4
    event = Event.objects.get(kind="restored")
    assert '"reason":"the disk broke"' in event.after
    assert '"other_copy":"stopped"' in event.after


def test_there_is_no_bound_where_an_account_has_no_limit(make_dataset, administrator):
    made = make_dataset("city", Relation.REPLACE)
    hold.put(HoldCause.RESTORED)
    resume()
    assert account(made, "radius").unbounded
    assert verify(made).ok


def test_an_unknown_account_is_refused_before_anything_is_done(restored):
    with pytest.raises(resuming.CannotResume, match="city:record"):
        resume(record=ONE)
    assert not Restoration.objects.exists()


def test_a_reason_is_needed(restored):
    with pytest.raises(InvalidLimit):
        resuming.restored(Statement(reason=" ", other_copy=OtherCopy.STOPPED))


def test_what_was_queued_ends_without_a_result_and_keeps_its_charge(restored, analyst, ask):
    hold.Installation.objects.update(held_since=None, hold_cause="")
    release = lifecycle.request_release(analyst, restored, ask())
    hold.put(HoldCause.RESTORED)
    resume(presence=0)
    assert Release.objects.get(pk=release.pk).state == "failed"
    assert account(restored).committed == ONE // 2
    assert verify(restored).ok


def test_nothing_that_let_somebody_in_does_so_again(restored, administrator, steward, client):
    steward.set_password("a long one 2")
    steward.save()
    client.force_login(steward)
    _, token = ApiToken.objects.create(user=steward, expiry=None, name="a", scopes=["read"])
    link = password_links.new_secret(steward)
    RecoveryCodes.activate(steward)
    week = timezone.now() + timedelta(days=7)
    invitation = Invitation.objects.create(
        digest="a" * 64, dataset=restored, role="analyst", made_by=steward, expires_at=week
    )
    told = resume()
    assert client.get("/account/").status_code == 302
    header = {"HTTP_AUTHORIZATION": f"Bearer {token}"}
    assert Client().get("/api/v1/datasets/", **header).status_code == 401
    with pytest.raises(password_links.LinkDead):
        password_links.account_of(link)
    assert not Authenticator.objects.exists()
    invitation.refresh_from_db()
    assert invitation.revoked_at is not None
    assert not any(user.has_usable_password() for user in User.objects.all())
    assert told.administrator == "administrator"
    assert client.get(told.link).status_code == 200


def test_nothing_is_public_and_no_website_shows_it(restored, steward, analyst, ask):
    hold.Installation.objects.update(held_since=None, hold_cause="")
    release = lifecycle.request_release(analyst, restored, ask())
    carry_out(release.pk)
    publication.set_public(steward, release, public=True)
    Dataset.objects.update(embed_origins=["https://news.example"])
    hold.put(HoldCause.RESTORED)
    resume()
    assert not publication.is_public(release.pk)
    restored.refresh_from_db()
    assert restored.embed_origins == []
    assert verify(restored).ok


def left_out(dataset):
    return set(Suppression.open_of(dataset).values_list("person", "person_rest"))


def test_opt_outs_come_back_from_the_record(restored, steward):
    elections.go_on(forget=False)
    opt_outs.opt_out(steward, restored, ["ann", "bob", "cat"])
    opt_outs.take_back(steward, restored, ["cat"])
    before = left_out(restored)
    with disabled():
        Suppression.objects.order_by("-pk")._raw_delete("default")
    resume()
    assert left_out(restored) == before
    assert Restoration.objects.get().opt_outs_replayed


def test_without_a_record_nobody_says_that_opt_outs_came_back(restored):
    resume()
    assert not Restoration.objects.get().opt_outs_replayed


def test_nothing_can_be_asked_until_a_steward_confirmed(restored, steward, ask):
    resume(presence=0)
    with pytest.raises(OnHold, match="until a steward confirmed"):
        lifecycle.request_release(steward, restored, ask())
    transitions.confirm(restored, actor=steward, opt_outs="entered again by a steward")
    carry_out(lifecycle.request_release(steward, restored, ask()).pk)
    assert Release.objects.get().state == "published"


def test_without_an_administrator_nothing_is_done(dataset):
    hold.put(HoldCause.RESTORED)
    with pytest.raises(resuming.CannotResume, match="administrator"):
        resume()
    assert hold.cause() == HoldCause.RESTORED


@pytest.mark.parametrize("answer", ["no", "", "yes!"])
def test_the_command_goes_on_only_where_the_other_copy_is_accounted_for(restored, monkeypatch, answer):
    monkeypatch.setattr("builtins.input", lambda _question: answer)
    with pytest.raises(CommandError, match="stop the other server first"):
        call_command("resume", "--reason", "x")
    assert hold.cause() == HoldCause.RESTORED


@pytest.mark.parametrize(
    "text", ["city", "city:presence=-1", "city:tea=1", "city:presence=1/0", ":presence=1"]
)
def test_the_command_refuses_a_charge(restored, text):
    with pytest.raises(CommandError, match="charge"):
        call_command("resume", "--reason", "x", "--other-copy", "stopped", "--charge", text)
