"""Run every benchmark, print a table and write `.local/bench/figures.json`."""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tests.bench import mechanisms, reserve
from tests.bench.measure import Figure
from tests.services.programs import Postgres

INGEST = "import django; django.setup(); from tests.bench import ingest; ingest.main()"


def main() -> None:
    folder = Path(os.environ.get("HAZEMAP_STATE", ".local")) / "bench"
    rows = [figure.row() for figure in [*mechanisms.figures(), *database_figures()]]
    for row in rows:
        print(
            f"{row['ratio']:8.3f} x  {row['name']}: {row['seconds']:.4f} s; "
            f"{row['alternative']}: {row['alternative_seconds']:.4f} s"
        )
    folder.mkdir(parents=True, exist_ok=True)
    document = {"at": datetime.now(UTC).isoformat(), "machine": platform.machine(), "figures": rows}
    path = folder / "figures.json"
    path.write_text(json.dumps(document, indent=2) + "\n")
    print(f"written: {path}")


def database_figures() -> Iterator[Figure]:
    """On the embedded database and, where its programs are installed, on PostgreSQL."""
    yield from in_own_process(INGEST, "")
    if reason := Postgres.missing():
        print(f"left out: {reason}")
        return
    with Postgres.started() as postgres:
        yield from in_own_process(INGEST, postgres.url(postgres.new_database()))
        yield from reserve.figures(postgres)


def in_own_process(worker: str, database_url: str) -> list[Figure]:
    """Figures that a process prints, in a state folder that is thrown away."""
    with tempfile.TemporaryDirectory() as state:
        environment = os.environ | {
            "HAZEMAP_STATE": state,
            "HAZEMAP_DATABASE_URL": database_url,
            "DJANGO_SETTINGS_MODULE": "heatmaps.config.settings",
        }
        command = [sys.executable, "-c", worker]
        output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return [Figure(**json.loads(line)) for line in output.stdout.splitlines()]


if __name__ == "__main__":
    main()
