"""Datasets with data, people of every role, and a client for each of them."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from heatmaps.http import counters
from heatmaps.models import Membership
from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from heatmaps.sources import looks
from mechanisms.guarantee import Relation
from tests.pages.confirming import confirm
from tests.services import seed
from tests.services.draws import carry_out
from tests.sources.lake import Lake

ROLES = ("steward", "analyst", "auditor")


@pytest.fixture(autouse=True)
def no_broker(sent):
    """What is sent goes nowhere."""


@pytest.fixture(autouse=True)
def no_counts_of_earlier_tests():
    """All tests ask from one address."""
    counters.own().clear()


@pytest.fixture
def people(db):
    named = {name: User.objects.create_user(name) for name in (*ROLES, "stranger")}
    return named | {"administrator": User.objects.create_superuser("administrator")}


@pytest.fixture
def client_of(people):
    """A client by name, who signed in and entered the password again; "anonymous" is not signed in."""

    def make(name, **options):
        client = Client(**options)
        if name != "anonymous":
            client.force_login(people[name])
            confirm(client, people[name])
        return client

    return make


@pytest.fixture
def make_dataset(people):
    """A dataset without data and with a member of every role."""

    def make(slug="city", *relation, **facts):
        made = seed.make_dataset(people["steward"], slug, *relation, **facts)
        for role in ("analyst", "auditor"):
            Membership.objects.create(dataset=made, user=people[role], role=role)
        return made

    return make


@pytest.fixture
def dataset(make_dataset):
    made = make_dataset()
    seed.add_checkins(made)
    return made


@pytest.fixture
def lake(tmp_path, settings, monkeypatch):
    """Tables in a folder that the administrator's file names, without a Spark."""
    monkeypatch.setattr(looks, "LONGEST_SECONDS", 60)  # the machine may be busy with other tests
    made = Lake(tmp_path / "hazemap-lake")
    settings.SOURCES_FILE = made.sources_file
    return made


@pytest.fixture
def trips(lake, make_dataset):
    """A dataset that reads them, without a version."""
    return make_dataset("trips", source="trips")


@pytest.fixture
def upload(dataset):
    return dataset.uploads.get()


@pytest.fixture
def start_later(settings):
    """Releases that are asked for can be cancelled for a minute."""
    settings.START_SECONDS = 60


@pytest.fixture
def queued(people, dataset):
    """A reserved release, asked for by the analyst."""
    request = ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)
    return lifecycle.request_release(people["analyst"], dataset, request)


@pytest.fixture
def published(queued):
    carry_out(queued.pk)
    queued.refresh_from_db()
    assert queued.state == "published"
    return queued


@pytest.fixture
def counted(people, dataset):
    """A published map that states the error of each square."""
    request = ReleaseRequest(mechanism="adaptive", epsilon="0.5", resolution=16)
    made = lifecycle.request_release(people["analyst"], dataset, request)
    carry_out(made.pk)
    made.refresh_from_db()
    return made


@pytest.fixture
def panel(make_dataset):
    """Of the other relation, about 157 km across: a whole record is 31 radii."""
    limits = {"record": "90", "radius": "30"}
    made = make_dataset("panel", Relation.REPLACE, radius_m=5_000, limits=limits)
    seed.add_checkins(made)
    return made


@pytest.fixture
def question():
    """What the form of a new release sends; ε = 0.5 on 16 × 16 cells where not said."""

    def make(**changes):
        return {"mechanism": "sparse-emd", "epsilon": "0.5", "resolution": "16"} | changes

    return make


@pytest.fixture
def addresses(dataset, upload, published):
    """Every page that is read, by name."""
    return {
        "home": reverse("home"),
        "datasets": reverse("datasets"),
        "dataset-new": reverse("dataset-new"),
        "dataset": reverse("dataset", args=[dataset.slug]),
        "dataset-releases": reverse("dataset-releases", args=[dataset.slug]),
        "dataset-data": reverse("dataset-data", args=[dataset.slug]),
        "dataset-budget": reverse("dataset-budget", args=[dataset.slug]),
        "release-new": reverse("release-new", args=[dataset.slug]) + "?open=part",  # with its map
        "ledger": reverse("ledger", args=[dataset.slug]),
        "limit-change": reverse("limit-change", args=[dataset.slug, "presence"]),
        "upload": reverse("upload", args=[upload.pk]),
        "release": reverse("release", args=[published.pk]),
        "release-state": reverse("release-state", args=[published.pk]),
        "release-map": reverse("release-map", args=[published.pk]),
        "release-sheet": reverse("release-sheet", args=[published.pk]),
        "release-download": reverse("release-download", args=[published.pk, "npy"]),
        "help": reverse("help"),
    }
