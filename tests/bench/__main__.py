"""Run every benchmark, print a table and write `.local/bench/figures.json`."""

import json
import os
import platform
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import django

from tests.bench import mechanisms
from tests.bench.measure import Figure


def main() -> None:
    folder = Path(os.environ.get("HAZEMAP_STATE", ".local")) / "bench"
    rows = [figure.row() for figure in [*mechanisms.figures(), *embedded_figures()]]
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


def embedded_figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as state:
        os.environ["HAZEMAP_STATE"] = state
        os.environ["DJANGO_SETTINGS_MODULE"] = "heatmaps.config.settings"
        django.setup()
        from tests.bench import ingest  # models can be imported only now

        return ingest.figures()


if __name__ == "__main__":
    main()
