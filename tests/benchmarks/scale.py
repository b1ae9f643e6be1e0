"""Releases of many check-ins from PostgreSQL, against pyarrow's group_by of the same rows in memory.

The check-ins are made up (`tests/synthetic.py`), their file goes through the whole upload path, and the
releases through the product's own Celery worker. A hundred million are generated in columns instead, as the
upload would have packed them: it would take hours, and releases read nothing else.

A release is timed from the request to the map that is drawn and waits for its moment. Its slot has no length
here, and who asks is the clock as well, so that nothing but work is waited for.

`worker_cpu` is what the clock of the process that runs tasks counted, user and system, meanwhile: taking the
task, receiving columns, summing, looking sums up, drawing and storing; nothing is taken off. It is not the
time of PostgreSQL's processes (`database_cpu`), of the broker and of whoever asks, nor waiting for them.

`make bench SCALE=1` goes to 10 million; alone: `python -m tests.benchmarks.scale 100000000 ...`, whose lines
`python -m tests.benchmarks.scale_plots FOLDER < LINES` draws.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from tests.benchmarks.measure import Figure, Size
from tests.benchmarks.migrated import migrated
from tests.services.installation import ROOT, Installation
from tests.services.programs import Postgres, Redis

USUAL = (100_000, 1_000_000)
COUNTS = {Size.TINY: (100_000,), Size.USUAL: USUAL, Size.LARGE: (*USUAL, 10_000_000)}
MOST_UPLOADED = 10_000_000  # more are generated
CHECKINS_A_PERSON = 10
PERSONS_OF_A_MILLION = (1_000, 10_000, 1_000_000)  # at most, beside the 100,000 of all other figures
RESOLUTIONS = (64, 1024, 8192, 65_536)
RESOLUTION = 1024  # where not said
REPEATS = 3  # after one that is not counted


def figures(
    postgres: Postgres, redis: Redis, make: Callable[[Path], Installation], checkins: tuple[int, ...]
) -> Iterator[Figure]:
    """Import, resolutions, and how much persons matter.

    make: a migrated installation on this PostgreSQL, in that folder.
    """
    is_tiny = checkins == COUNTS[Size.TINY]
    repeats = 1 if is_tiny else REPEATS
    for count in checkins:
        with stored(make, redis, count, count // CHECKINS_A_PERSON) as (made, imported):
            yield from imported
            for resolution in RESOLUTIONS[:1] if is_tiny else RESOLUTIONS:
                where = {"checkins": count, "persons": count // CHECKINS_A_PERSON}
                found = released(postgres, made, where | {"resolution": resolution}, repeats)
                yield figure(f"{count:,} check-ins", found)
    for persons in PERSONS_OF_A_MILLION if 1_000_000 in checkins else ():
        with stored(make, redis, 1_000_000, persons) as (made, _):
            where = {"checkins": 1_000_000, "persons": persons, "resolution": RESOLUTION}
            found = released(postgres, made, where, repeats)
            yield figure(f"1,000,000 check-ins of at most {persons:,} persons", found)


@contextlib.contextmanager
def stored(
    make: Callable[[Path], Installation], redis: Redis, count: int, persons: int
) -> Iterator[tuple[Installation, list[Figure]]]:
    """An installation of its own with that many check-ins."""
    with tempfile.TemporaryDirectory() as folder:
        made = make(Path(folder) / "state")
        made.broker_url, made.settings = redis.url, "tests.benchmarks.settings"
        redis.client().flushall()
        if count > MOST_UPLOADED:
            told(made, "generate", count, persons)
            yield made, []
            return
        found = told(made, "store", count, persons)
        imported = Figure(
            name=f"import of {count:,} check-ins from Parquet",
            alternative="bare COPY of five integers a row",
            ours=(found["import"],),
            theirs=(found["copy"],),
            details={"checkins": count, "rows_a_second": found["rows_a_second"], "pack": found["pack"]},
        )
        yield made, [imported]


def released(postgres: Postgres, made: Installation, where: dict[str, int], repeats: int) -> dict[str, Any]:
    """From the request to the map that is drawn, medians, in turns with pyarrow."""
    with running_worker(made) as worker:
        found = told(made, "release", where["resolution"], worker, postgres.process.pid, repeats)
    return where | {"load": os.getloadavg()[0]} | found


def figure(name: str, found: dict[str, Any]) -> Figure:
    """Details on stderr, too."""
    print(json.dumps({"figure": name} | found), file=sys.stderr, flush=True)
    return Figure(
        name=f"{name}, resolution {found['resolution']}",
        alternative="pyarrow's group_by of them, one thread",
        ours=tuple(found.pop("releases")),
        theirs=tuple(found.pop("group_bys")),
        details=found,
    )


@contextlib.contextmanager
def running_worker(made: Installation) -> Iterator[int]:
    """The process id of a Celery worker with one process for tasks, ended by it."""
    command = [sys.executable, "-m", "celery", "-A", "heatmaps.config", "worker", "--loglevel", "WARNING"]
    with (made.folder / "worker").open("ab") as output:
        process = subprocess.Popen(
            [*command, "--concurrency", "1"],
            env=made.environment,
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process.pid
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
            process.wait(timeout=60)


def told(made: Installation, act: str, *arguments: object) -> dict[str, Any]:
    """What `tests/benchmarks/scale_run.py` found out, in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.scale_run", act, *map(str, arguments)]
    output = subprocess.run(
        command, env=made.environment, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    answer: dict[str, Any] = json.loads(output.stdout.splitlines()[-1])
    return answer


def main() -> None:
    counts = tuple(map(int, sys.argv[1:])) or USUAL
    with Postgres.started() as postgres, Redis.started() as redis, migrated(postgres) as make:
        for figure in figures(postgres, redis, make, counts):
            print(json.dumps(figure.row()), flush=True)


if __name__ == "__main__":
    main()
