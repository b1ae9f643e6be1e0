"""The people and the dataset of the pages' tests."""

import pytest
from django.urls import reverse

from heatmaps.people import accounts, invitations
from tests.pages import conftest as pages
from tests.people.provider_steps import HOST, use
from tests.services.provider import Provider
from tests.services.provider_visitor import back_from

for _name in (
    "no_broker",
    "no_counts_of_earlier_tests",
    "people",
    "client_of",
    "make_dataset",
    "dataset",
    "start_later",
    "queued",
    "published",
):
    globals()[_name] = getattr(pages, _name)


@pytest.fixture
def steward(people):
    return people["steward"]


@pytest.fixture
def administrator(people):
    return people["administrator"]


@pytest.fixture
def second(people, dataset):
    """Another steward."""
    dataset.memberships.create(user=people["stranger"], role="steward")
    return people["stranger"]


@pytest.fixture
def member_of(dataset):
    return lambda user: dataset.memberships.select_related("dataset", "user").get(user=user)


@pytest.fixture
def events(dataset):
    """(kind, actor, before, after) of the events about people, the first one first."""

    def read():
        rows = dataset.events.exclude(kind__in=["open", "version", "reserve", "spend", "publish"])
        return [
            (row.kind, row.actor.username, row.before, row.after)
            for row in rows.select_related("actor").order_by("sequence")
        ]

    return read


@pytest.fixture(scope="session")
def running_provider(tmp_path_factory):
    """A sign-in provider of this process's tests; `provider` makes it say what is usual."""
    folder = tmp_path_factory.mktemp("provider")
    with Provider.started(folder, f"{HOST}/sign-in/provider/answer/") as started:
        yield started


@pytest.fixture
def provider(running_provider, settings, monkeypatch, db):
    """A provider that says what is usual, and is the one of settings."""
    (running_provider.folder / "claims.json").write_text("{}")
    for name, value in running_provider.environment.items():
        monkeypatch.setenv(name, value)
    use(settings)
    return running_provider


@pytest.fixture
def come(provider):
    """Sign in as somebody of the provider; what is answered in the end."""

    def walk(client, name, **sent):
        redirect = client.post(reverse("sign-in-provider"), sent)
        assert redirect.status_code == 302, redirect.content.decode()
        assert redirect["Location"].startswith(f"{provider.issuer}/authorize/?")
        return client.get(back_from(redirect["Location"], name), follow=True)

    return walk


@pytest.fixture
def invitation(people, dataset):
    """The secret of an invitation of a new analyst."""
    accounts.allow_sign_up(people["administrator"], allowed=True)
    return invitations.invite(people["steward"], dataset, "analyst").secret
