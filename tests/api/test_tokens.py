"""API tokens: what is stored cannot be used, what is revoked is refused."""

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.test import APIRequestFactory

from heatmaps.models import ApiToken, Scope


@pytest.fixture
def person(db):
    return get_user_model().objects.create_user("ada", password="long enough to pass")


def authenticate(secret):
    request = APIRequestFactory().get("/", headers={"Authorization": f"Bearer {secret}"})
    return TokenAuthentication().authenticate(request)


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
