"""What a provider's word is worth here: an account that is linked, and nothing more."""

import time
from dataclasses import replace
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from heatmaps.config import sign_in_provider
from heatmaps.people import accounts, invitations
from heatmaps.people.sign_in_provider import Provider as OurProvider
from heatmaps.people.sign_in_provider import proposed_name
from tests.pages.confirming import confirm
from tests.pages.policies import directives
from tests.services.programs import free_port
from tests.services.provider import METADATA, Provider
from tests.services.provider_visitor import back_from

HOST = "http://testserver"
UNKNOWN, LINK, CONFIRM = "No account here", "account-provider", "account-provider-confirm"
AGAIN = "account-confirm-provider"


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    with Provider.started(
        tmp_path_factory.mktemp("provider"), f"{HOST}/sign-in/provider/answer/"
    ) as provider:
        yield provider


@pytest.fixture
def provider(started, settings, monkeypatch, db):
    """A provider that says what is usual, and is the one of settings."""
    (started.folder / "claims.json").write_text("{}")
    for name, value in started.environment.items():
        monkeypatch.setenv(name, value)
    use(settings)
    return started


def use(settings):
    settings.SIGN_IN_PROVIDER = sign_in_provider.sign_in_provider()
    settings.SOCIALACCOUNT_PROVIDERS = sign_in_provider.for_allauth(settings.SIGN_IN_PROVIDER)


@pytest.fixture
def come(provider):
    """Sign in as somebody of the provider; what is answered in the end."""

    def walk(client, name, **sent):
        sent_there = client.post(reverse("sign-in-provider"), sent)
        assert sent_there.status_code == 302, sent_there.content.decode()
        assert sent_there["Location"].startswith(f"{provider.issuer}/authorize/?")
        return client.get(back_from(sent_there["Location"], name), follow=True)

    return walk


@pytest.fixture
def invitation(people, dataset):
    accounts.allow_sign_up(people["administrator"], allowed=True)
    return invitations.invite(people["steward"], dataset, "analyst").secret


def who(client):
    return User.objects.filter(pk=client.session.get("_auth_user_id")).first()


def sign_in_page(client):
    return client.get(reverse("account_login")).content.decode()


def join(come, name, invitation, **typed):
    """A client that a new person signed in with, in the provider's way."""
    client = Client()
    page = come(client, name, invitation=invitation)
    assert page.status_code == 200, page.content.decode()
    made = client.post(reverse("sign-in-provider-name"), {"username": name} | typed)
    assert made.status_code == 302, made.content.decode()
    return client


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


@pytest.fixture
def ben(people):
    """Somebody with a password, signed in."""
    user = User.objects.create_user("ben-of-here", password="of-ben-here")
    client = Client()
    client.force_login(user)
    confirm(client, user)
    return client


def go_and_link(client, name):
    there = client.post(reverse(LINK))["Location"]
    return client.get(back_from(there, name), follow=True)


def test_an_account_is_linked_by_its_owner_after_a_page_that_asks(provider, come, ben):
    page = go_and_link(ben, "ben")
    assert page.redirect_chain[-1][0] == reverse(CONFIRM)
    assert ">ben<" in page.content.decode()
    assert not SocialAccount.objects.exists()
    ben.post(reverse(CONFIRM))
    assert SocialAccount.objects.get().user == who(ben)
    again = Client()
    come(again, "ben")
    assert who(again) == who(ben)


def test_a_confirmation_is_for_who_went_and_once(provider, ben, people):
    go_and_link(ben, "ben")
    kept = ben.session["provider-person"]
    other = Client()
    other.force_login(people["analyst"])
    confirm(other, people["analyst"])
    session = other.session
    session["provider-person"] = kept
    session.save()
    assert other.post(reverse(CONFIRM)).status_code == 302
    assert not SocialAccount.objects.exists()
    session = ben.session
    session["provider-person"] = kept | {"at": time.time() - 601}
    session.save()
    ben.post(reverse(CONFIRM))
    assert not SocialAccount.objects.exists()


def test_who_went_must_still_be_signed_in(provider, ben, people):
    there = ben.post(reverse(LINK))["Location"]
    back = back_from(there, "ben")
    states = ben.session["socialaccount_states"]
    ben.force_login(people["analyst"])
    session = ben.session
    session["socialaccount_states"] = states
    session.save()
    answer = ben.get(back)
    assert (answer.status_code, "not signed in with the account" in answer.content.decode()) == (400, True)


def test_one_person_has_one_account(provider, come, ben, invitation):
    join(come, "ben", invitation)
    go_and_link(ben, "ben")
    page = ben.post(reverse(CONFIRM), follow=True).content.decode()
    assert "already linked" in page
    assert SocialAccount.objects.get().user.username == "ben"


@pytest.mark.parametrize("name", [LINK, CONFIRM, "account-provider-remove"])
def test_who_said_long_ago_who_it_is_is_asked_again(provider, ben, name):
    confirm(ben, who(ben), seconds_ago=301)
    for answer in (ben.get(reverse(name)), ben.post(reverse(name))):
        assert answer.status_code == 302, name
        assert not answer["Location"].startswith(provider.issuer)
    assert not SocialAccount.objects.exists()


def test_who_has_no_password_here_is_asked_again_by_the_provider(provider, come, invitation):
    """Not by whom the provider knows anyway: it has to ask, and to say when it did."""
    anna = join(come, "anna", invitation)
    wanted = reverse("mfa_activate_totp")
    asks = anna.get(wanted)
    assert asks["Location"] == f"{reverse(AGAIN)}?{urlencode({'next': wanted})}"
    assert form_action(anna.get(asks["Location"])) == ["'self'", provider.issuer.removesuffix("/o")]
    there = anna.post(reverse(AGAIN), {"next": wanted})["Location"]
    assert parse_qs(urlsplit(there).query)["prompt"] == ["login"]
    for claims, name, status in (
        ({"auth_time": 1}, "anna", 502),
        ({"auth_time": None}, "anna", 502),
        ({"auth_time": "now"}, "anna", 502),
        ({}, "ben", 400),
    ):
        provider.claim(name, **claims)
        there = anna.post(reverse(AGAIN), {"next": wanted})["Location"]
        assert anna.get(back_from(there, name)).status_code == status
        assert anna.get(wanted).status_code == 302
    provider.claim("anna")
    there = anna.post(reverse(AGAIN), {"next": wanted})["Location"]
    assert anna.get(back_from(there, "anna"))["Location"] == wanted
    assert anna.get(wanted).status_code == 200


def test_nobody_is_sent_to_another_website(provider, come, invitation, client):
    anna = join(come, "anna", invitation)
    for browser, name in ((anna, AGAIN), (client, "sign-in-provider")):
        for after in ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"):
            browser.post(reverse(name), {"next": after})
        assert "evil" not in str(dict(browser.session))
        assert "alert" not in str(dict(browser.session))


def test_a_second_factor_is_asked_for_after_the_provider(provider, come, invitation):
    anna = who(join(come, "anna", invitation))
    TOTP.activate(anna, generate_totp_secret())
    code = RecoveryCodes.activate(anna).get_unused_codes()[0]
    client = Client()
    answer = come(client, "anna")
    assert (answer.redirect_chain[-1][0], who(client)) == (reverse("mfa_authenticate"), None)
    client.post(reverse("mfa_authenticate"), {"code": code})
    assert who(client) == anna


def test_a_link_that_is_the_only_way_in_stays(provider, come, invitation, ben):
    only = join(come, "anna", invitation)
    assert only.post(reverse("account-provider-remove"))["Location"].startswith(reverse(AGAIN))
    confirm(only, who(only))
    answer = only.post(reverse("account-provider-remove"))
    assert (answer.status_code, "nobody could sign in" in answer.content.decode()) == (409, True)
    go_and_link(ben, "ben")
    ben.post(reverse(CONFIRM))
    assert ben.post(reverse("account-provider-remove")).status_code == 302
    assert [link.user.username for link in SocialAccount.objects.all()] == ["anna"]


def test_without_a_provider_there_is_no_such_address(client, settings, people):
    settings.SIGN_IN_PROVIDER = None
    client.force_login(people["analyst"])
    confirm(client, people["analyst"])
    for name in ("", "-answer", "-name"):
        assert client.get(reverse(f"sign-in-provider{name}")).status_code in (404, 405)
    assert client.post(reverse("sign-in-provider")).status_code in (302, 404)
    for name in (LINK, CONFIRM, "account-provider-remove"):
        assert client.get(reverse(name)).status_code == 404


def form_action(answer):
    return directives(answer)["form-action"].split()


def test_pages_with_the_button_alone_may_send_people_there(provider, come, ben, invitation):
    visitor, there = Client(), provider.issuer.removesuffix("/o")
    with_button = [
        visitor.get(reverse("account_login")),
        visitor.get(reverse("invitation", args=[invitation])),
        ben.get(reverse(LINK)),
    ]
    for answer in with_button:
        assert form_action(answer) == ["'self'", there]
        assert "Example University" in answer.content.decode()
    without = [visitor.get(reverse("public")), ben.get(reverse("account")), ben.get(reverse(CONFIRM))]
    assert [form_action(answer) for answer in without] == [["'self'"]] * 3
