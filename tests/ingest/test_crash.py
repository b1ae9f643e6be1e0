"""A worker is killed in the middle of a file: nothing half-stored stays, and the file is read again."""

import os
import signal
import subprocess
import sys
from datetime import timedelta

import pytest
from django.utils import timezone

from heatmaps.ingest import upload_files, uploads
from heatmaps.ledger import verification
from heatmaps.models import CheckIn, Upload, UploadState
from tests.services.programs import SQLITE_FIRST, wait_until

WORKER = """
import sys, time, uuid, django
django.setup()
from heatmaps.ingest import rejected, uploads
append = rejected.append

def append_slowly(*arguments, **options):
    time.sleep(float(sys.argv[2]))  # between two chunks, so that a kill comes before the last
    append(*arguments, **options)

rejected.append = append_slowly
uploads.run(uuid.UUID(sys.argv[1]))
"""
ROWS = 400_000


def worker(database, state, upload, *, pause):
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "heatmaps.config.settings",
        "HAZEMAP_STATE": str(state),
        "HAZEMAP_DATABASE_URL": database,
    }
    return subprocess.Popen([sys.executable, "-c", WORKER, str(upload.pk), str(pause)], env=environment)


@pytest.mark.long
@pytest.mark.parametrize("database", SQLITE_FIRST, indirect=True)
def test_it_survives_being_killed_in_the_middle(database, state, dataset, receive):
    content = "user,time,lat,lon\n" + "".join(
        f"user-{number % 997},,41.5,{2 + number / ROWS}\n" for number in range(ROWS)
    )
    upload = receive(dataset, content)
    for _ in range(2):
        kill_in_the_middle(database, state, upload)
        assert_restarted(upload)
    process = worker(database, state, upload, pause=0)
    assert process.wait(timeout=120) == 0
    upload.refresh_from_db()
    assert (upload.state, upload.rows_accepted) == (UploadState.READY, ROWS)
    assert CheckIn.objects.count() == ROWS
    assert CheckIn.objects.values("cell").distinct().count() == ROWS  # none twice
    assert dataset.versions.count() == 1
    assert not upload_files.path_of(upload.pk).exists()
    assert verification.verify(dataset).ok


def kill_in_the_middle(database, state, upload):
    process = worker(database, state, upload, pause=0.5)
    try:
        wait_until(CheckIn.objects.exists, seconds=60, what="a first chunk")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    upload.refresh_from_db()
    assert upload.state == UploadState.STAGED
    assert 0 < CheckIn.objects.count() < ROWS
    assert upload.rows_accepted == CheckIn.objects.count()


def assert_restarted(upload):
    uploads.sweep()
    assert CheckIn.objects.exists()  # its worker may still live
    Upload.objects.filter(pk=upload.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    uploads.sweep()
    upload.refresh_from_db()
    assert (upload.state, upload.rows_accepted) == (UploadState.RECEIVED, 0)
    assert not CheckIn.objects.exists()
    assert upload_files.path_of(upload.pk).is_file()
