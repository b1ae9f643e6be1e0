"""A worker is killed while it deletes check-ins that got too old: each block is gone and counted, or not."""

import os
import signal
import subprocess
import sys
from datetime import timedelta

import pytest
from django.utils import timezone

from heatmaps.ingest import uploads
from heatmaps.ingest.versions import deletion
from heatmaps.ledger import verification
from heatmaps.models import CheckIn, DataVersion, Enrolment
from tests.services.programs import wait_until

pytestmark = pytest.mark.long

WORKER = """
import sys, time, django
django.setup()
from heatmaps.ingest.versions import deletion
deletion.BLOCK = 50
delete_block = deletion._delete_block

def delete_slowly(*arguments):
    time.sleep(0.02)  # so that the kill comes before the end
    delete_block(*arguments)

deletion._delete_block = delete_slowly
deletion.delete_rows(int(sys.argv[1]))
"""
ROWS, OLD = 40_000, 30_000
PERSONS = 997


def killed_in_the_middle(database, state, dataset):
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "heatmaps.config.settings",
        "HAZEMAP_STATE": str(state),
        "HAZEMAP_DATABASE_URL": database,
    }
    stored = CheckIn.objects.count()
    process = subprocess.Popen([sys.executable, "-c", WORKER, str(dataset.pk)], env=environment)
    try:
        wait_until(lambda: CheckIn.objects.count() < stored, seconds=60, what="a first block deleted")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)


def test_it_survives_being_killed_again_and_again(database, state, make_dataset, upload, sent):
    dataset = make_dataset(relation="replace", persons=PERSONS, retention_days=30)
    old = f"{timezone.now() - timedelta(days=40):%Y-%m-%dT%H:%M:%SZ}"
    content = "user,time,lat,lon\n" + "".join(
        f"user-{number % PERSONS},{old if number < OLD else ''},41.5,{2 + number / ROWS}\n"
        for number in range(ROWS)
    )
    row = upload(dataset, content)
    for _ in range(3):
        killed_in_the_middle(database, state, dataset)
        row.refresh_from_db()
        assert ROWS - OLD < CheckIn.objects.count() == ROWS - row.rows_expired
        assert not DataVersion.objects.get().is_cleared
        sent.clear()
        uploads.sweep()
        assert ("heatmaps.expire", (str(dataset.pk),)) in sent
    deletion.delete_rows(dataset.pk)
    row.refresh_from_db()
    assert (CheckIn.objects.count(), row.rows_expired) == (ROWS - OLD, OLD)
    assert not CheckIn.objects.exclude(time=None).exists()
    assert Enrolment.objects.filter(dataset=dataset).count() == PERSONS
    assert DataVersion.objects.get().is_cleared
    assert verification.verify(dataset).ok
