"""A file of CSV through the whole upload path, against reading it by lines and a bare insert of its rows.

In CPU seconds of this process and its children; beside the bare insert, of its session of the database, too.
Aims: at most half of what reading by lines takes, and at most 2.5 times a bare COPY. The file is SNAP
Gowalla's where `HAZEMAP_TEST_DATA` has it, else a synthetic city.
"""

import itertools
import os
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import psutil
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction

from heatmaps import datasets
from heatmaps.demo.city import City, write_csv
from heatmaps.ingest import row_copy as rows
from heatmaps.ingest import uploads
from heatmaps.ingest.formats import child_process, text_child
from heatmaps.ingest.formats.reader import NO_TIME
from heatmaps.ingest.row_copy import Block
from heatmaps.models import AccountKind, CheckIn, Dataset, Upload, UploadState
from heatmaps.pseudonyms.person_hashes import persons_of
from mechanisms.guarantee import Relation
from mechanisms.space.grid import Region
from tests.benchmarks.measure import Figure, Size, compare

REAL = "gowalla_u5628.csv.gz"
REPEATS = 3
_numbers = itertools.count()


def figures_of_new_database(size: Size) -> list[Figure]:
    """On the database of the environment, which is empty."""
    call_command("migrate", verbosity=0)
    return figures(size)


def figures(size: Size) -> list[Figure]:
    steward, repeats = User.objects.create_user("steward"), 1 if size.is_tiny else REPEATS
    with tempfile.TemporaryDirectory() as folder:
        path = file_in(Path(folder), size)
        upload = send(steward, path)
        name = f"upload of {upload.rows_accepted} check-ins ({path.name}, {connection.vendor}, CPU seconds)"
        alternative, bare = bare_insert(upload)
        compared = [
            ("reading by lines", lambda: send_by_lines(steward, path), own_cpu),
            (f"{alternative} of its rows", bare, with_session_cpu()),
        ]
        return [
            compare(
                name,
                lambda: send(steward, path),
                other,
                theirs,
                repeats=repeats,
                clock=clock,
            )
            for other, theirs, clock in compared
        ]


def bare_insert(upload: Upload) -> tuple[str, Callable[[], object]]:
    """The database's own bulk insert of what an upload stored, and its name."""
    stored = stored_rows(upload)
    if connection.vendor == "postgresql":
        block = block_of(stored)
        return "bare COPY", lambda: copy_bare(upload, block)
    return "bare executemany", lambda: execute_bare(stored)


def own_cpu() -> float:
    """CPU seconds so far of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def with_session_cpu() -> Callable[[], float]:
    """A clock as `own_cpu`, and with what the database's process of this session took."""
    if connection.vendor != "postgresql":
        return own_cpu
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        session = psutil.Process(cursor.fetchone()[0])

    def seconds() -> float:
        in_database = session.cpu_times()
        return own_cpu() + in_database.user + in_database.system

    return seconds


def file_in(folder: Path, size: Size) -> Path:
    real = Path(os.environ.get("HAZEMAP_TEST_DATA", "")) / REAL
    if real.is_file() and not size.is_tiny:
        return real
    path, (persons, checkins) = folder / "city.csv.gz", (50, 500) if size.is_tiny else (5_000, 200_000)
    write_csv(City(persons=persons, checkins=checkins, seed=1), path)
    return path


def send(steward: User, path: Path) -> Upload:
    """Every time into a dataset of its own: a file is taken once."""
    dataset = new_dataset(steward)
    with path.open("rb") as file:
        upload = uploads.receive(steward, dataset, file, name=path.name, enqueue=False)
    uploads.run(upload.pk)
    upload.refresh_from_db()
    if upload.state != UploadState.READY:
        raise RuntimeError(upload.failure)
    return upload


def send_by_lines(steward: User, path: Path) -> Upload:
    """By lines, as small files are."""
    with mock.patch.object(child_process, "batches", text_child.batches):
        return send(steward, path)


def new_dataset(steward: User) -> Dataset:
    new = datasets.NewDataset(
        slug=f"bench-{next(_numbers)}",
        title="Bench",
        region=Region(-180, -85, 180, 85),
        relation=Relation.ADD_REMOVE,
        limits={AccountKind.PRESENCE: "1"},
    )
    return datasets.create(steward, new)


def stored_rows(upload: Upload) -> list[tuple[int, int, int, int | None, bool]]:
    rows = CheckIn.objects.filter(extent__upload=upload).order_by("pk")
    return list(rows.values_list("person", "person_rest", "cell", "time", "outside"))


def block_of(stored: list[tuple[int, int, int, int | None, bool]]) -> Block:
    first, rest, cell, time, outside = zip(*stored, strict=True)
    times = [NO_TIME if moment is None else moment for moment in time]
    return Block(
        persons=persons_of(np.array(first), np.array(rest)),
        cells=np.array(cell),
        times=np.array(times),
        outside=np.array(outside),
    )


def copy_bare(upload: Upload, block: Block) -> None:
    """One binary COPY in one transaction."""
    with transaction.atomic():
        rows.insert(upload.pk, block)


def execute_bare(values: list[tuple[int, int, int, int | None, bool]]) -> None:
    """Into a table of five integers and nothing else."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bare (a INTEGER, b INTEGER, c INTEGER, d INTEGER, e INTEGER)")
        cursor.executemany("INSERT INTO bare VALUES (%s, %s, %s, %s, %s)", values)
        cursor.execute("DROP TABLE bare")
