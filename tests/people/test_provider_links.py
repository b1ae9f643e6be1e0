"""An account that its owner links to a provider: after a page that asks, once, and to be taken back."""

import time
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.pages.confirming import confirm
from tests.pages.policies import directives
from tests.people.provider_steps import AGAIN, CONFIRM, LINK, join, who
from tests.services.provider_visitor import back_from


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
