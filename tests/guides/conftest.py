"""Datasets with published maps that may guide others, and people of every role."""

from functools import partial

import pytest

from heatmaps.models import Membership
from heatmaps.releases import lifecycle, publication
from heatmaps.releases.lifecycle import ReleaseRequest
from tests.releases import conftest as releases
from tests.services import seed
from tests.services.draws import carry_out

for _name in ("steward", "analyst", "add_checkins", "dataset", "no_broker"):
    globals()[_name] = getattr(releases, _name)


@pytest.fixture
def ask():
    """A question that may have a guide: 50 people, ε = 4, 16 × 16 cells where not said."""

    def make(**changes):
        plain = {"mechanism": "adaptive", "epsilon": "4", "resolution": 16, "parameters": {}}
        return ReleaseRequest(**(plain | changes))

    return make


@pytest.fixture
def make_dataset(steward, analyst):
    """A dataset without data, of 50 people, with an ε limit of 40."""

    def make(slug="city", **facts):
        dataset = seed.make_dataset(steward, slug, **({"limits": {"presence": "40"}} | facts))
        Membership.objects.create(dataset=dataset, user=analyst, role="analyst")
        return dataset

    return make


@pytest.fixture
def reserve(analyst, ask):
    """A map that is asked for."""

    def make(dataset, *, key=None, **changes):
        return lifecycle.request_release(analyst, dataset, ask(**changes), idempotency_key=key)

    return make


@pytest.fixture
def publish(reserve):
    """A published map."""

    def make(dataset, **changes):
        release = reserve(dataset, **changes)
        carry_out(release.pk)
        release.refresh_from_db()
        assert release.state == "published"
        return release

    return make


@pytest.fixture
def make_public(make_dataset, add_checkins, publish, steward):
    """A public map of another dataset."""

    def make(slug="other", rectangle=None, **facts):
        other = make_dataset(slug, **facts)
        add_checkins(other)
        return publication.set_public(steward, publish(other, rectangle=rectangle), public=True)

    return make


@pytest.fixture
def foreign(make_public):
    """One of the same region."""
    return make_public()


@pytest.fixture
def keep_file(steward):
    """A guide file straight in the tables."""

    return partial(seed.store_guide, steward)
