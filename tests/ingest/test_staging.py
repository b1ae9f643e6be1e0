"""Leases: one worker at a time, and none that lost its lease writes another row."""

from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from heatmaps.ingest import reading, row_copy, staging, upload_files, uploads
from heatmaps.ingest.errors import LeaseLost
from heatmaps.models import CheckIn, Upload, UploadState
from tests.triggers import disabled

ROWS = [(f"user-{number}", "", 41.5, 2.5) for number in range(120_000)]
SMALL = ROWS[:10]


def expire(upload):
    """The worker was silent for too long."""
    Upload.objects.filter(pk=upload.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    upload.refresh_from_db()


def test_it_gives_one_lease(dataset, receive):
    upload = receive(dataset, SMALL)
    lease = staging.claim(upload.pk)
    assert lease.until > timezone.now()
    assert staging.claim(upload.pk) is None
    upload.refresh_from_db()
    assert (upload.state, upload.lease_until) == (UploadState.STAGED, lease.until)


def test_it_does_not_take_over_from_a_living_worker(dataset, receive):
    upload = receive(dataset, SMALL)
    staging.claim(upload.pk)
    upload.refresh_from_db()
    assert staging.take_over(upload) is None


def test_it_lets_one_sweep_take_over(dataset, receive):
    upload = receive(dataset, SMALL)
    dead = staging.claim(upload.pk)
    expire(upload)
    assert staging.take_over(upload) is not None
    assert staging.take_over(upload) is None  # a second sweep that saw the same row
    with pytest.raises(LeaseLost):
        dead.renew()


@pytest.mark.parametrize("act", ["renew", "end", "fail", "hand_back"])
def test_it_lets_nobody_act_on_a_lost_lease(dataset, receive, act):
    upload = receive(dataset, SMALL)
    lease = staging.claim(upload.pk)
    expire(upload)
    staging.take_over(upload)
    before = Upload.objects.values().get(pk=upload.pk)
    with pytest.raises(LeaseLost):
        getattr(lease, act)(*(["reason"] if act == "fail" else []))
    assert Upload.objects.values().get(pk=upload.pk) == before


def test_it_stops_a_worker_that_was_taken_for_dead_before_its_next_chunk(dataset, receive):
    upload = receive(dataset, ROWS)

    def be_slow(*_progress):
        assert CheckIn.objects.count() == reading.BATCH_ROWS
        expire(upload)
        uploads.restart(upload)
        assert CheckIn.objects.count() == 0

    uploads.run(upload.pk, progress=be_slow)
    upload.refresh_from_db()
    assert upload.state == UploadState.RECEIVED
    assert (upload.rows_accepted, upload.bytes_read) == (0, 0)
    assert CheckIn.objects.count() == 0
    uploads.run(upload.pk)
    assert CheckIn.objects.count() == len(ROWS)


def test_it_does_not_delete_the_file_of_the_worker_that_took_over(dataset, receive):
    upload = receive(dataset, SMALL)

    def be_slow(*_progress):
        expire(upload)
        uploads.restart(upload)

    uploads.run(upload.pk, progress=be_slow)
    assert upload_files.path_of(upload.pk).is_file()


def test_it_restarts_from_the_sweep_when_the_database_went_away(dataset, receive, monkeypatch, sent):
    upload = receive(dataset, SMALL)
    with monkeypatch.context() as patch:
        patch.setattr(row_copy, "insert", lambda *_: (_ for _ in ()).throw(OperationalError("gone")))
        with pytest.raises(OperationalError):
            uploads.run(upload.pk)
    upload.refresh_from_db()
    assert upload.state == UploadState.STAGED
    expire(upload)
    sent.clear()
    uploads.sweep()
    assert sent == [("heatmaps.ingest", (str(upload.pk),))]
    uploads.run(upload.pk)
    assert CheckIn.objects.count() == len(SMALL)


def test_it_gives_up_a_file_that_could_not_be_read_for_a_day(dataset, receive):
    upload = receive(dataset, SMALL)
    staging.claim(upload.pk)
    with disabled():
        Upload.objects.update(created_at=timezone.now() - timedelta(hours=25))
    expire(upload)
    uploads.sweep()
    upload.refresh_from_db()
    assert upload.state == UploadState.FAILED
    assert "again and again" in upload.failure
    assert not upload_files.path_of(upload.pk).exists()


def test_it_leaves_living_workers_alone(dataset, receive, sent):
    upload = receive(dataset, SMALL)
    staging.claim(upload.pk)
    sent.clear()
    uploads.sweep()
    upload.refresh_from_db()
    assert upload.state == UploadState.STAGED
    assert sent == []
    assert upload_files.path_of(upload.pk).is_file()


def test_it_sends_waiting_uploads_again(dataset, receive, sent):
    upload = receive(dataset, SMALL)
    sent.clear()
    uploads.sweep()
    assert sent == [("heatmaps.ingest", (str(upload.pk),))]


def test_it_deletes_every_row_of_a_large_failed_upload(dataset, receive, settings):
    upload = receive(dataset, ROWS)
    settings.MAX_REJECTED_SHARE = -1
    uploads.run(upload.pk)
    upload.refresh_from_db()
    assert upload.state == UploadState.FAILED
    assert CheckIn.objects.count() == 0
