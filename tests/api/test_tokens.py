"""API tokens: what is stored cannot be used, what is revoked is refused."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.utils import timezone
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.test import APIRequestFactory
from rest_framework.throttling import SimpleRateThrottle

from api.authentication import BearerAuthentication
from heatmaps.models import ApiToken, Scope


@pytest.fixture
def person(db):
    return get_user_model().objects.create_user("ada", password="long enough to pass")


def authenticate(secret):
    request = APIRequestFactory().get("/", headers={"Authorization": f"Bearer {secret}"})
    return BearerAuthentication().authenticate(request)


def test_it_authenticates_its_owner_and_carries_its_scopes(person):
    _, secret = ApiToken.objects.create(user=person, name="laptop", scopes=[Scope.READ])

    user, token = authenticate(secret)

    assert user == person
    assert token.scopes == ["read"]


def test_it_stores_no_usable_secret(person):
    _, secret = ApiToken.objects.create(user=person, name="laptop", scopes=[])

    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM heatmaps_apitoken")
        row = cursor.fetchone()

    assert not any(secret in str(value) for value in row)
    assert not any(len(str(value)) >= 16 and str(value) in secret for value in row)
    for stored in row:
        with pytest.raises(AuthenticationFailed):
            authenticate(stored)


def test_it_refuses_a_revoked_token(person):
    token, secret = ApiToken.objects.create(user=person, name="laptop", scopes=[])
    token.delete()

    with pytest.raises(AuthenticationFailed):
        authenticate(secret)


MAKE = {"username": "analyst", "password": "long enough to pass", "name": "laptop", "scopes": ["read"]}


@pytest.fixture
def analyst(people):
    people["analyst"].set_password(MAKE["password"])
    people["analyst"].save()
    return people["analyst"]


def make(api, **changes):
    return api("anonymous").send("POST", "tokens", body=MAKE | changes)


def test_it_makes_a_token_that_works(api, analyst, client_of_token):
    answer = make(api, scopes=["release", "read", "read"], days=30)

    made = answer.json()
    assert answer.status_code == 201
    assert answer["Cache-Control"] == "no-store"
    assert made["scopes"] == ["read", "release"]
    assert made["expiry"] is not None
    assert client_of_token(made["token"]).send("GET", "datasets").status_code == 200


def test_it_shows_and_stores_the_secret_nowhere_else(api, analyst, client_of_token):
    secret = make(api).json()["token"]

    listed = client_of_token(secret).send("GET", "tokens").content.decode()
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM heatmaps_apitoken")
        stored = str(cursor.fetchall())

    assert secret not in listed + stored
    assert secret[:15] in listed  # what it is revoked by


@pytest.mark.parametrize("changes", [{"password": "wrong"}, {"username": "nobody"}, {"username": "ANALYST"}])
def test_it_does_not_say_what_is_wrong_with_credentials(api, analyst, changes):
    answer = make(api, **changes)

    assert answer.status_code == 401
    assert answer.json()["code"] == "wrong_credentials"
    assert answer.content == make(api, username="somebody else").content


def test_it_refuses_a_closed_account(api, analyst):
    analyst.is_active = False
    analyst.save()

    assert make(api).status_code == 401


@pytest.mark.parametrize(
    "changes",
    [
        {"scopes": []},
        {"scopes": ["admin"]},
        {"days": 0},
        {"days": True},
        {"name": ""},
        {"is_superuser": True},
    ],
)
def test_it_refuses_a_token_that_says_too_little_or_too_much(api, analyst, changes):
    answer = make(api, **changes)

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"].split(".")[0] in changes


def test_it_lists_and_revokes_ones_own_only(api, analyst, client_of_token):
    made = make(api).json()
    own = client_of_token(made["token"])
    of_somebody_else = api("steward").send("GET", "tokens").json()["results"][0]["id"]

    assert [row["id"] for row in own.send("GET", "tokens").json()["results"]] == [made["id"]]
    assert own.send("DELETE", "token", of_somebody_else).status_code == 404
    assert own.send("DELETE", "token", made["id"]).status_code == 204
    assert own.send("GET", "tokens").status_code == 401


def test_it_stops_who_guesses_passwords_of_one_name(api, analyst):
    """Also when the right one comes then; other names go on."""
    for _ in range(10):
        assert make(api, password="wrong").status_code == 401

    stopped = make(api)

    assert stopped.status_code == 429
    assert stopped.json()["code"] == "throttled"
    assert int(stopped["Retry-After"]) > 0
    assert make(api, username="steward").status_code == 401


def test_it_stops_who_guesses_names(api, analyst):
    statuses = [make(api, username=f"name{number}").status_code for number in range(61)]

    assert statuses == [401] * 60 + [429]


def test_it_believes_nobody_about_his_address(api, analyst):
    client = api("anonymous")
    for number in range(60):
        client.send(
            "POST",
            "tokens",
            body=MAKE | {"username": f"a{number}"},
            **{"x-forwarded-for": f"10.0.0.{number}"},
        )

    assert make(api, username="b").status_code == 429


def test_it_stops_a_token_that_asks_too_often(api, people, monkeypatch):
    monkeypatch.setitem(SimpleRateThrottle.THROTTLE_RATES, "token", "3/min")
    busy = api("analyst")

    assert [busy.send("GET", "datasets").status_code for _ in range(4)] == [200, 200, 200, 429]
    assert api("analyst").send("GET", "datasets").status_code == 200


def test_a_token_that_has_ended_is_refused_and_deleted(api, analyst, client_of_token):
    ended, other = make(api, days=30).json(), make(api, days=30).json()
    lasting = make(api).json()
    ApiToken.objects.filter(pk__in=ids_of(ended, other)).update(expiry=timezone.now() - timedelta(seconds=1))

    assert client_of_token(lasting["token"]).send("GET", "datasets").status_code == 200
    assert client_of_token(ended["token"]).send("GET", "datasets").status_code == 401
    assert not ApiToken.objects.filter(user=analyst, expiry__isnull=False).exists()
    assert client_of_token(lasting["token"]).send("GET", "datasets").status_code == 200


def test_making_a_token_deletes_those_that_have_ended(api, analyst, people):
    ended, others = make(api, days=30).json(), ApiToken.objects.exclude(user=analyst).count()
    ApiToken.objects.filter(pk__in=ids_of(ended)).update(expiry=timezone.now() - timedelta(seconds=1))
    made = make(api).json()

    assert [row.token_key for row in ApiToken.objects.filter(user=analyst)] == [made["id"]]
    assert ApiToken.objects.exclude(user=analyst).count() == others


def ids_of(*tokens):
    rows = ApiToken.objects.filter(token_key__in=[token["id"] for token in tokens])
    return list(rows.values_list("pk", flat=True))
