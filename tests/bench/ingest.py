"""A file through the whole upload path, against the database's bare bulk insert of the same rows."""

import itertools
import tempfile
from pathlib import Path

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction

from heatmaps import datasets
from heatmaps.demo.city import City, write_csv
from heatmaps.ingest import uploads
from heatmaps.models import AccountKind, CheckIn, Dataset, Upload, UploadState
from mechanisms.grid import Region
from mechanisms.guarantee import Relation
from tests.bench.measure import Figure, compare

CHECKINS = 200_000
_numbers = itertools.count()


def figures() -> list[Figure]:
    """On the embedded database, in a state folder that is thrown away."""
    call_command("migrate", verbosity=0)
    steward = User.objects.create_user("steward")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "city.csv.gz"
        write_csv(City(persons=5_000, checkins=CHECKINS, seed=1), path)
        upload = send(steward, path)
        rows = list(CheckIn.objects.filter(upload=upload).values_list("person", "cell", "time", "outside"))
        return [
            compare(
                f"upload of {CHECKINS} check-ins (gzip CSV, SQLite)",
                lambda: send(steward, path),
                f"bare executemany of its {len(rows)} rows",
                lambda: insert_bare(upload, rows),
                repeats=5,
            )
        ]


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
        region=Region(-180, -80, 180, 80),
        relation=Relation.ADD_REMOVE,
        limits={AccountKind.PRESENCE: "1"},
    )
    return datasets.create(steward, new)


def insert_bare(upload: Upload, rows: list[tuple[int, int, int | None, bool]]) -> None:
    statement = (
        f"INSERT INTO {CheckIn._meta.db_table} (upload_id, person, cell, time, outside) "
        "VALUES (%s, %s, %s, %s, %s)"
    )
    values = [(upload.pk.hex, *row) for row in rows]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(statement, values)
