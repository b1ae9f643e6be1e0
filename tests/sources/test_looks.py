"""Looking at files of a lake never holds up requests and moments."""

from threading import Event

import pytest

from heatmaps import sources
from heatmaps.ingest.versions import surveys
from heatmaps.releases import clock as moments
from heatmaps.sources import looks, manifest
from heatmaps.sources.manifest import FilesChanged
from tests.services.programs import wait_until


@pytest.fixture
def server(monkeypatch):
    """Of a mount: away until it is set; a look waits for it as a system call does."""
    back = Event()
    monkeypatch.setattr(looks, "LONGEST_SECONDS", 0.2)
    yield back
    back.set()
    wait_until(
        lambda: not any(thread.is_alive() for thread in looks._given_up.values()), seconds=30, what="the look"
    )


def test_it_gives_what_is_seen_and_raises_what_went_wrong(monkeypatch):
    monkeypatch.setattr(looks, "LONGEST_SECONDS", 60)  # a busy machine may not begin a look for seconds
    assert looks.result_in_time("rides", lambda: 7) == 7
    with pytest.raises(FilesChanged):
        looks.result_in_time("rides", fail)


def fail():
    raise FilesChanged("city.parquet")


def test_a_mount_that_hangs_is_given_up_and_not_looked_at_again_until_it_answers(server):
    asked = []
    assert looks.result_in_time("trips", lambda: server.wait(60)) is None
    assert looks.result_in_time("trips", lambda: asked.append(1) or True) is None
    assert asked == []
    assert looks.result_in_time("taxis", lambda: True)  # which may be on another mount
    server.set()
    wait_until(lambda: looks.result_in_time("trips", lambda: True), seconds=30, what="the next look")


@pytest.mark.django_db(transaction=True)
def test_files_not_seen_in_time_count_as_unchanged(steward, reading, lake, make_dataset, monkeypatch):
    dataset = make_dataset()
    surveys.advance_by(steward, dataset)
    surveys.run(dataset.pk)
    moments.tick()
    version = dataset.versions.get()
    for path in lake.checkins.iterdir():
        path.unlink()
    assert not sources.is_as_pinned(version)
    answers = Event()
    monkeypatch.setattr(looks, "LONGEST_SECONDS", 0.2)
    monkeypatch.setattr(manifest, "folder_is_here", lambda path: answers.wait(10) or True)
    assert sources.is_as_pinned(version)
    answers.set()
