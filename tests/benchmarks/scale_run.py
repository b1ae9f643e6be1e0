"""The client's side of `tests/benchmarks/scale.py`: python -m tests.benchmarks.scale_run
[store CHECKINS PERSONS | generate CHECKINS PERSONS | release RESOLUTION WORKER_PID POSTGRES_PID REPEATS]
"""

import contextlib
import itertools
import json
import statistics
import sys
import time
from pathlib import Path

import django
import numpy as np

django.setup()

import psutil  # noqa: E402
import psycopg  # noqa: E402
import pyarrow as pa  # noqa: E402
from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection, transaction  # noqa: E402

from heatmaps.data_slice import WHOLE  # noqa: E402
from heatmaps.ingest import uploads  # noqa: E402
from heatmaps.ingest.versions.advance import next_version  # noqa: E402
from heatmaps.masses import column_copies, packed_columns, selection  # noqa: E402
from heatmaps.models import (  # noqa: E402
    Dataset,
    Drawing,
    DrawingState,
    Release,
    ReleaseState,
    RowCapacity,
    Upload,
    UploadState,
)
from heatmaps.models.packed import SLOTS  # noqa: E402
from heatmaps.pseudonyms.person_hashes import persons_of, slots_of  # noqa: E402
from heatmaps.releases import clock, lifecycle  # noqa: E402
from mechanisms.space.grid import FINEST_LEVEL, Region  # noqa: E402
from tests.benchmarks import bare_insert  # noqa: E402
from tests.services import seed  # noqa: E402
from tests.services.programs import wait_until  # noqa: E402
from tests.synthetic import Crowd, hashes  # noqa: E402

SCHEDULED = 2  # Linux: the lowest bits of a process's clock, beside its number (clock_getcpuclockid)
BARE_ROWS = 200_000  # of which the bare COPY is timed, and its time multiplied
GROUPED_ROWS = 10_000_000  # likewise, at most, of pyarrow's group_by
REGION = Region(0, 0, 1, 1)


def made():
    steward = User.objects.create_user("steward")
    limits = {"presence": "100"}
    return steward, seed.make_dataset(steward, "crowd", limits=limits, row_capacity=RowCapacity.HUGE)


def store(checkins, persons):
    steward, dataset = made()
    path = settings.STATE_DIR / "crowd.parquet"
    Crowd(persons=int(persons), checkins=int(checkins)).write_parquet(path, REGION)
    begin = time.perf_counter()
    with path.open("rb") as file:
        upload = uploads.receive(steward, dataset, file, name=path.name, enqueue=False)
    uploads.run(upload.pk)
    seconds = time.perf_counter() - begin
    path.unlink()
    upload.refresh_from_db()
    if upload.state != UploadState.READY:
        raise RuntimeError(upload.failure)
    begin = time.perf_counter()
    column_copies.pack(upload.pk)
    packed = time.perf_counter() - begin
    return {
        "import": seconds,
        "pack": packed,
        "copy": bare_seconds(upload.rows_accepted),
        "rows_a_second": upload.rows_accepted / seconds,
    }


def generate(checkins, persons):
    """The same columns, without the upload and the rows."""
    steward, dataset = made()
    upload = Upload.objects.create(
        dataset=dataset,
        state=UploadState.READY,
        uploaded_by=steward,
        file_name="crowd",
        size_bytes=1,
        content_digest="crowd",
        rows_accepted=int(checkins),
    )
    next_version(dataset, actor=steward)
    begin, slots = time.perf_counter(), [[] for _ in range(SLOTS)]
    for person, points, times in Crowd(persons=int(persons), checkins=int(checkins)).blocks():
        cells = REGION.morton(points[1], points[0], FINEST_LEVEL)
        slot = slots_of(hashed(person), SLOTS).astype(np.uint8)
        order = np.argsort(slot, kind="stable")
        ends = np.cumsum(np.bincount(slot, minlength=SLOTS))[:-1]
        columns = (np.split(column[order], ends) for column in (person.astype(np.int32), cells, times))
        for held, *part in zip(slots, *columns, strict=True):
            held.append(part)
    for number, held in enumerate(slots):
        person, cell, moment = map(np.concatenate, zip(*held, strict=True))
        held.clear()
        columns = packed_columns.packed(hashed(person), cell, moment, np.zeros(cell.size, np.bool_))
        connection.ensure_connection()
        with psycopg.Cursor(connection.connection) as cursor:
            cursor.execute(column_copies._INSERT, {"upload": upload.pk, "slot": number} | columns)
    return {"generate": time.perf_counter() - begin}


def hashed(person):
    return persons_of(hashes(2 * person.astype(np.int64)), hashes(2 * person.astype(np.int64) + 1))


def bare_seconds(count):
    """COPY of five integers a row into a bare table."""
    content = bare_insert.binary(
        np.random.default_rng(0).integers(0, 1 << 62, (BARE_ROWS, bare_insert.COLUMNS))
    )
    connection.ensure_connection()
    with psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(bare_insert.TABLE)
        begin = time.perf_counter()
        with cursor.copy("COPY bare FROM STDIN (FORMAT binary)") as copy:
            copy.write(content)
        seconds = time.perf_counter() - begin
        cursor.execute("DROP TABLE bare")
    return seconds * count / BARE_ROWS


def release(resolution, worker, postgres, repeats):
    """Medians of a few releases and group_bys in turns; CPU seconds and memory of the processes at work."""
    dataset, steward = Dataset.objects.get(slug="crowd"), User.objects.get(username="steward")
    table, times = rows_in_memory(dataset, int(resolution).bit_length() - 1)

    def one():
        wait_until(lambda: psutil.Process(int(worker)).children(), seconds=60, what="the worker's start")
        begun, cpu = time.perf_counter(), time.process_time()
        table.group_by(table.column_names, use_threads=False).aggregate([([], "count_all")])
        grouped = {
            "group_by": (time.perf_counter() - begun) * times,
            "group_by_cpu": (time.process_time() - cpu) * times,
        }
        watched = Watched(int(worker), int(postgres))
        begun = time.perf_counter()
        asked = lifecycle.ReleaseRequest(
            mechanism="sparse-emd",
            epsilon=f"0.1{Release.objects.count():03}",  # not what was answered before
            resolution=int(resolution),
        )
        made = lifecycle.request_release(steward, dataset, asked)
        clock.tick()  # it is spent, and sent to the worker
        wait_until(lambda: is_drawn(made), seconds=600, what="the end of the draw")
        found = {"release": time.perf_counter() - begun} | grouped | watched.spent()
        publish(made)
        return found

    one()  # starts processes and connections
    found = [one() for _ in range(int(repeats))]
    medians = {name: statistics.median(single[name] for single in found) for name in found[0]}
    each = {f"{name}s": [single[name] for single in found] for name in ("release", "group_by")}
    return medians | each


def is_drawn(made):
    state = Drawing.objects.filter(pk=made.pk).values_list("state", flat=True).first()
    if state == DrawingState.FAILED:
        raise RuntimeError(state)
    return state == DrawingState.DRAWN


def publish(made):
    """So that the next release may begin."""
    clock.tick()
    made.refresh_from_db()
    if made.state != ReleaseState.PUBLISHED:
        raise RuntimeError(made.state)


@transaction.atomic
def rows_in_memory(dataset, level):
    """Persons and cells of whole slots, and how many times as many rows there are."""
    version = dataset.versions.first()
    slots = packed_columns.read(version, selection.whole(dataset, version), WHOLE, with_outside=False)
    rows = sum(selection.uploads(dataset, version).values_list("rows_accepted", flat=True))
    some = list(itertools.islice(slots, max(1, SLOTS * GROUPED_ROWS // max(rows, GROUPED_ROWS))))
    pieces = [piece for slot in some for piece in slot.pieces]
    persons = np.concatenate([piece.person_of_each for piece in pieces])
    cells = np.concatenate([piece.cells for piece in pieces]) >> 2 * (FINEST_LEVEL - level)
    columns = {name: np.ascontiguousarray(persons[name]) for name in persons.dtype.names}
    return pa.table(columns | {"cell": cells}), rows / cells.size


class Watched:
    """The worker's and the database's processes: CPU seconds since now, and peak memory ever."""

    def __init__(self, worker, postgres):
        self._worker, self._postgres = psutil.Process(worker), psutil.Process(postgres)
        self._before = self._seconds()

    def spent(self):
        after = self._seconds()
        own = [seconds - self._before[0].get(pid, 0.0) for pid, seconds in after[0].items()]
        return {
            "worker_cpu": max(own),  # the process that runs tasks; the other one waits for them
            "database_cpu": sum(after[1].values()) - sum(self._before[1].values()),
            "worker_peak_mb": max(map(peak_mb, after[0])),
            "database_peak_mb": max(map(peak_mb, after[1])),
        }

    def _seconds(self):
        return tuple(
            {child.pid: seconds_of(child) for child in parent.children()}
            | {parent.pid: ended_seconds(parent)}
            for parent in (self._worker, self._postgres)
        )


def seconds_of(process):
    """CPU seconds of all threads; 0 for one that ended meanwhile, as PostgreSQL's own do now and then.

    From the process's own clock, in nanoseconds: counts of hundredths are too coarse for a tenth of a second.
    """
    with contextlib.suppress(OSError):
        return time.clock_gettime(~process.pid << 3 | SCHEDULED)
    return 0.0


def ended_seconds(parent):
    """CPU seconds of children that have ended: connections are opened anew."""
    times = parent.cpu_times()
    return times.children_user + times.children_system


def peak_mb(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, IndexError):
        return int(Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
    return 0.0


if __name__ == "__main__":
    print(json.dumps({"store": store, "generate": generate, "release": release}[sys.argv[1]](*sys.argv[2:])))
