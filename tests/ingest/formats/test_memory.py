"""Memory does not grow with the file."""

import gzip
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

WORKER = """
import resource, sys, django
django.setup()
from django.contrib.auth.models import User
from heatmaps import datasets
from heatmaps.ingest import uploads
from heatmaps.models import UploadState
from mechanisms.space.grid import Region
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
# Not getrusage: its peak goes back to before exec, to the process that wrote the file.
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(upload.rows_accepted, upload.rows_rejected, max(child, int(status["VmHWM"].split()[0])))
"""
MEGABYTE = 1024  # in the kilobytes that Linux counts in


def rows_of(count):
    """Rows (user, lat, lon), each of another user, 1 in 200 of them bad."""
    return ((f"user-{at}", 91 if at % 200 == 7 else 41.5, 2 + at / count) for at in range(count))


def write_csv(path, count):
    with path.open("w") as file:
        file.write("user,time,lat,lon\n")
        file.writelines(f"{user},,{lat},{lon}\n" for user, lat, lon in rows_of(count))


def write_ndjson(path, count):
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.writelines(
            f'{{"user": "{user}", "lat": {lat}, "lon": {lon}}}\n' for user, lat, lon in rows_of(count)
        )


def write_parquet(path, count):
    """All rows in one row group."""
    user, lat, lon = zip(*rows_of(count), strict=True)
    table = pa.table({"user": user, "lat": pa.array(lat, pa.float64()), "lon": lon})
    pq.write_table(table, path, row_group_size=count)


def peak_kilobytes(installation, rows, write):
    """Peak memory of a process that ingests so many rows, or of its child."""
    path = installation.folder / "file"
    write(path, rows)
    accepted, rejected, kilobytes = map(int, installation.python("-c", WORKER, path).stdout.split())
    assert accepted + rejected == rows
    return kilobytes


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is counted in kilobytes on Linux only")
@pytest.mark.long
@pytest.mark.parametrize("write", [write_csv, write_parquet, write_ndjson])
def test_it_takes_no_more_memory_for_a_file_four_times_as_large(world, tmp_path, write):
    small, large = (
        peak_kilobytes(world.installation(tmp_path / str(rows)), rows, write) for rows in (250_000, 1_000_000)
    )
    # Holding all batches took 60 MB more; the second chunk and the database's cache take some too.
    assert large < small + 30 * MEGABYTE
