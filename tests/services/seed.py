"""A city straight in the tables: one upload of random check-ins, made available in a new version."""

from uuid import uuid4

import numpy as np

from heatmaps import datasets
from heatmaps.datasets import NewDataset
from heatmaps.ingest.versions import next_version
from heatmaps.models import CheckIn, Upload, UploadState
from mechanisms.grid import Region
from mechanisms.guarantee import Relation

PERSONS = 40


def make_dataset(steward, slug, relation=Relation.ADD_REMOVE, **facts):
    """A dataset without data; an ε limit of 2 where not said."""
    if relation is Relation.REPLACE:
        facts = {"limits": {"record": "2", "radius": None}, "persons": 50, "radius_m": 500} | facts
    else:
        facts = {"limits": {"presence": "2"}, "expected_persons": 50} | facts
    new = NewDataset(slug=slug, title="A city", region=Region(0, 0, 1, 1), relation=relation, **facts)
    return datasets.create(steward, new)


def add_checkins(dataset, seed=1):
    """40 persons with 3 check-ins each in random cells; the new data version."""
    upload = Upload.objects.create(
        dataset=dataset,
        state=UploadState.READY,
        uploaded_by=dataset.created_by,
        file_name="checkins.csv",
        size_bytes=1,
        content_digest=uuid4().hex,
    )
    cells = np.random.default_rng(seed).integers(0, 2**62, 3 * PERSONS).tolist()
    rows = [CheckIn(upload=upload, person=at // 3, cell=cell) for at, cell in enumerate(cells)]
    CheckIn.objects.bulk_create(rows)
    return next_version(dataset, actor=dataset.created_by)
