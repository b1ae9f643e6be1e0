"""Run every benchmark, print a table, write `.local/bench/figures.json` and a plot of each group."""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tests.benchmarks import accuracy, mechanisms, plots, reserve, scale, scale_plots, shuffle, transport
from tests.benchmarks.measure import Figure
from tests.browser.chromium import Chromium
from tests.services.programs import Postgres, Redis
from tests.sources.spark import Spark

INGEST = "import django; django.setup(); from tests.benchmarks import ingest; ingest.main()"
MAPS = "import django; django.setup(); from tests.benchmarks import maps; maps.main()"
COLLECTIONS = "import django; django.setup(); from tests.benchmarks import collections; collections.main()"
LAKE = "from tests.benchmarks import lake; lake.write(lake.{})"
CLOSING = "from tests.benchmarks import closing; closing.main()"
CLIENT = str(Path(__file__).resolve().parents[2] / "clients" / "device")


def main() -> None:
    folder = Path(os.environ.get("HAZEMAP_STATE", ".local")) / "bench"
    groups = {
        "samplers and releases": mechanisms.figures(),
        "time against resolution": mechanisms.resolution_figures(),
        "transport": transport.figures(),
        "shuffled sums": shuffle.figures(),
        **collection_figures(),
        "databases": list(database_figures()),
        "maps in Chromium": map_figures(),
        "scale": list(scale_figures()),
        "lakes": lake_figures(),
    }
    rows = [figure.row() | {"group": name} for name, figures in groups.items() for figure in figures]
    for row in rows:
        print(
            f"{row['ratio']:8.3f} x  {row['name']}: {row['seconds']:.4f} s; "
            f"{row['alternative']}: {row['alternative_seconds']:.4f} s"
        )
    accurate = list(accuracy.points())
    for point in accurate:
        print(f"{point.emd:8.4f} ± {point.emd_se:.4f}  {point.mechanism}, {point.varied} {point.at:g}")
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "at": datetime.now(UTC).isoformat(),
        "machine": platform.machine(),
        "figures": rows + accuracy.rows(accurate),
    }
    path = folder / "figures.json"
    path.write_text(json.dumps(document, indent=2) + "\n")
    print(f"written: {path}")
    scaled = [row for row in rows if row["group"] == "scale"]
    own = [accuracy.write(accurate, folder), *([scale_plots.write(scaled, folder)] if scaled else [])]
    for plot in (*plots.write([row for row in rows if row["group"] != "scale"], folder), *own):
        print(f"written: {plot}")


def collection_figures() -> dict[str, list[Figure]]:
    """Of the three roles, with the device client in the path."""
    figures = [*in_own_process(COLLECTIONS, ""), *in_own_process(CLOSING, "")]
    published = [figure for figure in figures if "Table" in figure.name]
    own = [figure for figure in figures if figure not in published]
    return {"collections": own, "collections at published settings": published}


def database_figures() -> Iterator[Figure]:
    """On the embedded database and, where its programs are installed, on PostgreSQL."""
    yield from in_own_process(INGEST, "")
    if reason := Postgres.missing():
        print(f"left out: {reason}")
        return
    with Postgres.started() as postgres:
        yield from in_own_process(INGEST, postgres.url(postgres.new_database()))
        yield from reserve.figures(postgres)


def map_figures() -> list[Figure]:
    """Of a released map and a bare one."""
    if reason := Chromium.missing():
        print(f"left out: {reason}")
        return []
    return in_own_process(MAPS, "")


def scale_figures() -> Iterator[Figure]:
    """Many check-ins: up to a million, or to ten with SCALE=1 in the environment."""
    if reason := Postgres.missing() or Redis.missing():
        print(f"left out: {reason}")
        return
    counts = scale.LARGE if os.environ.get("SCALE", "0") == "1" else scale.SMALL
    with Postgres.started() as postgres:
        yield from scale.figures(postgres, counts)


def lake_figures() -> list[Figure]:
    """Sums in a lake: of a million check-ins, or of 10 and 100 million with SCALE=1, and 60 kills then."""
    if reason := Spark.missing():
        print(f"left out: {reason}")
        return []
    is_large = os.environ.get("SCALE", "0") == "1"
    found = in_own_process(LAKE.format("LARGE" if is_large else "SMALL"), "")
    if is_large and not (reason := Postgres.missing() or Redis.missing()):
        print(subprocess.check_output([sys.executable, "-m", "tests.benchmarks.lake", "kills"], text=True))
    return found


def in_own_process(worker: str, database_url: str) -> list[Figure]:
    """Figures that a process prints, in a state folder that is thrown away."""
    with tempfile.TemporaryDirectory() as state:
        environment = os.environ | {
            "HAZEMAP_STATE": state,
            "HAZEMAP_DATABASE_URL": database_url,
            "HAZEMAP_SHUFFLER_STATE": f"{state}/shuffler",
            "DJANGO_SETTINGS_MODULE": "heatmaps.config.settings",
            "PYTHONPATH": CLIENT,
        }
        command = [sys.executable, "-c", worker]
        output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return [Figure(**json.loads(line)) for line in output.stdout.splitlines()]


if __name__ == "__main__":
    main()
