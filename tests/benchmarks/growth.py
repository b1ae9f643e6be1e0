"""Measures how cost grows with check-ins, people, resolution and releases, for the manual's page.

`make growth`, or `python -m tests.benchmarks.growth [MOST_ROWS]` (10^7 where not said), writes
`docs/manual/growth.json`: seconds of a processor and megabytes of whole processes, medians of three below
10^6 check-ins and measured once from there on. Servers, pages and goals come from the last `make bench`.
"""

import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mechanisms.randomness import SystemSource
from tests.benchmarks import checkin_files
from tests.benchmarks.adaptive import adaptive
from tests.benchmarks.command import drawing
from tests.benchmarks.goals import GOALS
from tests.benchmarks.mechanisms import clustered
from tests.benchmarks.processes import ROOT, usage

FILE: Final = ROOT / "docs" / "manual" / "growth.json"
MOST_ROWS: Final = 10_000_000
MANY: Final = 1_000_000  # check-ins, of which one run is steady
PEOPLE: Final = (1_000, 10_000, 100_000, 1_000_000)
RESOLUTIONS: Final = (64, 256, 1024, 4096, 16_384)
GUESSES: Final = (1_000, 10_000, 100_000, 1_000_000)
Row = Mapping[str, float]


def rows(folder: Path, most: int) -> Iterator[Row]:
    """The command from CSV and from Parquet, ten check-ins a person."""
    for count in (10**power for power in range(4, len(str(most)))):
        csv = checkin_files.write_csv(folder / "checkins.csv", count)
        parquet = checkin_files.write_parquet(folder / "checkins.parquet", count)
        cost = command_cost("csv", csv, count) | command_cost("parquet", parquet, count)
        yield {"check-ins": count} | cost


def people(folder: Path, count: int) -> Iterator[Row]:
    """The command on as many check-ins of fewer and of more people."""
    for persons in (number for number in PEOPLE if number <= count):
        path = checkin_files.write_csv(folder / "people.csv", count, persons=persons)
        yield {"check-ins": count, "people": persons} | command_cost("csv", path, count)


def command_cost(kind: str, path: Path, count: int) -> Row:
    command = drawing(path, path.with_name("map.tif"), mechanism="sparse-emd", persons=0)
    runs = [usage(*command) for _ in range(3 if count < MANY else 1)]
    return {
        f"{kind} seconds": statistics.median(run.cpu for run in runs),
        f"{kind} megabytes": statistics.median(run.peak_mb for run in runs),
    }


def resolutions() -> Iterator[Row]:
    """A release of `adaptive`, without reading."""
    for resolution in RESOLUTIONS:
        yield {"cells a side": resolution, "seconds": release_seconds(10_000, resolution)}


def guesses() -> Iterator[Row]:
    """The same by how many people are expected."""
    for persons in GUESSES:
        yield {"people expected": persons, "seconds": release_seconds(persons, 256)}


def release_seconds(persons: int, resolution: int) -> float:
    mechanism = adaptive(persons, resolution)
    masses = clustered(mechanism.unit, resolution.bit_length() - 1)
    return median_seconds(lambda: mechanism.release(masses, SystemSource()))


def median_seconds(run: Callable[[], object]) -> float:
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        run()
        seconds.append(time.process_time() - begin)
    return statistics.median(seconds)


def servers(figures: Sequence[Mapping[str, object]]) -> list[Row]:
    """Uploads and disk of both databases, from rows of the group `databases`."""
    measured = {str(row["goal"]): row for row in figures}
    answer = []
    for number, kind in enumerate(("sqlite", "postgresql")):
        uploads = [row for goal, row in measured.items() if goal.startswith(f"upload.{kind}.")]
        disk = measured.get(f"storage.{kind}")
        if not uploads or disk is None:
            continue
        details = uploads[-1]["details"]
        assert isinstance(details, Mapping)
        copies = disk["details"]
        assert isinstance(copies, Mapping)
        answer.append(
            {
                "postgresql": number,
                "check-ins": details["checkins"],
                "seconds": float(str(uploads[-1]["measured"])),
                "megabytes": details["mb_at_most"],
                "megabytes at rest": details["mb_at_rest"],
                "bytes": float(str(disk["measured"])),
                "bytes of copies": copies["copies_in_columns"],
            }
        )
    return answer


def pages(figures: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Time of pages with few and many releases, from rows of the group `lists and pages`."""
    return [
        {
            "page": row["name"],
            "seconds": row["measured"],
            "few": row["alternative"],
            "few seconds": row["alternative_measured"],
        }
        for row in figures
        if str(row["goal"]).endswith(".growth") and str(row["goal"]).startswith("lists.")
    ]


def held(figures: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Figures with a goal, beside it."""
    kept = ("name", "alternative", "unit", "measured", "alternative_measured", "ratio", "low", "high", "goal")
    return [
        {name: row[name] for name in kept} | {"most": GOALS[str(row["goal"])].most}
        for row in figures
        if row.get("goal") in GOALS
    ]


def bench_document() -> dict[str, object]:
    """What the last `make bench` wrote, or no figures."""
    path = Path(os.environ.get("HAZEMAP_STATE", ".local")) / "bench" / "figures.json"
    document: dict[str, object] = json.loads(path.read_text()) if path.exists() else {"figures": []}
    return document


def main(most: int = MOST_ROWS) -> None:
    document = bench_document()
    assert isinstance(document["figures"], list)
    # Those of accuracy are no ratios and have no goal.
    figures = [figure for figure in document["figures"] if "goal" in figure]
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="hazemap-growth-") as name:
        folder = Path(name)
        measured: dict[str, object] = {
            "rows": list(rows(folder, most)),
            "people": list(people(folder, min(most, 1_000_000))),
        }
    measured |= {
        "resolutions": list(resolutions()),
        "guesses": list(guesses()),
        "servers": servers(figures),
        "pages": pages(figures),
        "goals": held(figures),
    }
    described = {
        "at": datetime.now(UTC).date().isoformat(),
        "bench_at": str(document.get("at", ""))[:10],
        "machine": f"{platform.machine()}, {os.cpu_count()} processors",
        "load": round(load, 1),
    }
    FILE.write_text(json.dumps(described | measured, indent=1) + "\n")
    print(f"written: {FILE.relative_to(ROOT)}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
