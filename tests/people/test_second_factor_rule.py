"""Where administrators require a second factor, nobody does anything without one."""

import re
import time

import pytest
from allauth.mfa.totp.internal import auth
from django.core.exceptions import PermissionDenied
from django.urls import reverse

from heatmaps.models import ApiToken
from heatmaps.people import accounts
from heatmaps.releases import publication

PASSWORD = "long enough to pass"
OPEN = ["mfa_index", "mfa_activate_totp", "account_reauthenticate"]


@pytest.fixture(autouse=True)
def two_periods(settings):
    settings.MFA_TOTP_TOLERANCE = 1  # one may end before the code is looked at


@pytest.fixture
def required(administrator):
    accounts.require_second_factor(administrator, True)


def make_token(client, name):
    body = {"username": name, "password": PASSWORD, "name": "x", "scopes": ["read"]}
    return client.post(reverse("api:tokens"), body, content_type="application/json")


@pytest.mark.parametrize("page", ["home", "account", "token-new", "public", "admin:index", "accounts"])
def test_every_page_leads_to_setting_one_up(required, client_of, page):
    client = client_of("administrator")

    answer = client.get(reverse(page))

    assert answer["Location"] == reverse("mfa_index")
    assert "requires a second factor" in client.get(answer["Location"]).content.decode()


def test_it_asks_on_pages_that_members_and_others_see(required, client_of, people, published):
    publication.set_public(people["steward"], published, public=True)
    page = reverse("release", args=[published.pk])

    tile = reverse("gis:tilejson", args=[published.pk])
    assert client_of("analyst").get(page).status_code == 302
    assert client_of("analyst").get(tile).status_code == 302
    assert client_of("anonymous").get(page).status_code == 200


def test_it_lets_set_one_up_and_sign_out_and_then_go_on(required, client_of, people):
    people["analyst"].set_password(PASSWORD)
    people["analyst"].save()
    client = client_of("analyst")
    assert {client.get(reverse(page)).status_code for page in OPEN} == {200}

    auth.TOTP.activate(people["analyst"], auth.generate_totp_secret())

    assert client.get(reverse("home")).status_code == 200
    assert client.post(reverse("account_logout")).status_code == 302


def test_only_administrators_require_it(people, client_of):
    with pytest.raises(PermissionDenied):
        accounts.require_second_factor(people["steward"], True)
    client_of("administrator").post(reverse("second-factor-rule"), {"required": "yes"})

    assert accounts.second_factor_required()
    assert accounts.sign_up_by_invitation()  # the other rule is as it was


@pytest.mark.parametrize("why", ["has one", "needs one"])
def test_a_password_alone_makes_no_token(client_of, people, administrator, why):
    """Only after the right password is it said; and whoever has it goes on being counted."""
    people["analyst"].set_password(PASSWORD)
    people["analyst"].save()
    client = client_of("anonymous")
    earlier, secret = ApiToken.objects.create(user=people["analyst"], name="laptop", scopes=["read"])
    if why == "has one":
        auth.TOTP.activate(people["analyst"], auth.generate_totp_secret())
    else:
        accounts.require_second_factor(administrator, True)

    refused = [make_token(client, "analyst") for _ in range(11)]

    assert [answer.status_code for answer in refused] == [403] * 10 + [429]
    assert refused[0].json()["code"] == "second_factor_needed"
    assert list(ApiToken.objects.all()) == [earlier]
    bearer = {"authorization": f"Bearer {secret}"}
    answer = client.get(reverse("api:datasets"), headers=bearer)
    assert answer.status_code == (200 if why == "has one" else 403)


def test_while_one_is_required_no_token_does_more_than_its_owner(required, client_of, people):
    """Also for map programs; it works again once there is a second factor."""
    _, secret = ApiToken.objects.create(user=people["analyst"], name="laptop", scopes=["read"])
    bearer, client = {"authorization": f"Bearer {secret}"}, client_of("anonymous")
    pages = [reverse("api:datasets"), reverse("gis:landing")]

    refused = [client.get(page, headers=bearer) for page in pages]

    assert [answer.status_code for answer in refused] == [403, 403]
    assert refused[0].json()["code"] == "second_factor_needed"
    auth.TOTP.activate(people["analyst"], auth.generate_totp_secret())
    assert client.get(pages[0], headers=bearer).status_code == 200


def test_requiring_one_ends_tokens_that_were_made_without(client_of, people):
    """Unless the administrator unticks it."""
    earlier = ApiToken.objects.create(user=people["analyst"], name="earlier", scopes=["read"])[0]
    without = ApiToken.objects.create(user=people["steward"], name="without", scopes=["read"])[0]
    auth.TOTP.activate(people["analyst"], auth.generate_totp_secret())
    later = ApiToken.objects.create(user=people["analyst"], name="later", scopes=["read"])[0]
    administrator = client_of("administrator")
    page = administrator.get(reverse("accounts")).content.decode()
    assert re.search(r'name="revoke_tokens"[^>]* checked', page)

    administrator.post(reverse("second-factor-rule"), {"required": "yes"})
    assert set(ApiToken.objects.all()) == {earlier, without, later}

    auth.TOTP.activate(people["administrator"], auth.generate_totp_secret())
    administrator.post(reverse("second-factor-rule"), {"required": "yes", "revoke_tokens": "on"})
    assert list(ApiToken.objects.all()) == [later]


@pytest.mark.parametrize("ticked", [True, False])
def test_the_first_factor_ends_tokens_unless_their_owner_wants_them(client_of, people, ticked):
    token = ApiToken.objects.create(user=people["analyst"], name="laptop", scopes=["read"])[0]
    client = client_of("analyst")
    form = client.get(reverse("mfa_activate_totp")).context["form"]
    assert form["revoke_tokens"].initial is True
    code = auth.format_hotp_value(auth.hotp_value(form.secret, int(time.time()) // 30))

    client.post(reverse("mfa_activate_totp"), {"code": code} | ({"revoke_tokens": "on"} if ticked else {}))

    assert accounts.has_second_factor(people["analyst"])
    assert list(ApiToken.objects.all()) == ([] if ticked else [token])


def test_a_new_password_ends_tokens_unless_their_owner_wants_them(client_of, people):
    people["analyst"].set_password(PASSWORD)
    people["analyst"].save()
    form = client_of("analyst").get(reverse("account_change_password")).context["form"]

    assert form["revoke_tokens"].initial is True
