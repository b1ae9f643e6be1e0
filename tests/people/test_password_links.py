"""Links for a new password: what ends them, who sees that they were made."""

import hashlib
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.exceptions import PermissionDenied
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from heatmaps.models import ApiToken, PasswordLink, Profile
from heatmaps.people import accounts, members, password_links
from heatmaps.people.password_links import LinkDead
from tests.services import seed

PASSWORD, OLD = "grass grows by inches", "stones roll down hills"


@pytest.fixture
def analyst(people):
    people["analyst"].set_password(OLD)
    people["analyst"].save()
    return people["analyst"]


def address_of(secret):
    return reverse("account_reset_password_from_key", args=[secret])


def test_a_new_password_ends_sessions_and_tokens(administrator, analyst, dataset, client_of, events):
    session = client_of("analyst")
    ApiToken.objects.create(user=analyst, name="laptop", scopes=["read"])
    first = password_links.make(administrator, analyst)
    link = password_links.make(administrator, analyst)
    assert session.get("/account/").status_code == 200

    with pytest.raises(LinkDead):  # the later one took its place
        password_links.choose(first, PASSWORD)
    password_links.choose(link, PASSWORD)

    analyst.refresh_from_db()
    assert analyst.check_password(PASSWORD)
    assert session.get("/account/").status_code == 302
    assert not ApiToken.objects.exists()
    assert [(kind, actor) for kind, actor, *_ in events()] == [("reset-link", "administrator")] * 2
    with pytest.raises(LinkDead):
        password_links.choose(link, "another phrase of words")


@pytest.mark.parametrize(
    "end",
    ["the page", "a command", "closed", "closed by a command", "signed in", "an address", "a mail", "a day"],
)
def test_what_ends_a_link(administrator, analyst, end):
    link = password_links.make(administrator, analyst)
    if end == "the page":
        accounts.set_password(analyst, "my own new words", revoke_tokens=False)
    elif end == "a command":
        analyst.set_password("my own new words")
        analyst.save()
    elif end == "closed":
        accounts.close(administrator, analyst)
        assert dead(link)
        accounts.reopen(administrator, analyst)
    elif end == "closed by a command":
        User.objects.filter(pk=analyst.pk).update(is_active=False)
    elif end == "an address":
        EmailAddress.objects.create(user=analyst, email="new@example.org")
    elif end == "a mail":
        password_links.new_secret(analyst)
    elif end == "signed in":
        Client().post(reverse("account_login"), {"login": "analyst", "password": OLD})
    else:
        PasswordLink.objects.update(expires_at=timezone.now())

    assert dead(link)
    analyst.refresh_from_db()
    assert not analyst.check_password(PASSWORD)


def dead(link):
    with pytest.raises(LinkDead):
        password_links.choose(link, PASSWORD)
    return Client().get(address_of(link)).status_code == 404


@pytest.mark.parametrize("secret", ["", "1", "1-dipgjz-7acd4e", "-", "!-!", "\ud800"])
def test_a_secret_of_no_link_is_dead(administrator, analyst, secret):
    password_links.make(administrator, analyst)
    with pytest.raises(LinkDead):
        password_links.account_of(secret)


def test_a_link_works_a_day_and_only_its_digest_is_stored(administrator, analyst):
    began = timezone.now()
    link = password_links.make(administrator, analyst)

    row = PasswordLink.objects.get()
    assert timedelta(days=1) <= row.expires_at - began < timedelta(days=1, minutes=10)
    assert row.digest == hashlib.sha256(link.encode()).hexdigest()
    assert link not in str(PasswordLink.objects.values()) + str(Profile.objects.values())


def test_what_is_computed_from_the_database_and_the_key_is_no_link(administrator, analyst):
    """As links were until they became rows: whoever had both could make them."""
    password_links.make(administrator, analyst)
    profile = Profile.objects.get(user=analyst)

    class Tokens(PasswordResetTokenGenerator):
        key_salt = "heatmaps.people.password_links"

        def _make_hash_value(self, user, timestamp):
            ends = (profile.password_link_at, profile.closed_at)
            return f"{super()._make_hash_value(user, timestamp)}{ends}"

    for token in (Tokens().make_token(analyst), PasswordLink.objects.get().digest):
        for secret in (token, f"{user_pk_to_url_str(analyst)}-{token}"):
            answer = Client().get(address_of(secret))
            assert answer.status_code == 404
            assert "Ask the sender for a new one" in answer.content.decode()


def test_the_row_goes_when_the_password_changes(administrator, analyst):
    link = password_links.make(administrator, analyst)
    assert PasswordLink.objects.exists()

    password_links.choose(link, PASSWORD)

    assert not PasswordLink.objects.exists()


def test_a_link_signs_nobody_in_past_a_second_factor(administrator, analyst):
    auth.TOTP.activate(analyst, auth.generate_totp_secret())
    link, browser = password_links.make(administrator, analyst), Client()

    answer = browser.post(address_of(link), {"new_password1": PASSWORD, "new_password2": PASSWORD})

    assert answer["Location"] == reverse("account_login")
    assert "_auth_user_id" not in browser.session
    typed = {"login": "analyst", "password": PASSWORD}
    assert browser.post(reverse("account_login"), typed)["Location"] == reverse("mfa_authenticate")


def test_only_administrators_make_links_and_for_open_accounts_that_need_a_password(
    administrator, people, analyst
):
    with pytest.raises(PermissionDenied):
        password_links.make(people["steward"], analyst)
    auditor = people["auditor"]
    auditor.set_unusable_password()
    auditor.save()
    for way_in in (
        SocialAccount.objects.create(user=auditor, provider="x", uid="1"),
        Authenticator.objects.create(user=auditor, type=Authenticator.Type.WEBAUTHN, data={}),
    ):
        with pytest.raises(PermissionDenied, match="no password"):
            password_links.make(administrator, auditor)
        way_in.delete()
    # An administrator removed the only passkey: without a link nobody could sign in any more.
    password_links.choose(password_links.make(administrator, auditor), PASSWORD)
    accounts.close(administrator, analyst)
    analyst.refresh_from_db()
    with pytest.raises(PermissionDenied, match="closed"):
        password_links.make(administrator, analyst)


def test_the_person_sees_who_made_a_link(administrator, analyst):
    password_links.choose(password_links.make(administrator, analyst), PASSWORD)
    browser = Client()
    typed = {"login": "analyst", "password": PASSWORD}
    told = "administrator made a link for a new password of your account on"

    first = browser.post(reverse("account_login"), typed, follow=True).content.decode()
    again = Client().post(reverse("account_login"), typed, follow=True).content.decode()

    assert told in first
    assert told not in again
    assert told in browser.get(reverse("account")).content.decode()


def test_a_ledger_tells_what_was_done_before_somebody_joined(
    administrator, analyst, steward, events, dataset
):
    dataset.memberships.filter(user=analyst).delete()
    password_links.make(administrator, analyst)
    auth.TOTP.activate(analyst, auth.generate_totp_secret())
    accounts.remove_second_factor(administrator, analyst)
    assert events() == []

    members.add(steward, dataset, "analyst", "analyst")

    told = [(kind, actor) for kind, actor, *_ in events()]
    assert told == [
        ("member", "steward"),
        ("reset-link", "administrator"),
        ("factor-removed", "administrator"),
    ]
    assert '"done_at":"20' in events()[1][3]


def test_a_ledger_tells_what_was_done_before_somebody_made_the_dataset(administrator, analyst):
    password_links.make(administrator, analyst)

    made = seed.make_dataset(analyst, "town")

    assert [event.actor for event in made.events.filter(kind="reset-link")] == [administrator]


def test_removing_a_factor_is_seen_and_ends_sessions(administrator, analyst, client_of, events, dataset):
    auth.TOTP.activate(analyst, auth.generate_totp_secret())
    session, page = client_of("analyst"), reverse("account-remove-factor", args=[analyst.pk])
    assert client_of("steward").post(page).status_code == 403
    assert accounts.has_second_factor(analyst)

    assert client_of("administrator").post(page).status_code == 302

    assert not accounts.has_second_factor(analyst)
    assert session.get("/account/").status_code == 302
    assert [(kind, actor) for kind, actor, *_ in events()] == [("factor-removed", "administrator")]


def test_who_runs_the_server_removes_a_factor_by_a_command(analyst, dataset, client_of, capsys):
    auth.TOTP.activate(analyst, auth.generate_totp_secret())
    session = client_of("analyst")

    call_command("removesecondfactor", "analyst")

    assert not Authenticator.objects.exists()
    assert session.get("/account/").status_code == 302
    event = dataset.events.get(kind="factor-removed")
    assert event.actor is None
    for name in ("analyst", "nobody"):
        with pytest.raises(CommandError):
            call_command("removesecondfactor", name)


@pytest.mark.parametrize("act", ["close", "remove-factor"])
def test_an_administrator_who_acts_on_herself_is_signed_out(administrator, client_of, act):
    User.objects.create_superuser("another")
    client = client_of("administrator")

    answer = client.post(reverse(f"account-{act}", args=[administrator.pk]), follow=True)

    assert answer.status_code == 200
    assert answer.redirect_chain[-1][0].startswith(reverse("account_login"))
