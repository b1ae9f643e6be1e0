"""A city straight in the tables: one upload of random check-ins, made available in a new version."""

import hashlib
import json
from datetime import timedelta
from uuid import uuid4

import numpy as np
from django.conf import settings
from django.utils import timezone

from heatmaps import datasets
from heatmaps.collections import rounds
from heatmaps.collections.collection import NewCollection
from heatmaps.datasets import NewDataset
from heatmaps.districts import geojson
from heatmaps.ingest import row_copy
from heatmaps.ingest.formats.reader import NO_TIME
from heatmaps.ingest.row_copy import Block
from heatmaps.ingest.versions.advance import next_version
from heatmaps.models import Charge, DistrictFile, GuideFile, Release, Upload, UploadState
from heatmaps.pseudonyms.person_hashes import persons_of
from heatmaps.releases.request import ReleaseRequest, RoundTerms
from mechanisms.guarantee import Relation
from mechanisms.guide import Guide
from mechanisms.space.grid import Region
from tests.geojson import districts, square

PERSONS = 40


def make_dataset(steward, slug, relation=Relation.ADD_REMOVE, **facts):
    """A dataset without data; an ε limit of 2 where not said, a degree around."""
    facts = {"region": Region(0, 0, 1, 1)} | facts
    if relation is Relation.REPLACE:
        facts = {"limits": {"record": "2", "radius": None}, "persons": 50, "radius_m": 500} | facts
    else:
        facts = {"limits": {"presence": "2"}, "expected_persons": 50} | facts
    new = NewDataset(slug=slug, title="A city", relation=relation, **facts)
    return datasets.create(steward, new)


def make_collection(steward, slug="walks", **facts):
    """A dataset that people's devices fill; for 40 people, some twenty kilometres around."""
    words = {
        "question": "Where did you wait for a bus?",
        "analyser_operator": "City office",
        "shuffler_operator": "University",
        "analyser_url": "https://maps.example",
        "shuffler_url": "https://shuffler.example",
    }
    limits = facts.pop("limits", {"record": None, "radius": "20", "delta": "0.001"})
    persons = facts.pop("persons", 40)
    return make_dataset(
        steward,
        slug,
        Relation.REPLACE,
        region=Region(-98.0, 30.0, -97.8, 30.2),
        limits=limits,
        persons=persons,
        radius_m=600,
        collection=NewCollection(**(words | facts)),
    )


def round_request(**words):
    """A request of a round, of one dict as the API takes it."""
    terms = {name: words.pop(name) for name in RoundTerms.__dataclass_fields__ if name in words}
    return ReleaseRequest(**words, round=RoundTerms(**terms))


def new_release(person, plan, version):
    """A release that is not reserved yet, as a request makes it."""
    expires_at = timezone.now() + timedelta(seconds=settings.RESERVATION_SECONDS)
    return plan.release(version, requested_by=person, expires_at=expires_at)


def plan_round(steward, dataset, **changes):
    """A round of tomorrow that nobody has joined yet."""
    plain = {
        "mechanism": "geo-shuffle",
        "epsilon": "2",
        "delta": "0.000001",
        "least_honest": 20,
        "parameters": {"cell_m": "600"},
    }
    opens_at = timezone.now() + timedelta(days=1)
    moments = {"opens_at": opens_at, "closes_at": opens_at + timedelta(days=1)}
    return rounds.plan(steward, dataset, round_request(**(plain | changes)), **moments)


def add_checkins(dataset, seed=1, codes=2**62):
    """40 persons with 3 check-ins each in random cells, of the first so many; the new data version."""
    upload = Upload.objects.create(
        dataset=dataset,
        state=UploadState.READY,
        uploaded_by=dataset.created_by,
        file_name="checkins.csv",
        size_bytes=1,
        content_digest=uuid4().hex,
    )
    cells = np.random.default_rng(seed).integers(0, codes, 3 * PERSONS).tolist()
    store(upload, [(at // 3, cell, NO_TIME) for at, cell in enumerate(cells)])
    return next_version(dataset, actor=dataset.created_by)


def store(upload, rows):
    """Check-ins of an upload without a file: (person's number, cell, epoch seconds or `NO_TIME`) each."""
    persons, cells, times = np.array(rows, np.int64).reshape(-1, 3).T
    block = Block(
        persons=persons_of(persons, np.zeros_like(persons)),
        cells=cells,
        times=times,
        outside=np.zeros(cells.size, np.bool_),
    )
    row_copy.insert(upload.pk, block)


def store_districts(person, dataset, file_id=None, title="Boroughs", **named):
    """A stored file, without a child that reads it; one square where none is named."""
    content = json.dumps(districts(**(named or {"Centre": square(0.2, 0.2)}))).encode()
    areas = geojson.merged_by_name(geojson.read(content))
    packed = geojson.packed(geojson.to_geojson(areas))
    return DistrictFile.objects.create(
        id=file_id or uuid4(),
        dataset=dataset,
        title=title,
        source="City of Hazel, 2026",
        licence="CC0",
        areas=len(areas),
        corners=sum(area.corners for area in areas),
        content=packed,
        sha256=hashlib.sha256(packed).hexdigest(),
        stored_by=person,
        stored_at=timezone.now(),
    )


def store_guide(person, dataset, title="Built-up area", seed=1):
    """A guide file, without a child that reads it, whatever was uploaded before."""
    guide = Guide.of_values(np.random.default_rng(seed).random((64, 64)))
    return GuideFile.objects.create(
        dataset=dataset,
        title=title,
        source="Hazel Institute, 2025",
        file_sha256="0" * 64,
        shares=guide.shares.astype("<i8").tobytes(),
        sha256=guide.sha256,
        stored_by=person,
        stored_at=timezone.now(),
    )


def copied(release, **columns):
    """The same row once more but for some columns, with what it took."""
    copy = Release.objects.get(pk=release.pk)
    copy.pk, copy._state.adding = uuid4(), True
    for name, value in columns.items():
        setattr(copy, name, value)
    copy.save(force_insert=True)
    charges = Charge.objects.filter(release=release)
    Charge.objects.bulk_create(
        Charge(release=copy, account=each.account, amount=each.amount) for each in charges
    )
    return copy
