"""The people and the dataset of the pages' tests."""

import pytest

from tests.pages import conftest as pages

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
