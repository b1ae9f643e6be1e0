"""Links that work once: what they are good for, and when they are no more."""

import hashlib
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils import timezone

from heatmaps.models import Invitation
from heatmaps.people import accounts, invitations, members, permissions
from heatmaps.people.invitations import NoSuchLink
from heatmaps.people.members import AlreadyMember
from mechanisms.check import ParameterError

PASSWORD = "grass grows by inches"


@pytest.fixture
def invited(steward, dataset):
    return invitations.invite(steward, dataset, "analyst")


def test_it_makes_a_member_once(invited, people, dataset, events):
    stranger = people["stranger"]

    assert invitations.accept(stranger, invited.secret) == dataset

    assert permissions.roles(stranger, dataset) == {"analyst"}
    kind, actor, _, after = events()[0]
    assert (kind, actor) == ("member", "stranger")
    assert f'"invited_by":{people["steward"].pk}' in after
    for person in (stranger, people["administrator"]):
        with pytest.raises(NoSuchLink):
            invitations.accept(person, invited.secret)


def test_it_stores_a_digest_only(invited):
    row = Invitation.objects.values().get()

    assert row["digest"] == hashlib.sha256(invited.secret.encode()).hexdigest()
    assert invited.secret not in str(row)
    assert invited.secret not in repr(invited)
    assert len(invited.secret) >= 43  # 256 bits in base64


@pytest.fixture
def spoil(invited, people, dataset, second, member_of):
    """What somebody holds whose link does not work."""

    def make(way):
        steward, secret = people["steward"], invited.secret
        if way == "unknown":
            secret = "x" * 43
        elif way == "used":
            invitations.accept(people["administrator"], secret)
        elif way == "expired":
            Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        elif way == "revoked":
            invitations.revoke(steward, dataset, invited.row.pk)
        elif way == "inviter left":
            members.change_role(second, member_of(steward), "analyst")
        else:
            accounts.close(people["administrator"], steward)
        return secret

    return make


@pytest.mark.parametrize("way", ["unknown", "used", "expired", "revoked", "inviter left", "inviter closed"])
def test_all_links_that_do_not_work_are_the_same(way, spoil, client_of):
    secret = spoil(way)
    newcomer = User.objects.create_user("newcomer")

    with pytest.raises(NoSuchLink):
        invitations.accept(newcomer, secret)
    with pytest.raises(NoSuchLink):
        invitations.sign_up(secret, "another", PASSWORD)
    answer = client_of("anonymous").get(f"/invitations/{secret}/")
    nowhere = client_of("anonymous").get("/invitations/nowhere/")
    assert answer.status_code == nowhere.status_code == 404
    assert plain(answer) == plain(nowhere)
    assert not User.objects.filter(username="another").exists()


def plain(answer):
    page = answer.content.decode()
    return page[page.index("<main") : page.index("</main>")]


def test_it_expires_after_a_week(invited):
    left = invited.row.expires_at - timezone.now()

    assert timedelta(days=6, hours=23) < left <= timedelta(days=7)


def test_a_member_keeps_role_and_link(invited, people):
    with pytest.raises(AlreadyMember):
        invitations.accept(people["auditor"], invited.secret)

    assert invitations.invitation(invited.secret) == invited.row


def test_it_makes_accounts_unless_an_administrator_forbade_that(invited, administrator, dataset):
    accounts.allow_sign_up(administrator, allowed=False)
    with pytest.raises(PermissionDenied):
        invitations.sign_up(invited.secret, "newcomer", PASSWORD)
    assert not User.objects.filter(username="newcomer").exists()
    accounts.allow_sign_up(administrator, allowed=True)

    made = invitations.sign_up(invited.secret, "newcomer", PASSWORD)

    assert made.check_password(PASSWORD)
    assert permissions.roles(made, dataset) == {"analyst"}
    assert not permissions.may_create_datasets(made)
    with pytest.raises(NoSuchLink):
        invitations.sign_up(invited.secret, "another", PASSWORD)


def test_a_stewards_invitation_alone_brings_a_new_person_in(invited, client_of, dataset):
    browser = client_of("anonymous")
    address = f"/invitations/{invited.secret}/"
    assert browser.get(address).context["form"] is not None
    typed = {"username": "newcomer", "password1": PASSWORD, "password2": PASSWORD}

    answer = browser.post(address, typed, follow=True)

    assert answer.redirect_chain[-1][0] == f"/datasets/{dataset.slug}/"
    assert answer.status_code == 200
    assert client_of("anonymous").get(address).status_code == 404


@pytest.mark.parametrize("allowed", [True, False])
def test_administrators_invite_to_the_installation(administrator, people, allowed):
    link = invitations.invite_to_installation(administrator, may_create_datasets=allowed)
    with pytest.raises(PermissionDenied):
        invitations.accept(people["stranger"], link.secret)

    made = invitations.sign_up(link.secret, "newcomer", PASSWORD)

    assert permissions.may_create_datasets(made) is allowed
    assert not made.memberships.exists()
    assert not made.is_staff
    with pytest.raises(PermissionDenied):
        invitations.invite_to_installation(people["steward"], may_create_datasets=True)


def test_only_those_who_manage_members_invite(people, dataset, invited):
    for name in ("analyst", "auditor"):
        with pytest.raises(PermissionDenied):
            invitations.invite(people[name], dataset, "analyst")
        with pytest.raises(PermissionDenied):
            invitations.revoke(people[name], dataset, invited.row.pk)
    with pytest.raises(Http404):
        invitations.invite(people["stranger"], dataset, "analyst")


def test_an_administrators_invitation_of_a_steward_carries_its_reason(administrator, people, dataset, events):
    with pytest.raises(ParameterError, match="reason"):
        invitations.invite(administrator, dataset, "steward")
    link = invitations.invite(administrator, dataset, "steward", reason="nobody is left")

    invitations.accept(people["stranger"], link.secret)

    assert '"reason":"nobody is left"' in events()[0][3]


def test_an_invitation_of_stewards_ends_when_its_maker_is_an_administrator_only(
    steward, second, dataset, member_of, people
):
    """Without a reason it was made as a steward's own."""
    steward.is_superuser = True
    steward.save()
    link = invitations.invite(steward, dataset, "steward")
    members.remove(second, member_of(steward))

    with pytest.raises(NoSuchLink):
        invitations.accept(User.objects.create_user("newcomer"), link.secret)


def test_an_invitation_is_revoked_in_its_own_dataset_only(steward, make_dataset, invited):
    other = make_dataset("town")
    with pytest.raises(Http404):
        invitations.revoke(steward, other, invited.row.pk)

    assert list(invitations.open_invitations(other)) == []
