"""The client's side of `tests/bench/scale.py`: python -m tests.bench.scale_run
[store CHECKINS PERSONS | release RESOLUTION WORKERS WORKER_PID POSTGRES_PID]
"""

import contextlib
import json
import os
import statistics
import sys
import time
from pathlib import Path

import django

django.setup()

import psutil  # noqa: E402
import pyarrow as pa  # noqa: E402
from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402

from heatmaps import releases  # noqa: E402
from heatmaps.ingest import rows, uploads  # noqa: E402
from heatmaps.masses import EVERYBODY, columns, packing, selection  # noqa: E402
from heatmaps.models import Dataset, Release, Upload, UploadState  # noqa: E402
from heatmaps.slices import WHOLE  # noqa: E402
from mechanisms.grid import FINEST_LEVEL, Region  # noqa: E402
from tests.bench.ingest import block_of, copy_bare  # noqa: E402
from tests.bench.scale import REPEATS  # noqa: E402
from tests.services import seed  # noqa: E402
from tests.services.programs import wait_until  # noqa: E402
from tests.synthetic import Crowd  # noqa: E402

SCHEDULED = 2  # Linux: the lowest bits of a process's clock, beside its number (clock_getcpuclockid)
BARE_ROWS = 200_000  # of which the bare COPY is timed, and its time multiplied


def store(checkins, persons):
    steward = User.objects.create_user("steward")
    dataset = seed.make_dataset(steward, "crowd", limits={"presence": "100"})
    path = settings.STATE_DIR / "crowd.parquet"
    Crowd(persons=int(persons), checkins=int(checkins)).write_parquet(path, Region(0, 0, 1, 1))
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
    packing.pack(upload.pk)
    packed = time.perf_counter() - begin
    return {
        "import": seconds,
        "pack": packed,
        "copy": bare_seconds(upload),
        "rows_a_second": upload.rows_accepted / seconds,
    }


def bare_seconds(upload):
    """Of an upload that nothing reads."""
    found = list(upload.checkins.order_by("pk").values_list("person", "cell", "time", "outside")[:BARE_ROWS])
    spare = Upload.objects.get(pk=upload.pk)
    spare.pk, spare.state, spare.version, spare.content_digest = None, UploadState.UNDONE, None, "spare"
    spare.save(force_insert=True)
    block = block_of(found)
    begin = time.perf_counter()
    copy_bare(spare, block)
    seconds = (time.perf_counter() - begin) * upload.rows_accepted / len(found)
    while rows.delete_some(spare.pk):
        pass
    return seconds


def release(resolution, workers, worker, postgres):
    """Medians of a few releases and group_bys in turns; CPU seconds and memory of the processes at work.

    Then the same releases with all processes of the workers on one core, where no two run at a time.
    """
    dataset, steward = Dataset.objects.get(slug="crowd"), User.objects.get(username="steward")
    table = rows_in_memory(dataset, int(resolution).bit_length() - 1)

    def one():
        wait_until(lambda: psutil.Process(int(worker)).children(), seconds=60, what="the workers' start")
        begun, cpu = time.perf_counter(), time.process_time()
        table.group_by(["user", "cell"], use_threads=int(workers) > 1).aggregate([([], "count_all")])
        grouped = {
            "group_by": time.perf_counter() - begun,
            "group_by_cpu": time.process_time() - cpu,
        }
        watched = Watched(int(worker), int(postgres))
        begun = time.perf_counter()
        asked = releases.ReleaseRequest(
            mechanism="sparse-emd",
            epsilon=f"0.1{Release.objects.count():03}",  # not what was answered before
            resolution=int(resolution),
        )
        made = releases.request_release(steward, dataset, asked)
        wait_until(lambda: ended(made), seconds=600, what="the end of the release")
        return {"release": time.perf_counter() - begun} | grouped | watched.spent()

    found = medians(one)
    on_one_core(psutil.Process(int(worker)))
    alone = medians(one)
    return found | {f"{name}_in_turns": alone[name] for name in ("workers_cpu", "busiest_worker_cpu")}


def medians(one):
    one()  # starts processes and connections
    found = [one() for _ in range(REPEATS)]
    return {name: statistics.median(single[name] for single in found) for name in found[0]}


def on_one_core(parent):
    """Every thread of a process and of its children."""
    core = min(os.sched_getaffinity(0))
    for process in (parent, *parent.children()):
        for thread in process.threads():
            os.sched_setaffinity(thread.id, {core})


def ended(made):
    state = Release.objects.values_list("state", flat=True).get(pk=made.pk)
    if state in {"failed", "cancelled"}:
        raise RuntimeError(state)
    return state == "published"


def rows_in_memory(dataset, level):
    chosen = selection.inside(dataset, dataset.versions.first(), WHOLE, EVERYBODY)
    person, cell = columns._read(chosen)
    return pa.table({"user": person, "cell": cell >> 2 * (FINEST_LEVEL - level)})


class Watched:
    """The workers' and the database's processes: CPU seconds since now, and peak memory ever."""

    def __init__(self, worker, postgres):
        self._worker, self._postgres = psutil.Process(worker), psutil.Process(postgres)
        self._before = self._seconds()

    def spent(self):
        after = self._seconds()
        own = [seconds - self._before[0].get(pid, 0.0) for pid, seconds in after[0].items()]
        return {
            "workers_cpu": sum(own),
            "busiest_worker_cpu": max(own),
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
    print(json.dumps({"store": store, "release": release}[sys.argv[1]](*sys.argv[2:])))
