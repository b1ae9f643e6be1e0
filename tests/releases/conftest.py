"""Datasets with check-ins in the tables, and people of every role."""

from uuid import uuid4

import numpy as np
import pytest
from django.contrib.auth.models import User

from heatmaps import datasets
from heatmaps.datasets import NewDataset
from heatmaps.ingest.versions import next_version
from heatmaps.models import CheckIn, Membership, Upload, UploadState
from heatmaps.releases import ReleaseRequest
from mechanisms.grid import Region
from mechanisms.guarantee import Relation


@pytest.fixture
def steward(db):
    return User.objects.create_user("steward")


@pytest.fixture
def analyst(db):
    return User.objects.create_user("analyst")


@pytest.fixture
def make_dataset(steward, analyst):
    """A dataset without data; an ε limit of 2 where not said."""

    def make(slug="city", relation=Relation.ADD_REMOVE, **facts):
        if relation is Relation.REPLACE:
            facts = {"limits": {"record": "2", "radius": None}, "persons": 50, "radius_m": 500} | facts
        else:
            facts = {"limits": {"presence": "2"}, "expected_persons": 50} | facts
        new = NewDataset(slug=slug, title="A city", region=Region(0, 0, 1, 1), relation=relation, **facts)
        dataset = datasets.create(steward, new)
        Membership.objects.create(dataset=dataset, user=analyst, role="analyst")
        return dataset

    return make


@pytest.fixture
def add_checkins(steward):
    """An upload of 40 persons with 3 check-ins each in random cells, made available in a new version."""

    def add(dataset, seed=1):
        upload = Upload.objects.create(
            dataset=dataset,
            state=UploadState.READY,
            uploaded_by=steward,
            file_name="checkins.csv",
            size_bytes=1,
            content_digest=uuid4().hex,
        )
        cells = np.random.default_rng(seed).integers(0, 2**62, 120).tolist()
        rows = [CheckIn(upload=upload, person=at // 3, cell=cell) for at, cell in enumerate(cells)]
        CheckIn.objects.bulk_create(rows)
        return next_version(dataset, actor=steward)

    return add


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
def sent(monkeypatch):
    """Messages instead of a broker: (task, ids) in the order they were sent."""
    messages = []
    monkeypatch.setattr(
        "heatmaps.queue.current_app.send_task",
        lambda name, args, **_options: messages.append((name, *args)),
    )
    return messages
