"""Every door that hashes a password waits for a place first, and says when to try again."""

from contextlib import ExitStack, contextmanager

import pytest
from django.contrib.auth.hashers import get_hasher
from django.contrib.auth.models import User
from django.urls import reverse

from heatmaps.config import sign_in
from heatmaps.http import attempt_limits, password_places
from heatmaps.people import invitations, password_links
from tests.pages.confirming import confirm

PASSWORD, NEW = "long enough to pass", "grass grows by inches"
ADDRESS = "127.0.0.1"
TOKEN = {"name": "x", "scopes": ["read"]}


@pytest.fixture
def doors(client_of, people):
    """Posts, by door."""
    ada = User.objects.create_user("ada", password=PASSWORD)
    inside = client_of("anonymous")
    inside.force_login(ada)
    confirm(inside, ada)
    link = invitations.invite_to_installation(people["administrator"], may_create_datasets=False)
    reset = password_links.make(people["administrator"], ada)
    typed = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}

    def anybody(page, body, *arguments, **how):
        return lambda: client_of("anonymous").post(reverse(page, args=arguments), body, **how)

    def token(name):
        body = TOKEN | {"username": name, "password": PASSWORD}
        return anybody("api:tokens", body, content_type="application/json")

    return {
        "sign-in": anybody("account_login", {"login": "ada", "password": PASSWORD}),
        "sign-in, unknown": anybody("account_login", {"login": "nobody!", "password": PASSWORD}),
        "token": token("ada"),
        "token, unknown": token("nobody!"),
        "confirm": lambda: inside.post(reverse("account_reauthenticate"), {"password": PASSWORD}),
        "change": lambda: inside.post(reverse("account_change_password"), typed),
        "link": anybody(
            "account_reset_password_from_key", {"new_password1": NEW, "new_password2": NEW}, reset
        ),
        "invitation": anybody(
            "invitation", {"username": "newcomer", "password1": NEW, "password2": NEW}, link.secret
        ),
    }


DOORS = ("sign-in", "sign-in, unknown", "token", "token, unknown", "confirm", "change", "link", "invitation")


@pytest.fixture
def full(monkeypatch):
    monkeypatch.setattr(password_places.places, "wait_seconds", 0)
    with ExitStack() as taken:
        for _ in range(password_places.PLACES):
            taken.enter_context(password_places.places.place(0))
        yield taken


@pytest.mark.parametrize("door", DOORS)
def test_no_door_hashes_without_a_place(doors, full, door):
    password = User.objects.get(username="ada").password

    answer = doors[door]()

    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 0
    if door.startswith("token"):
        assert answer["Content-Type"] == "application/problem+json"
        assert answer.json()["code"] == "busy"
    else:
        assert "checking other passwords; try again in" in answer.content.decode()
    assert User.objects.get(username="ada").password == password
    assert not User.objects.filter(username="newcomer").exists()
    full.close()
    assert doors[door]().status_code in (200, 201, 302, 401)


def test_what_is_turned_away_counts_as_a_failure_until_somebody_gets_in(doors, full):
    for _ in range(3):
        doors["sign-in"]()
    doors["confirm"]()
    assert attempt_limits.failures(ADDRESS) == 4
    assert attempt_limits.failures("192.0.2.1") == 0
    full.close()
    doors["sign-in, unknown"]()
    doors["token, unknown"]()
    assert attempt_limits.failures(ADDRESS) == 6

    doors["sign-in"]()

    assert attempt_limits.failures(ADDRESS) == 0
    with password_places.places.place(0), password_places.places.place(0):
        assert doors["sign-in"]().status_code == 503
    assert attempt_limits.failures(ADDRESS) == 0  # its owner is known there by now


def test_who_is_inside_and_guesses_is_counted(client_of):
    ada = User.objects.create_user("ada", password=PASSWORD)
    inside = client_of("anonymous")
    inside.force_login(ada)
    inside.post(reverse("account_reauthenticate"), {"password": "wrong"})
    typed = {"oldpassword": "wrong", "password1": NEW, "password2": NEW}
    inside.post(reverse("account_change_password"), typed)

    assert attempt_limits.failures(ADDRESS) == 2


def test_an_address_that_failed_often_leaves_a_place(doors, monkeypatch):
    monkeypatch.setattr(password_places.places, "wait_seconds", 0)
    for _ in range(password_places.MANY):
        attempt_limits.count_failure(ADDRESS)
    with password_places.places.place(password_places.MANY):
        assert doors["token"]().status_code == 503
    with password_places.places.place(0):
        assert doors["token"]().status_code == 201


def test_an_address_from_where_somebody_signed_in_is_next(doors, monkeypatch):
    """Before those that never failed, as they may try for the first time."""
    given = []
    monkeypatch.setattr(
        type(password_places.places), "place", lambda _places, failures: note(given, failures)
    )
    for door in ("sign-in", "sign-in, unknown", "token", "token, unknown", "sign-in"):
        doors[door]()

    assert given == [0, -1, 0, -1, 0]


@contextmanager
def note(given, failures):
    given.append(failures)
    yield


def test_passwords_are_hashed_as_django_does(settings):
    """Those that are stored are still right."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    stored = get_hasher().encode(PASSWORD, "salt", iterations=2)

    settings.PASSWORD_HASHERS = sign_in.PASSWORD_HASHERS

    assert get_hasher().verify(PASSWORD, stored)
    assert get_hasher().encode(PASSWORD, "salt", iterations=2) == stored
