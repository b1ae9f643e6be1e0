"""Memory does not grow with the file."""

import os
import subprocess
import sys

import pytest

WORKER = """
import resource, sys, django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.contrib.auth.models import User
from heatmaps import datasets
from heatmaps.ingest import uploads
from heatmaps.models import UploadState
from mechanisms.grid import Region
region = Region(2, 41, 3, 42)
new = datasets.NewDataset(
    slug="harbour", title="Harbour", region=region, relation="add_remove", limits={"presence": "1"}
)
steward = User.objects.create_user("steward")
dataset = datasets.create(steward, new)
with open(sys.argv[1], "rb") as file:
    upload = uploads.receive(steward, dataset, file, name="file.csv", enqueue=False)
uploads.run(upload.pk)
upload.refresh_from_db()
assert upload.state == UploadState.READY, upload.failure
print(upload.rows_accepted, upload.rows_rejected, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
MEGABYTE = 1024  # in the kilobytes that Linux counts in


def peak_kilobytes(folder, rows):
    """Peak memory of a process that ingests so many rows, each of another user, 1 in 200 of them bad."""
    folder.mkdir()
    path = folder / "file.csv"
    with path.open("w") as file:
        file.write("user,time,lat,lon\n")
        file.writelines(
            f"user-{number},,{'91' if number % 200 == 7 else '41.5'},{2 + number / rows}\n"
            for number in range(rows)
        )
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "heatmaps.config.settings",
        "HAZEMAP_STATE": str(folder / "state"),
        "HAZEMAP_DATABASE_URL": "",
    }
    worker = [sys.executable, "-c", WORKER, str(path)]
    output = subprocess.run(worker, env=environment, capture_output=True, text=True, check=True).stdout
    accepted, rejected, kilobytes = map(int, output.split())
    assert accepted + rejected == rows
    return kilobytes


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is counted in kilobytes on Linux only")
def test_it_takes_no_more_memory_for_a_file_ten_times_as_large(tmp_path):
    small, large = (peak_kilobytes(tmp_path / str(rows), rows) for rows in (60_000, 600_000))
    # Holding all batches took 60 MB more; the second chunk and the database's cache take some too.
    assert large < small + 30 * MEGABYTE
