"""The doors of django-allauth as this server opens them: second factors, asking again, the administration."""

import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode

from heatmaps.people import accounts, invitations, password_links
from heatmaps.views.fields import LIKE_THIS
from tests.pages.confirming import confirm

PASSWORD = "long enough to pass"
SECRET = auth.generate_totp_secret()


@pytest.fixture(autouse=True)
def no_codes_of_earlier_tests():
    cache.clear()


@pytest.fixture
def steward(people):
    people["steward"].set_password(PASSWORD)
    people["steward"].save()
    return people["steward"]


@pytest.fixture
def with_app(steward):
    """The steward has an app and recovery codes."""
    auth.TOTP.activate(steward, SECRET)
    return RecoveryCodes.activate(steward).generate_codes()


@pytest.fixture
def half_way(with_app):
    """A browser where the steward's password was right and a code is to come."""
    client = Client()
    answer = type_password(client)
    assert answer["Location"] == reverse("mfa_authenticate")
    return client


def type_password(client, password=PASSWORD):
    return client.post(reverse("account_login"), {"login": "steward", "password": password})


def type_code(client, code):
    return client.post(reverse("mfa_authenticate"), {"code": code})


def code_now(periods_ago=0):
    while time.time() % 30 > 29:  # else the period might end before the code is looked at
        pass
    counter = int(time.time()) // 30 - periods_ago
    return auth.format_hotp_value(auth.hotp_value(SECRET, counter))


def is_inside(client):
    return client.get(reverse("account")).status_code == 200


def test_a_password_alone_does_not_let_in_who_has_an_app(half_way):
    assert not is_inside(half_way)
    assert type_code(half_way, code_now(periods_ago=1)).status_code == 200
    assert not is_inside(half_way)

    assert type_code(half_way, code_now()).status_code == 302

    assert is_inside(half_way)


def test_a_code_lets_in_once(half_way, with_app):
    """Also in another process, which shares no memory: what was used stands in the database."""
    code = code_now()
    type_code(half_way, code)
    cache.clear()
    other = Client()
    type_password(other)

    answer = type_code(other, code)

    assert "was used already" in answer.content.decode()
    assert not is_inside(other)
    type_code(other, with_app[3])
    assert is_inside(other)
    third = Client()
    type_password(third)
    type_code(third, with_app[3])
    assert not is_inside(third)


def test_secrets_of_factors_are_not_in_the_database(with_app):
    stored = str(list(Authenticator.objects.values()))

    assert SECRET not in stored
    assert not any(code in stored for code in with_app)


def test_a_lost_key_is_told_in_words(half_way, settings):
    settings.SECOND_FACTOR_KEY = "another"

    answer = type_code(half_way, code_now())

    assert answer.status_code == 503
    assert "removesecondfactor" in answer.content.decode()


def test_a_sign_in_that_waits_for_a_code_ends_when_the_password_changes(half_way, steward):
    accounts.set_password(steward, "stones roll down hills", revoke_tokens=False)

    assert type_code(half_way, code_now())["Location"] == reverse("account_login")

    assert not is_inside(half_way)


def test_a_sign_in_that_waits_for_a_code_ends_when_the_account_is_closed(half_way, steward):
    steward.is_active = False
    steward.save()

    type_code(half_way, code_now())

    assert "_auth_user_id" not in half_way.session


def test_an_app_is_set_up_by_a_code_and_other_sessions_end(
    client_of, steward, django_capture_on_commit_callbacks
):
    client, other = client_of("steward"), client_of("steward")
    page = client.get(reverse("mfa_activate_totp"))
    secret = page.context["form"].secret
    code = auth.format_hotp_value(auth.hotp_value(secret, int(time.time()) // 30))

    assert secret not in str(dict(client.session))
    client.post(reverse("mfa_activate_totp"), {"code": "wrong"})
    assert secret not in str(dict(client.session))

    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("mfa_activate_totp"), {"code": code})
    answer = client.get(reverse("mfa_view_recovery_codes"))

    codes = answer.context["unused_codes"]
    assert len(codes) == 10
    assert all(code in answer.content.decode() for code in codes)
    assert client.get(reverse("mfa_index")).status_code == 200
    again = client.get(reverse("mfa_view_recovery_codes")).content.decode()
    assert not any(code in again for code in codes)
    assert not is_inside(other)
    third = Client()
    type_password(third)
    assert "was used already" in type_code(third, code).content.decode()


def test_removing_the_app_ends_other_sessions(client_of, with_app):
    client, other = client_of("steward"), client_of("steward")

    client.post(reverse("mfa_deactivate_totp"))

    assert not Authenticator.objects.exists()
    assert is_inside(client)
    assert not is_inside(other)


@pytest.mark.parametrize(
    "name",
    ["mfa_activate_totp", "mfa_deactivate_totp", "mfa_generate_recovery_codes", "mfa_view_recovery_codes"],
)
def test_a_found_session_is_asked_again(client_of, steward, with_app, name):
    if name == "mfa_activate_totp":
        Authenticator.objects.all().delete()
    client = client_of("steward")
    confirm(client, steward, seconds_ago=301)

    wanted = f"{reverse('account_reauthenticate')}?{urlencode({'next': reverse(name)})}"
    for method in (client.get, *([client.post] if name != "mfa_view_recovery_codes" else [])):
        answer = method(reverse(name))
        assert answer["Location"] == wanted
    wrong = client.post(answer["Location"], {"password": "wrong"})
    assert "not your password" in wrong.content.decode()
    right = client.post(answer["Location"], {"password": PASSWORD})
    assert right["Location"] == reverse(name)


def test_whom_nothing_can_ask_again_changes_nothing(people):
    """Accounts without a password, a passkey and a link to the provider."""
    client = Client()
    client.force_login(people["analyst"])

    answer = client.get(reverse("token-new"))

    assert answer.status_code == 403
    assert "ask an administrator" in answer.content.decode()


def test_what_is_typed_is_not_kept_in_the_session(client_of, steward):
    client = client_of("steward")
    confirm(client, steward, seconds_ago=301)

    client.post(reverse("mfa_activate_totp"), {"code": "marker"})

    assert "marker" not in str(dict(client.session))


@pytest.mark.parametrize("door", ["account_reauthenticate", "account_change_password"])
def test_a_found_session_cannot_guess_the_password(client_of, steward, door):
    client = client_of("steward")
    typed = {"password": "wrong", "oldpassword": "wrong", "password1": "x", "password2": "x"}

    answers = [client.post(reverse(door), typed).status_code for _ in range(11)]

    assert answers == [200] * 10 + [429]
    client.get(reverse("mfa_reauthenticate"))
    assert client.post(reverse("mfa_reauthenticate"), {"code": "1"}).status_code == 429


def test_the_administration_has_no_door_of_its_own(client_of, people):
    people["administrator"].set_password(PASSWORD)
    people["administrator"].save()
    typed = {"username": "administrator", "password": PASSWORD}
    stranger = client_of("anonymous")

    answer = stranger.post("/admin/login/?next=/admin/auth/user/", typed)

    assert answer["Location"] == f"{reverse('account_login')}?next=%2Fadmin%2Fauth%2Fuser%2F"
    assert stranger.get("/admin/").status_code == 302
    assert "_auth_user_id" not in stranger.session
    assert stranger.post("/admin/login/?next=https://example.org/")["Location"].endswith("next=%2Fadmin%2F")
    assert client_of("analyst").get("/admin/", follow=True).status_code == 403
    assert client_of("administrator").get("/admin/login/")["Location"] == "/admin/"
    assert client_of("administrator").get("/admin/password_change/")["Location"] == "/account/password/"


def test_an_account_without_a_password_gets_none_from_a_session(client_of):
    answer = client_of("analyst").get(reverse("account_change_password"))

    assert "has no password" in answer.content.decode()
    typed = {"oldpassword": "", "password1": PASSWORD, "password2": PASSWORD}
    client_of("analyst").post(reverse("account_change_password"), typed)
    assert not client_of("anonymous").login(username="analyst", password=PASSWORD)


def test_a_limit_of_allauths_own_would_be_answered_by_our_page(client_of, settings):
    settings.ACCOUNT_RATE_LIMITS = {"login": "1/m/ip"}
    client = client_of("anonymous")

    answers = [type_password(client, "wrong") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 429]
    assert "Try again in" in answers[1].content.decode()


@pytest.mark.parametrize("name", ["STEWARD", "ｓｔｅｗａｒｄ", "Steward", "steward ", "ſteward"])
def test_no_name_is_given_that_looks_like_another(client_of, steward, name):
    link = invitations.invite_to_installation(
        User.objects.create_superuser("root"), may_create_datasets=False
    )
    typed = {"username": name, "password1": PASSWORD, "password2": PASSWORD}

    answer = client_of("anonymous").post(reverse("invitation", args=[link.secret]), typed)

    assert answer.status_code == 422
    assert "This name is taken" in answer.content.decode()


def test_of_two_old_names_that_look_alike_each_is_one_persons(steward):
    other = User.objects.create_user("Steward", password="stones roll down hills")
    for name, password in (("steward", PASSWORD), ("Steward", "stones roll down hills")):
        client = Client()
        client.post(reverse("account_login"), {"login": name, "password": password})
        assert client.session["_auth_user_id"] == str({"steward": steward, "Steward": other}[name].pk)
    crossed = Client()
    crossed.post(reverse("account_login"), {"login": "Steward", "password": PASSWORD})
    assert "_auth_user_id" not in crossed.session


@pytest.mark.parametrize(
    ("password", "told"),
    [("12345678", "entirely numeric"), ("short1", "too short"), ("password1", "too common")],
)
def test_what_is_wrong_with_a_new_password_stands_where_it_was_typed_first(
    people, steward, client_of, password, told
):
    """And the rules stand there before, in one sentence."""
    link = invitations.invite_to_installation(people["administrator"], may_create_datasets=False)
    reset = password_links.make(people["administrator"], steward)
    for page, names in (
        (reverse("invitation", args=[link.secret]), ("password1", "password2")),
        (reverse("account_reset_password_from_key", args=[reset]), ("new_password1", "new_password2")),
    ):
        visitor = client_of("anonymous")
        form = visitor.get(page).context["form"]
        assert form.fields[names[0]].help_text == LIKE_THIS
        answer = visitor.post(page, {"username": "newcomer", **dict.fromkeys(names, password)})
        assert told in str(answer.context["form"].errors[names[0]])
        assert names[1] not in answer.context["form"].errors


def test_a_forgotten_password_is_nobodys_riddle(client_of):
    """Also where no mail is sent."""
    page = client_of("anonymous").get(reverse("account_login")).content.decode()
    assert "Forgot your password? An administrator can give you a link" in page


def test_nobody_signs_up_by_themselves(client_of):
    for name in ("account_signup", "account_set_password", "mfa_trust", "account_inactive"):
        with pytest.raises(NoReverseMatch):
            reverse(name)
    for path in ("/signup/", "/accounts/signup/", "/account/signup/", "/sign-in/signup/"):
        assert client_of("anonymous").get(path).status_code in (302, 404)
        assert client_of("steward").get(path).status_code == 404


def test_no_page_of_sign_in_is_kept_by_a_cache(client_of, half_way, steward):
    inside = client_of("steward")
    for client, name in [
        (client_of("anonymous"), "account_login"),
        (half_way, "mfa_authenticate"),
        *((inside, name) for name in ("account_reauthenticate", "mfa_reauthenticate", "mfa_index")),
        *((inside, name) for name in ("account_change_password", "mfa_view_recovery_codes")),
    ]:
        answer = client.get(reverse(name))
        assert answer.status_code == 200, name
        assert "no-store" in answer["Cache-Control"]
        assert "Too" not in answer.content.decode()
