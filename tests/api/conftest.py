"""The people and datasets of the pages' tests, and a client with a token for each of them."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from heatmaps.http import counters
from heatmaps.ingest import uploads
from heatmaps.models import ApiToken, Scope
from heatmaps.releases import clock, lifecycle
from tests.pages import conftest as pages

# The same people, datasets and releases as in the tests of the pages.
for _name in (
    "no_broker",
    "people",
    "client_of",
    "make_dataset",
    "dataset",
    "lake",
    "trips",
    "panel",
    "upload",
    "start_later",
    "queued",
    "published",
    "counted",
):
    globals()[_name] = getattr(pages, _name)

ALL_SCOPES = [scope.value for scope in Scope]


class ApiClient(Client):
    """Sends JSON with a token."""

    def __init__(self, secret=None):
        super().__init__(headers={"Authorization": f"Bearer {secret}"} if secret else None)

    def send(self, method, name, *arguments, body=None, query="", **headers):
        """`name` is that of an address in `api.urls`; `body` is JSON, or bytes as they are."""
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return self.generic(
            method,
            reverse(f"api:{name}", args=arguments) + query,
            content,
            content_type=headers.pop("content_type", "application/json"),
            headers=headers,
        )


@pytest.fixture(autouse=True)
def no_counts_of_earlier_tests():
    counters.own().clear()


@pytest.fixture
def token_of(people):
    """The secret of a new token by name of its owner; all scopes where not said."""

    def make(name, scopes=ALL_SCOPES):
        return ApiToken.objects.create(user=people[name], name="test", scopes=list(scopes))[1]

    return make


@pytest.fixture
def api(token_of):
    """A client by name of its person; "anonymous" sends no token."""

    def make(name, scopes=ALL_SCOPES):
        return ApiClient(None if name == "anonymous" else token_of(name, scopes))

    return make


@pytest.fixture
def question():
    """A question; ε = 0.5 on 16 × 16 cells where not said."""

    def make(**changes):
        plain = {"mechanism": "sparse-emd", "epsilon": "0.5", "resolution": 16, "parameters": {}}
        return plain | changes

    return make


@pytest.fixture
def client_of_token():
    """A client that sends a given secret."""
    return ApiClient


@pytest.fixture
def work(sent):
    """Does what the workers would do with the messages so far."""
    runs = {"heatmaps.ingest": uploads.run, "heatmaps.release": lifecycle.run}

    def do():
        clock.tick()
        while sent:
            # All of it before the next tick: what was begun and is not drawn by then is put off.
            while sent:
                task, number = sent.pop(0)
                runs[task](number)
            clock.tick()

    return do
