"""What a provider's word is worth here: an account that is linked, and nothing more."""

from dataclasses import replace
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from heatmaps.people import invitations
from heatmaps.people.sign_in_provider import Provider as OurProvider
from heatmaps.people.sign_in_provider import proposed_name
from tests.pages.confirming import confirm
from tests.people.provider_steps import CONFIRM, HOST, LINK, UNKNOWN, join, use, who
from tests.services.programs import free_port
from tests.services.provider import METADATA, Provider
from tests.services.provider_visitor import back_from


def test_somebody_unknown_gets_no_account(come, people):
    client = Client()
    answer = come(client, "anna")
    assert (answer.status_code, UNKNOWN in answer.content.decode()) == (403, True)
    assert client.post(reverse("sign-in-provider-name"), {"username": "anna"}).status_code == 403
    assert (who(client), SocialAccount.objects.count(), User.objects.count()) == (None, 0, len(people))


def test_an_invitation_brings_somebody_new_in(come, dataset, invitation):
    client = join(come, "anna", invitation, username="anna-of-here")
    anna = User.objects.get(username="anna-of-here")
    assert who(client) == anna
    assert dataset.memberships.get(user=anna).role == "analyst"
    assert not anna.has_usable_password()
    again = Client()
    come(again, "anna")
    assert who(again) == anna


def test_nothing_but_the_link_is_kept(come, invitation):
    join(come, "anna", invitation)
    linked = SocialAccount.objects.get()
    assert (linked.extra_data, linked.user.email) == ({}, "")
    assert "number-" not in linked.uid
    assert not EmailAddress.objects.exists()
    assert not SocialToken.objects.exists()
    assert not SocialApp.objects.exists()


def test_a_session_holds_no_token_and_no_invitation(come, invitation):
    client = Client()
    come(client, "anna", invitation=invitation)
    kept = str(dict(client.session))
    assert Session.objects.count() == 1
    assert invitation not in kept
    assert "access" not in kept
    assert "email" not in kept


def test_the_proposed_name_is_asked_for(come, invitation):
    client = Client()
    page = come(client, "anna", invitation=invitation)
    assert 'value="anna"' in page.content.decode()
    assert not User.objects.filter(username="anna").exists()


@pytest.mark.parametrize("claim", [5, "anna@example.edu", "\ud800"])
def test_what_is_no_name_is_not_proposed(provider, come, invitation, claim):
    provider.claim("anna", preferred_username=claim, name=claim, email=claim)
    client = Client()
    page = come(client, "anna", invitation=invitation)
    assert page.status_code == 200
    field = next(line for line in page.content.decode().split("<input") if 'name="username"' in line)
    assert "value=" not in field.partition(">")[0]


@pytest.mark.parametrize(
    "claim", [None, ["anna"], {"a": 1}, True, "", "n" * 151, "a\u202eb", "a\x00b", "<b>", " "]
)
def test_a_name_is_what_somebody_may_be_called_here(claim):
    assert proposed_name("anna") == "anna"
    assert proposed_name(claim) == ""


ROLES = {
    "is_staff": True,
    "is_superuser": True,
    "groups": ["administrators", "steward"],
    "roles": ["steward"],
}


def test_no_claim_gives_a_role(provider, come, dataset, invitation):
    provider.claim("anna", **ROLES, resource_access={"hazemap": {"roles": ["administrator"]}})
    clients = [join(come, "anna", invitation), Client()]
    come(clients[1], "anna")
    for client in clients:
        anna = who(client)
        assert (anna.is_staff, anna.is_superuser, anna.groups.count(), anna.profile.may_create_datasets) == (
            *(False, False, 0, False),
        )
        assert [member.role for member in dataset.memberships.filter(user=anna)] == ["analyst"]


def test_nobody_is_matched_by_name_or_address(provider, come):
    for name in ("anna", "number-1"):
        User.objects.create_user(name, email="anna@example.edu", password="of-anna-here")
    EmailAddress.objects.create(
        user=User.objects.get(username="anna"), email="anna@example.edu", verified=True, primary=True
    )
    client = Client()
    assert come(client, "anna").status_code == 403
    assert (who(client), SocialAccount.objects.count()) == (None, 0)


def test_a_name_that_is_taken_is_refused(come, invitation):
    User.objects.create_user("Anna")
    client = Client()
    come(client, "anna", invitation=invitation)
    for name, told in (("anna", "taken"), ("null", "reserved"), ("..", "a letter or a digit")):
        answer = client.post(reverse("sign-in-provider-name"), {"username": name})
        assert (answer.status_code, told in answer.content.decode()) == (422, True)
    assert who(client) is None


@pytest.mark.long
def test_another_issuer_means_other_people(come, invitation, settings, monkeypatch, tmp_path):
    join(come, "anna", invitation)
    with Provider.started(tmp_path, f"{HOST}/sign-in/provider/answer/") as other:
        for name, value in other.environment.items():
            monkeypatch.setenv(name, value)
        use(settings)
        client = Client()
        there = client.post(reverse("sign-in-provider"))["Location"]
        assert there.startswith(other.issuer)
        assert client.get(back_from(there, "anna"), follow=True).status_code == 403
    assert who(client) is None


def test_the_same_number_of_another_issuer_is_another_uid(provider, settings):
    """Also where both are stored under one name."""
    before = OurProvider.extract_uid(None, {"sub": "number-1"})
    settings.SIGN_IN_PROVIDER = replace(settings.SIGN_IN_PROVIDER, issuer="https://login.example.org")
    assert before != OurProvider.extract_uid(None, {"sub": "number-1"})


def test_without_invitation_where_settings_say_so(come, settings, monkeypatch):
    monkeypatch.setenv("HAZEMAP_OIDC_SIGN_UP", "1")
    use(settings)
    client = Client()
    assert come(client, "anna").status_code == 200
    client.post(reverse("sign-in-provider-name"), {"username": "anna"})
    assert who(client).username == "anna"
    assert not who(client).profile.may_create_datasets


@pytest.mark.parametrize(
    "claims",
    [
        {"sub": None},
        pytest.param({"sub": ""}, marks=pytest.mark.long),
        {"sub": 1},
        pytest.param({"sub": ["number-1"]}, marks=pytest.mark.long),
        {"sub": "x" * 256},
        pytest.param({"sub": "n\xfcmber"}, marks=pytest.mark.long),
        {"sub": "\ud800"},
        {"userinfo": {"sub": "number-2"}},
        pytest.param({"userinfo": {"sub": None}}, marks=pytest.mark.long),
        {"iss": "http://127.0.0.1:1/o"},
        pytest.param({"aud": "another"}, marks=pytest.mark.long),
        {"aud": ["hazemap", "another"]},
        {"aud": ["hazemap", "another"], "azp": "another"},
        {"nonce": "another"},
        pytest.param({"nonce": ""}, marks=pytest.mark.long),
        pytest.param({"nonce": 5}, marks=pytest.mark.long),
        {"exp": 1},
        pytest.param({"exp": "soon"}, marks=pytest.mark.long),
        pytest.param({"exp": None}, marks=pytest.mark.long),
        pytest.param({"iat": "now"}, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_a_strange_word_signs_nobody_in(provider, come, claims):
    provider.claim("anna", **claims)
    client = Client()
    answer = come(client, "anna")
    assert (answer.status_code, "cannot be used" in answer.content.decode()) == (502, True)
    assert (who(client), SocialAccount.objects.count()) == (None, 0)


def test_a_refusal_there_is_told(client, provider, db):
    there = client.post(reverse("sign-in-provider"))["Location"]
    answer = client.get(back_from(there, "anna", agrees=False))
    assert (answer.status_code, "was refused there" in answer.content.decode()) == (400, True)


def test_an_answer_counts_once_and_for_one_browser(client, provider, db):
    there = client.post(reverse("sign-in-provider"))["Location"]
    back = back_from(there, "anna")
    for browser in (Client(), client, client):
        answer = browser.get(back)
        assert (answer.status_code == 400) == (browser is not client or answer.status_code == 400)
    assert "belongs to no sign-in" in client.get(back).content.decode()
    for query in ("", "?code=x", "?state=x", "?code=x&state=y", "?error=x", "?error=access_denied&state=%00"):
        answer = client.get(reverse("sign-in-provider-answer") + query)
        assert (answer.status_code, "belongs to no sign-in" in answer.content.decode()) == (400, True)


NAMES_ISSUER = "authorization_response_iss_parameter_supported"


@pytest.mark.parametrize(
    ("named", "issuers", "status"),
    [
        (None, [], 403),
        (None, ["http://evil.example"], 502),
        (True, [], 502),
        (True, ["{}"], 403),
        (True, ["{}/"], 502),
        (True, ["{}", "http://evil.example"], 502),
    ],
)
def test_an_answer_names_its_issuer(client, provider, named, issuers, status):
    """RFC 9207: required of a provider that says so, true where it is there; 403 is of somebody unknown."""
    provider.claim(METADATA, **{} if named is None else {NAMES_ISSUER: named})
    there = client.post(reverse("sign-in-provider"))["Location"]
    query = urlencode([("iss", issuer.format(provider.issuer)) for issuer in issuers])
    assert client.get(f"{back_from(there, 'anna')}&{query}", follow=True).status_code == status


def test_nothing_in_an_address_changes_what_is_asked(client, provider, db):
    more = "?scope=email&process=connect&next=//evil.example"
    more += "&auth_params=redirect_uri%3Dhttp%253A%252F%252Fevil.example"
    asked = parse_qs(urlsplit(client.post(reverse("sign-in-provider") + more)["Location"]).query)
    assert asked.pop("scope") == ["openid profile"]
    assert asked.pop("redirect_uri") == [f"{HOST}{reverse('sign-in-provider-answer')}"]
    assert asked.pop("code_challenge_method") == ["S256"]
    assert asked.keys() == {"client_id", "response_type", "code_challenge", "nonce", "state"}
    assert "evil" not in str(dict(client.session))


def test_a_provider_that_is_away_is_told(client, settings, monkeypatch, provider, db):
    monkeypatch.setenv("HAZEMAP_OIDC_ISSUER", f"http://127.0.0.1:{free_port()}/o")
    use(settings)
    answer = client.post(reverse("sign-in-provider"))
    assert (answer.status_code, "cannot be reached" in answer.content.decode()) == (502, True)


def test_it_is_asked_by_a_form_of_ours_alone(provider, db):
    browser = Client(enforce_csrf_checks=True)
    assert browser.get(reverse("sign-in-provider")).status_code == 405
    assert browser.post(reverse("sign-in-provider")).status_code == 403


def test_ways_to_the_provider_are_counted(client, settings, provider, db):
    settings.MOST_A_MINUTE = settings.MOST_A_MINUTE | {"sign_in_address": 2}
    statuses = [client.post(reverse("sign-in-provider")).status_code for _ in range(3)]
    assert statuses == [302, 302, 429]


def test_an_invitation_taken_back_meanwhile_is_worth_nothing(come, people, dataset, invitation):
    client = Client()
    come(client, "anna", invitation=invitation)
    made = invitations.open_invitations(dataset).get()
    invitations.revoke(people["steward"], dataset, made.pk)
    assert client.post(reverse("sign-in-provider-name"), {"username": "anna"}).status_code == 404
    assert client.post(reverse("sign-in-provider"), {"invitation": invitation}).status_code == 404
    assert not User.objects.filter(username="anna").exists()


def test_whoever_has_an_account_comes_back_to_the_invitation(come, people, dataset, invitation):
    join(come, "anna", invitation)
    another = invitations.invite(people["steward"], dataset, "auditor").secret
    client = Client()
    answer = come(client, "anna", invitation=another)
    assert answer.redirect_chain[-1][0] == reverse("invitation", args=[another])
    assert who(client).username == "anna"


def test_a_closed_account_stays_closed(come, invitation):
    join(come, "anna", invitation)
    User.objects.filter(username="anna").update(is_active=False)
    client = Client()
    assert come(client, "anna").status_code in (200, 403)
    assert who(client) is None


def test_without_a_provider_there_is_no_such_address(client, settings, people):
    settings.SIGN_IN_PROVIDER = None
    client.force_login(people["analyst"])
    confirm(client, people["analyst"])
    for name in ("", "-answer", "-name"):
        assert client.get(reverse(f"sign-in-provider{name}")).status_code in (404, 405)
    assert client.post(reverse("sign-in-provider")).status_code in (302, 404)
    for name in (LINK, CONFIRM, "account-provider-remove"):
        assert client.get(reverse(name)).status_code == 404
