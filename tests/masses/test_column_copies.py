"""The copy of large uploads in columns: all of it or none, never of what is deleted, read after the spend."""

import os
import signal
from datetime import timedelta
from itertools import pairwise
from threading import Thread
from uuid import UUID

import pytest
from django.db import connections
from django.utils import timezone

from heatmaps import masses, queries
from heatmaps.broker import queue
from heatmaps.ingest import undoing, uploads
from heatmaps.ingest.versions import deletion
from heatmaps.masses import column_copies, packed_columns, postgresql
from heatmaps.models import CheckIn, PackedCheckIns, PackingAttempts, Release, Upload
from heatmaps.models.packed import SLOTS
from heatmaps.releases import lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from tests.masses.test_masses import as_dict, naive, random_rows
from tests.services.draws import carry_out
from tests.triggers import disabled

ROWS = random_rows(1, count=300, persons=90)
UNIT = 2**20


# SQLite aggregates by itself.
pytestmark = pytest.mark.parametrize(
    "database", [pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True
)


@pytest.fixture(autouse=True)
def packed_from_the_first_row_on(monkeypatch):
    monkeypatch.setattr(column_copies, "LEAST_CHECKINS", 1)


@pytest.fixture
def ready(dataset, upload):
    return upload(dataset, ROWS)


def packs(of):
    return PackedCheckIns.objects.filter(upload=of).count()


def pause_over():
    PackingAttempts.objects.update(next_at=timezone.now())


def swept(sent):
    """Uploads that the sweep sends to the workers."""
    sent.clear()
    column_copies.sweep()
    return [UUID(upload_id) for _, (upload_id,) in sent]


def is_given_up(of):
    """What the steward is told."""
    [line] = map(queries.upload_line, queries.uploads_of(of.dataset))
    return line.uncopied


def state(of):
    return column_copies.copy_state(Upload.objects.get(pk=of.pk))


def given_up(of):
    PackingAttempts.objects.create(upload=of, attempts=column_copies.MOST_ATTEMPTS, next_at=timezone.now())


def read(of):
    return as_dict(masses.read(of.dataset, of.version, level=8, unit=UNIT))


def elsewhere(work):
    """In a thread, on a connection of its own."""

    def run():
        work()
        connections.close_all()

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive(), "it waits for what only goes on when it has ended"


def meanwhile(monkeypatch, work):
    """Do something else once half of the slots are written."""
    store = column_copies._store

    def stored(upload_id, slot, content):
        store(upload_id, slot, content)
        if slot == SLOTS // 2:
            work()

    monkeypatch.setattr(column_copies, "_store", stored)


def test_releases_read_the_copy_and_no_rows(ready, monkeypatch):
    column_copies.pack(ready.pk)
    asked = []
    monkeypatch.setattr(postgresql, "_read", asked.append)
    assert read(ready) == naive(ROWS, level=8, unit=UNIT)
    assert asked == []


def test_a_killed_build_leaves_nothing(ready, monkeypatch):
    connections.close_all()
    child = os.fork()
    if not child:  # a process of its own, with a connection of its own
        meanwhile(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGKILL))
        column_copies.pack(ready.pk)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert packs(ready) == 0
    assert read(ready) == naive(ROWS, level=8, unit=UNIT)
    column_copies.pack(ready.pk)
    assert packs(ready) == 0  # the attempt counts
    pause_over()
    column_copies.pack(ready.pk)
    assert packs(ready) == SLOTS


def test_a_copy_that_fails_each_time_is_tried_a_few_times_after_growing_pauses(ready, monkeypatch, sent):
    begun, pauses = [], []

    def fails():
        begun.append(PackingAttempts.objects.get().attempts)
        raise ZeroDivisionError

    meanwhile(monkeypatch, fails)
    for attempt in range(column_copies.MOST_ATTEMPTS):
        assert not is_given_up(ready), attempt
        assert swept(sent) == [ready.pk]
        with pytest.raises(ZeroDivisionError):
            column_copies.pack(ready.pk)
        pauses.append(PackingAttempts.objects.get().next_at - timezone.now())
        column_copies.pack(ready.pk)  # too soon: nothing is done, nobody is sent
        assert swept(sent) == []
        assert not is_given_up(ready), attempt
        pause_over()
    assert begun == [*range(1, column_copies.MOST_ATTEMPTS + 1)]
    for before, after in pairwise(pauses):
        assert before * 1.9 < after < before * 2.1

    column_copies.pack(ready.pk)

    assert (len(begun), swept(sent), packs(ready)) == (column_copies.MOST_ATTEMPTS, [], 0)
    assert is_given_up(ready)
    assert read(ready) == naive(ROWS, level=8, unit=UNIT)


def test_a_copy_that_was_given_up_is_tried_again_when_a_steward_says_so(ready, monkeypatch, sent, steward):
    assert state(ready) == "waiting"
    with pytest.raises(column_copies.NotGivenUp):
        column_copies.try_again(steward, ready)
    given_up(ready)
    assert state(ready) == "given_up"
    sent.clear()
    column_copies.try_again(steward, ready)
    assert sent == [(queue.INGEST, (str(ready.pk),))]
    assert (state(ready), swept(sent)) == ("waiting", [ready.pk])
    with pytest.raises(column_copies.NotGivenUp):
        column_copies.try_again(steward, ready)
    with monkeypatch.context() as patch:  # as many attempts as before
        meanwhile(patch, lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            column_copies.pack(ready.pk)
    assert (PackingAttempts.objects.get().attempts, state(ready)) == (1, "waiting")
    pause_over()
    column_copies.pack(ready.pk)
    assert (state(ready), packs(ready)) == ("made", SLOTS)


def test_a_copy_that_succeeds_ends_the_counting(ready, monkeypatch, sent):
    with monkeypatch.context() as patch:
        meanwhile(patch, lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            column_copies.pack(ready.pk)
    pause_over()
    column_copies.pack(ready.pk)
    assert (packs(ready), PackingAttempts.objects.count(), swept(sent)) == (SLOTS, 0, [])


def test_nobody_sees_half_of_it(ready, monkeypatch):
    seen = []
    meanwhile(monkeypatch, lambda: elsewhere(lambda: seen.append(packs(ready))))
    column_copies.pack(ready.pk)
    assert (seen, packs(ready)) == ([0], SLOTS)


def test_two_at_once_make_one_copy(ready, monkeypatch):
    meanwhile(monkeypatch, lambda: elsewhere(lambda: column_copies.pack(ready.pk)))
    column_copies.pack(ready.pk)
    column_copies.pack(ready.pk)
    assert packs(ready) == SLOTS


def test_an_undone_upload_has_no_copy(dataset, upload, steward):
    ready = upload(dataset, ROWS, advance=False)
    column_copies.pack(ready.pk)
    assert packs(ready) == SLOTS
    uploads.undo(steward, ready)
    uploads.run(ready.pk)
    assert not CheckIn.objects.filter(extent__upload=ready).exists()
    assert packs(ready) == 0
    column_copies.pack(ready.pk)
    assert packs(ready) == 0


def test_an_upload_that_is_undone_meanwhile_gets_none(dataset, upload, steward, monkeypatch):
    ready = upload(dataset, ROWS, advance=False)

    def undo():
        uploads.undo(steward, ready)
        undoing.delete_rows(ready.pk)

    meanwhile(monkeypatch, lambda: elsewhere(undo))
    column_copies.pack(ready.pk)
    assert not CheckIn.objects.filter(extent__upload=ready).exists()
    assert packs(ready) == 0


def test_rows_that_expire_take_the_copy_along(make_dataset, upload, steward):
    keeps = make_dataset(retention_days=1)
    ready = upload(keeps, ROWS)
    column_copies.pack(ready.pk)
    later(ready, steward)
    assert read(ready) == {}  # from the rows: not all that is stored counts
    deletion.delete_rows(keeps.pk)
    assert not CheckIn.objects.filter(extent__upload=ready).exists()
    assert packs(ready) == 0


def test_rows_that_expire_meanwhile_are_in_no_copy(make_dataset, upload, steward, monkeypatch):
    keeps = make_dataset(retention_days=1)
    ready = upload(keeps, ROWS)
    later(ready, steward)
    meanwhile(monkeypatch, lambda: elsewhere(lambda: deletion.delete_rows(keeps.pk)))
    column_copies.pack(ready.pk)
    assert packs(ready) == 0


def later(ready, steward):
    """A new version, days after the file came; `ready` is read at it."""
    with disabled():
        Upload.objects.filter(pk=ready.pk).update(created_at=timezone.now() - timedelta(days=5))
    ready.refresh_from_db()
    ready.version = uploads.advance(steward, ready.dataset)


def test_the_sweep_sends_what_has_no_copy(ready, sent):
    sent.clear()
    column_copies.sweep()
    assert sent == [(queue.INGEST, (str(ready.pk),))]
    column_copies.pack(ready.pk)
    sent.clear()
    column_copies.sweep()
    assert sent == []


def test_small_uploads_get_none(ready, monkeypatch, sent):
    monkeypatch.setattr(column_copies, "LEAST_CHECKINS", len(ROWS) + 1)
    sent.clear()
    column_copies.pack(ready.pk)
    column_copies.sweep()
    assert (packs(ready), sent) == (0, [])


def test_the_copy_is_read_after_the_spend(ready, steward, monkeypatch):
    column_copies.pack(ready.pk)
    states, whole = [], packed_columns.read

    def look():
        states.extend(Release.objects.values_list("state", flat=True))

    def looked(*arguments, **names):
        elsewhere(look)
        return whole(*arguments, **names)

    monkeypatch.setattr(packed_columns, "read", looked)
    request = ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)
    made = lifecycle.request_release(steward, ready.dataset, request)
    assert states == []
    carry_out(made.pk)
    assert states == ["spent"]
    assert Release.objects.get(pk=made.pk).state == "published"
