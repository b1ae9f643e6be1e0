"""A collection, its people, a clock that tests move, and devices in a few lines."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from heatmaps.collections import collection as collections
from heatmaps.collections import handover, round_keys, rounds
from heatmaps.models import Membership
from tests.collections.devices import Shuffler
from tests.collections.steps import HOUR, again
from tests.services import seed


class Clock:
    """What `timezone.now` says."""

    def __init__(self):
        self.now = datetime.now(UTC)  # events are stamped with the machine's

    def pass_by(self, **time):
        self.now += timedelta(**time)


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(timezone, "now", lambda: made.now)
    return made


@pytest.fixture
def steward(db):
    return User.objects.create_user("steward")


@pytest.fixture
def analyst(db):
    return User.objects.create_user("analyst")


@pytest.fixture
def make_collection(steward, analyst, clock):
    def make(slug="walks", **facts):
        made = seed.make_collection(steward, slug, **facts)
        Membership.objects.create(dataset=made, user=analyst, role="analyst")
        return made

    return make


@pytest.fixture
def dataset(make_collection):
    return make_collection()


@pytest.fixture
def token(dataset):
    return collections.new_token(dataset.collection)


@pytest.fixture
def ask():
    """A round of central points; small squares make few bits."""

    def make(**changes):
        plain = {
            "mechanism": "geo-shuffle",
            "epsilon": "2",
            "delta": "0.000001",
            "least_honest": 20,
            "parameters": {"cell_m": "600"},
        }
        return seed.round_request(**(plain | changes))

    return make


@pytest.fixture
def shuffler():
    return Shuffler()


@pytest.fixture(autouse=True)
def clean_files():
    """Files outlive the rows of a test, those of other folders' tests too."""
    _forget_all()
    yield
    _forget_all()


def _forget_all():
    for round_id in round_keys.rounds():
        handover.forget(round_id)


@pytest.fixture(autouse=True)
def no_broker(sent):
    """What is sent goes nowhere."""


@pytest.fixture
def planned(steward, dataset, ask, clock):
    made = rounds.plan(steward, dataset, ask(), opens_at=clock.now + HOUR, closes_at=clock.now + 2 * HOUR)
    return rounds.round_of(dataset, made.number)


@pytest.fixture
def fixed(planned, shuffler):
    handover.fix(planned.pk, shuffler.part())
    return again(planned)
