"""Datasets with check-ins in the tables, and people of every role."""

import pytest
from django.contrib.auth.models import User

from heatmaps.models import Membership
from heatmaps.releases.lifecycle import ReleaseRequest
from tests.services import seed


@pytest.fixture
def steward(db):
    return User.objects.create_user("steward")


@pytest.fixture
def analyst(db):
    return User.objects.create_user("analyst")


@pytest.fixture
def make_dataset(steward, analyst):
    """A dataset without data; an ε limit of 2 where not said."""

    def make(slug="city", *relation, **facts):
        dataset = seed.make_dataset(steward, slug, *relation, **facts)
        Membership.objects.create(dataset=dataset, user=analyst, role="analyst")
        return dataset

    return make


@pytest.fixture
def add_checkins(db):
    """40 persons with 3 check-ins each, made available in a new version."""
    return seed.add_checkins


@pytest.fixture
def dataset(make_dataset, add_checkins):
    made = make_dataset()
    add_checkins(made)
    return made


@pytest.fixture
def ask():
    """A request; ε = 0.5 on 16 × 16 cells where not said."""

    def make(**changes):
        plain = {"mechanism": "sparse-emd", "epsilon": "0.5", "resolution": 16, "parameters": {}}
        return ReleaseRequest(**(plain | changes))

    return make


@pytest.fixture(autouse=True)
def no_broker(sent):
    """What is sent goes nowhere."""
