"""Creates the demo's two datasets, one of each relation, and their published releases."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.contrib.auth.models import User

from heatmaps import datasets
from heatmaps.datasets import NewDataset
from heatmaps.demo.city import City, write_csv
from heatmaps.demo.places import REGION
from heatmaps.ingest import inline
from heatmaps.ledger.transitions.moves import QUEUED
from heatmaps.models import AccountKind, Dataset, ReleaseState, RowCapacity, UploadState
from heatmaps.releases import clock, lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from mechanisms.guarantee import Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    new: NewDataset
    city: City
    release: ReleaseRequest | None = None


DEMOS: Final = (
    Demo(
        new=NewDataset(
            slug="demo-city",
            title="Demo city: visitors and residents",
            region=REGION,
            relation=Relation.ADD_REMOVE,
            limits={AccountKind.PRESENCE: "10", AccountKind.DELTA: "0"},
            expected_persons=2_000,
            row_capacity=RowCapacity.SMALL,
        ),
        city=City(persons=2_000, checkins=40_000, seed=1),
        release=ReleaseRequest(mechanism="adaptive", epsilon="1", resolution=256, parameters={}),
    ),
    Demo(
        new=NewDataset(
            slug="demo-panel",
            title="Demo city: an enrolled panel",
            region=REGION,
            relation=Relation.REPLACE,
            limits={AccountKind.RECORD: "20", AccountKind.RADIUS: "10", AccountKind.DELTA: "0.0001"},
            persons=2_000,
            radius_m=500,
            row_capacity=RowCapacity.SMALL,
        ),
        # Not everybody enrolled checked in: the others are empty records.
        city=City(persons=1_950, checkins=39_000, seed=2),
        # The middle of the panel to about 20 m; it leaves most of the whole-record budget.
        release=ReleaseRequest(mechanism="exponential", epsilon="0.05"),
    ),
)

Say = Callable[[str], object]


def ensure(steward: User, say: Say) -> None:
    """Makes what is missing of the demo; what is there stays as it is."""
    for demo in DEMOS:
        dataset = Dataset.objects.filter(slug=demo.new.slug).first()
        if dataset is None:
            say(f"creating the dataset {demo.new.slug}")
            dataset = datasets.create(steward, demo.new, is_demo=True)
        if dataset.is_demo:
            _ensure_upload(steward, dataset, demo.city, say)
            _ensure_release(steward, dataset, demo.release, say)


def _ensure_upload(steward: User, dataset: Dataset, city: City, say: Say) -> None:
    upload = dataset.uploads.exclude(state=UploadState.FAILED).order_by("created_at").first()
    if upload is not None:
        inline.finish(upload, progress=_silent)  # one that an earlier run was stopped in
        return
    say(f"uploading {city.checkins} synthetic check-ins of {city.persons} persons")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{dataset.slug}.csv.gz"
        write_csv(city, path)
        inline.upload_file(steward, dataset, path, progress=_silent)


def _ensure_release(steward: User, dataset: Dataset, request: ReleaseRequest | None, say: Say) -> None:
    if request is None or dataset.releases.filter(state=ReleaseState.PUBLISHED).exists():
        return
    waiting = dataset.releases.filter(state__in=QUEUED).first()
    say("publishing a first release")
    release = waiting or lifecycle.request_release(steward, dataset, request)
    clock.complete(release.pk)


def _silent(_bytes_read: int, _size_bytes: int) -> None:
    pass
