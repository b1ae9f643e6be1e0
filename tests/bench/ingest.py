"""A file through the whole upload path, against the database's bare bulk insert of the same rows.

The file is SNAP Gowalla's where `HAZEMAP_TEST_DATA` has it, else a synthetic city.
"""

import itertools
import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path

import numpy as np
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction

from heatmaps import datasets
from heatmaps.demo.city import City, write_csv
from heatmaps.ingest import rows, uploads
from heatmaps.ingest.reader import NO_TIME
from heatmaps.ingest.rows import Block
from heatmaps.models import AccountKind, CheckIn, Dataset, Upload, UploadState
from mechanisms.grid import Region
from mechanisms.guarantee import Relation
from tests.bench.measure import Figure, compare

REAL = "gowalla_u5628.csv.gz"
REPEATS = 3
_numbers = itertools.count()


def main() -> None:
    """On the database of the environment, in its own process: figures as JSON, a line each."""
    for figure in figures():
        print(json.dumps(asdict(figure)))


def figures() -> list[Figure]:
    call_command("migrate", verbosity=0)
    steward = User.objects.create_user("steward")
    with tempfile.TemporaryDirectory() as folder:
        path = file_in(Path(folder))
        upload = send(steward, path)
        stored = stored_rows(upload)
        if connection.vendor == "postgresql":
            block = block_of(stored)
            alternative, bare = "bare COPY", lambda: copy_bare(upload, block)
        else:
            values = [(upload.pk.hex, *row) for row in stored]
            alternative, bare = "bare executemany", lambda: execute_bare(values)
        return [
            compare(
                f"upload of {len(stored)} check-ins ({path.name}, {connection.vendor})",
                lambda: send(steward, path),
                f"{alternative} of its rows",
                bare,
                repeats=REPEATS,
            )
        ]


def file_in(folder: Path) -> Path:
    real = Path(os.environ.get("HAZEMAP_TEST_DATA", "")) / REAL
    if real.is_file():
        return real
    path = folder / "city.csv.gz"
    write_csv(City(persons=5_000, checkins=200_000, seed=1), path)
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


def new_dataset(steward: User) -> Dataset:
    new = datasets.NewDataset(
        slug=f"bench-{next(_numbers)}",
        title="Bench",
        region=Region(-180, -85, 180, 85),
        relation=Relation.ADD_REMOVE,
        limits={AccountKind.PRESENCE: "1"},
    )
    return datasets.create(steward, new)


def stored_rows(upload: Upload) -> list[tuple[int, int, int | None, bool]]:
    return list(
        CheckIn.objects.filter(upload=upload).order_by("pk").values_list("person", "cell", "time", "outside")
    )


def block_of(stored: list[tuple[int, int, int | None, bool]]) -> Block:
    person, cell, time, outside = zip(*stored, strict=True)
    times = [NO_TIME if moment is None else moment for moment in time]
    return Block(
        persons=np.array(person), cells=np.array(cell), times=np.array(times), outside=np.array(outside)
    )


def copy_bare(upload: Upload, block: Block) -> None:
    """One binary COPY in one transaction."""
    with transaction.atomic():
        rows.insert(upload.pk, block)


def execute_bare(values: list[tuple[object, ...]]) -> None:
    statement = (
        f"INSERT INTO {CheckIn._meta.db_table} (upload_id, person, cell, time, outside) "
        "VALUES (%s, %s, %s, %s, %s)"
    )
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(statement, values)
