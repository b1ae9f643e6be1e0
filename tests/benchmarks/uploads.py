"""Uploads of CSV over HTTP into a running server, beside parsing and a bare insert of five integers a row.

CPU seconds of the server, its worker, the children that read files and PostgreSQL, from the request until
the upload is ready; the yardstick's are of its process and PostgreSQL's. Disk is what the database grew by,
beside the bare table. PostgreSQL's copies of large uploads in columns are counted apart.
"""

import contextlib
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psycopg

from tests.benchmarks import checkin_files
from tests.benchmarks.bare_insert import BARE
from tests.benchmarks.measure import Figure, Size, Unit, in_turns
from tests.benchmarks.processes import ROOT, Peak, tree_cpu, tree_memory_mb
from tests.services.http import health
from tests.services.installation import Installation
from tests.services.programs import Postgres, free_port, wait_until

ROWS: Final = {Size.TINY: 2_000, Size.USUAL: 200_000, Size.LARGE: 1_000_000}
REPEATS: Final = 3
LOOK_SECONDS: Final = 0.3
COPIES: Final = "heatmaps_packedcheckins"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Holds a running server, and what counts as its work: its process, and PostgreSQL's."""

    address: str
    token: str
    pids: tuple[int, ...]

    def upload(self, slug: str, path: Path) -> float:
        """Returns CPU seconds until the file's upload is ready. Errors: RuntimeError where it failed."""
        begin = tree_cpu(*self.pids)
        sent = self._answer(f"datasets/{slug}/uploads/?name={path.name}", path.read_bytes())
        while True:
            state = self._answer(f"uploads/{sent['id']}/")["state"]
            if state == "ready":
                return tree_cpu(*self.pids) - begin
            if state == "failed":
                raise RuntimeError(f"{path.name}: {state}")
            time.sleep(LOOK_SECONDS)

    def _answer(self, path: str, body: bytes | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "text/csv"}
        request = urllib.request.Request(f"{self.address}/api/v1/{path}", body, headers)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)


@dataclass(slots=True, kw_only=True)
class Disk:
    """Holds the bytes of tables and indexes with rows, and of copies in columns."""

    size: Callable[[], tuple[float, float]]
    first: tuple[float, float] = field(init=False)

    def __post_init__(self) -> None:
        self.first = self.size()

    def grown(self, rows: int) -> tuple[float, float]:
        """Returns bytes a row since the beginning."""
        return tuple((now - then) / rows for now, then in zip(self.size(), self.first, strict=True))  # type: ignore[return-value]


def figures(installation: Installation, size: Size, postgres: Postgres | None = None) -> Iterator[Figure]:
    """installation: migrated, without a broker. postgres: its server, else it is on SQLite."""
    rows, repeats = ROWS[size], size.repeats(REPEATS)
    made = installation.script("upload_people", repeats + 1, package="tests.benchmarks")
    kind = "sqlite" if postgres is None else "postgresql"
    disk = Disk(size=sqlite_size(installation) if postgres is None else postgres_size(installation))
    with tempfile.TemporaryDirectory(prefix="hazemap-uploads-") as name, serving(installation) as (port, pid):
        folder, datasets = Path(name), iter(made["datasets"])
        pids = (pid,) if postgres is None else (pid, postgres.process.pid)
        server = Server(address=f"http://127.0.0.1:{port}", token=made["token"], pids=pids)
        # What the first one loads is loaded for all.
        warm = checkin_files.write_csv(folder / "warm.csv", 1_000)
        with Peak(pid) as peak:
            at_rest = tree_memory_mb(pid)
            small = server.upload(next(datasets), warm)
            path = checkin_files.write_csv(folder / "checkins.csv", rows)
            bare: list[dict[str, float]] = []
            ours, theirs = in_turns(
                lambda: server.upload(next(datasets), path),
                lambda: inserted(path, folder, postgres, bare),
                repeats=repeats,
            )
        memory = {"mb_at_rest": at_rest, "mb_at_most": peak.megabytes, "first_upload_cpu": small}
    yield Figure(
        name=f"upload of {rows:,} check-ins over HTTP, {kind}",
        alternative=BARE,
        ours=ours,
        theirs=theirs,
        goal=f"upload.{kind}.{rows}",
        details={"checkins": rows} | memory,
    )
    stored = disk.grown(rows * repeats + 1_000)
    yield Figure(
        name=f"a check-in on disk, {kind}",
        alternative="a bare table of five integers",
        ours=(stored[0],),
        theirs=(bare[-1]["bytes"],),
        unit=Unit.BYTES,
        goal=f"storage.{kind}",
        details={"copies_in_columns": stored[1]},
    )


@contextlib.contextmanager
def serving(installation: Installation) -> Iterator[tuple[int, int]]:
    """Port and process of a server that answers."""
    port = free_port()
    with installation.running("manage.py", "serve", "--port", port) as process:
        wait_until(lambda: health(port) == (200, ""), seconds=180, what="the server's answer")
        yield port, process.pid


def inserted(path: Path, folder: Path, postgres: Postgres | None, bare: list[dict[str, float]]) -> float:
    """CPU seconds of the yardstick, in a new database."""
    if postgres is None:
        target = str(folder / f"bare-{len(bare)}.sqlite3")
    else:
        target = postgres.url(postgres.new_database())
    command = [sys.executable, "-m", "tests.benchmarks.bare_insert", str(path), target]
    bare.append(json.loads(subprocess.check_output(command, cwd=ROOT, text=True)))
    return bare[-1]["cpu"]


def sqlite_size(installation: Installation) -> Callable[[], tuple[float, float]]:
    def size() -> tuple[float, float]:
        with contextlib.closing(sqlite3.connect(installation.folder / "hazemap.sqlite3")) as database:
            values = [
                database.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            ]
        return (values[0] - values[1]) * values[2], 0.0

    return size


def postgres_size(installation: Installation) -> Callable[[], tuple[float, float]]:
    query = (
        "SELECT COALESCE(sum(pg_total_relation_size(oid)), 0) FROM pg_class WHERE relkind = 'r' AND relname"
    )

    def size() -> tuple[float, float]:
        with psycopg.connect(installation.database_url) as connection:
            rows = [connection.execute(f"{query} {sign} '{COPIES}'").fetchone() for sign in ("<>", "=")]
        return tuple(float(row[0]) if row else 0.0 for row in rows)  # type: ignore[return-value]

    return size
