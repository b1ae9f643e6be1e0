"""Guide files: who may store them and when, and what the ledger says of them."""

import hashlib

import numpy as np
import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from heatmaps.guides import files, raster
from heatmaps.guides.files import GuideFileFacts, TooLateForGuides
from heatmaps.guides.raster import RasterGuide
from heatmaps.ledger import facts, transitions
from heatmaps.ledger.verification import verify
from heatmaps.models import Event, GuideFile, Upload
from heatmaps.wording.events import event_line
from mechanisms.check import ParameterError
from mechanisms.guide import Guide

CITED = GuideFileFacts(title="Built-up  area", source="Hazel Institute, 2025 – Zürich")


@pytest.fixture(autouse=True)
def read(monkeypatch):
    """What a child would have read of any file."""
    guide = Guide.of_values(np.random.default_rng(3).random((64, 64)))
    found = RasterGuide(guide=guide, file_sha256=hashlib.sha256(b"a file").hexdigest())
    monkeypatch.setattr(raster, "read", lambda _path, _region: found)
    return found


@pytest.fixture
def store(steward, tmp_path):
    return lambda dataset, cited=CITED, person=steward: files.store(
        person, dataset, tmp_path / "x.tif", cited
    )


def test_it_keeps_the_shares_and_writes_an_event(make_dataset, store, read):
    city = make_dataset()
    file = store(city)
    assert (file.title, file.sha256, file.file_sha256) == (
        "Built-up area",
        read.guide.sha256,
        read.file_sha256,
    )
    assert hashlib.sha256(GuideFile.objects.get().shares).hexdigest() == read.guide.sha256
    line = event_line(Event.objects.get(kind="guide"), exact_time=True)
    assert line.title == "Guide file stored"
    shown = {fact.name: fact.after for fact in line.main_facts}
    assert shown == {"guide": str(file.pk), "title": "Built-up area", "source": CITED.source, "licence": ""}
    assert verify(city).problem == ""


def test_only_stewards_store_them(make_dataset, store, analyst, django_user_model):
    city, stranger = make_dataset(), django_user_model.objects.create_user("stranger")
    for person, error in ((analyst, PermissionDenied), (stranger, Http404)):
        with pytest.raises(error):
            store(city, person=person)
    assert not GuideFile.objects.exists()


@pytest.mark.parametrize("state", ["received", "failed", "undone"])
def test_it_is_too_late_once_there_was_an_upload(make_dataset, store, steward, state):
    city = make_dataset()
    Upload.objects.create(
        dataset=city, state=state, uploaded_by=steward, file_name="x", size_bytes=1, content_digest="x"
    )
    with pytest.raises(TooLateForGuides):
        store(city)


def test_it_is_too_late_once_an_upload_came_while_the_file_was_read(
    make_dataset, add_checkins, store, read, monkeypatch
):
    city = make_dataset()
    monkeypatch.setattr(raster, "read", lambda _path, _region: [read, add_checkins(city)][0])
    with pytest.raises(TooLateForGuides):
        store(city)
    assert not Event.objects.filter(kind="guide").exists()


def test_a_dataset_has_a_number_of_them(make_dataset, store, keep_file):
    city = make_dataset()
    for number in range(files.MOST_FILES):
        keep_file(city, f"File {number}")
    with pytest.raises(ParameterError, match="20 guide files a dataset"):
        store(city)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"licence": "none"}, "it is not what its event says"),
        ({"file_sha256": "1" * 64}, "it is not what its event says"),
        ({"shares": b"\0" * 2**15}, "its shares were changed"),
    ],
)
def test_verification_finds_a_file_that_was_changed(make_dataset, store, change, told):
    city = make_dataset()
    store(city)
    GuideFile.objects.update(**change)
    assert told in verify(city).problem


def test_verification_finds_a_file_that_no_event_stored(make_dataset, keep_file):
    city = make_dataset()
    keep_file(city)
    assert "it is not what its event says" in verify(city).problem


def test_verification_finds_a_file_that_was_stored_after_data(dataset, keep_file, steward):
    file = keep_file(dataset)
    transitions.record(dataset, "guide", actor=steward, before={}, after=facts.guide_facts(file))
    assert "does not follow from the ones before it" in verify(dataset).problem
