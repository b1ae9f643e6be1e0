"""Releases of many check-ins from PostgreSQL, against pyarrow's group_by of the same rows in memory.

The check-ins are made up (`tests/synthetic.py`), their file goes through the whole upload path, and the
releases through the product's own Celery workers: one that reads everything, or two that read half each.

Workers' own CPU work is what the clocks of the processes that run tasks counted, user and system, from the
request to the published map: taking tasks, spending, receiving columns, summing, packing and looking parts
up, drawing and publishing; nothing is taken off. Of two workers it is that of the busier one:
`busiest_worker_cpu`. It is not the time of PostgreSQL's processes (`database_cpu`), of the broker and of
whoever asks, nor waiting for them. Drawing and bookkeeping are one worker's however many read: the fewer
check-ins, the less a second one brings.

Two processes at a time share caches and the way to memory, which lengthens the work of both by as much as the
machine has it: pyarrow's two threads take more CPU seconds than its one, too (`group_by_cpu`). So the same
releases follow with all processes on one core, where they take turns: `busiest_worker_cpu_in_turns`.

One and two workers follow each other a few times, since machines are not as fast at one time as at another.
`gain` of two is the median over these rounds of one worker's CPU work by that of the busier of two.

`make bench SCALE=1` goes to 10 million; alone: `python -m tests.bench.scale 1000000 ...`, whose lines
`python -m tests.bench.scale_plots FOLDER < LINES` draws.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from tests.bench.measure import Figure
from tests.services.installation import ROOT, Installation
from tests.services.programs import Postgres, Redis

SMALL = (100_000, 1_000_000)
LARGE = (*SMALL, 10_000_000)
CHECKINS_A_PERSON = 10
PERSONS_OF_A_MILLION = (1_000, 10_000, 1_000_000)  # at most, beside the 100,000 of all other figures
RESOLUTIONS = (64, 1024, 8192, 65_536)
RESOLUTION = 1024  # where not said
REPEATS = 3  # of a round, after one that is not counted
ROUNDS = 3  # of one worker, then two


def figures(postgres: Postgres, checkins: tuple[int, ...]) -> Iterator[Figure]:
    """Import, resolutions, two workers, and how much persons matter."""
    with Redis.started() as redis:
        for count in checkins:
            with stored(postgres, redis, count, count // CHECKINS_A_PERSON) as (made, imported):
                yield imported
                yield from releases_of(postgres, made, count)
        for persons in PERSONS_OF_A_MILLION if max(checkins) >= 1_000_000 else ():
            with stored(postgres, redis, 1_000_000, persons) as (made, _):
                where = {"checkins": 1_000_000, "persons": persons, "resolution": RESOLUTION, "workers": 1}
                found = released(postgres, made, where)
                yield figure(f"1,000,000 check-ins of at most {persons:,} persons", found)


@contextlib.contextmanager
def stored(
    postgres: Postgres, redis: Redis, count: int, persons: int
) -> Iterator[tuple[Installation, Figure]]:
    """An installation of its own with that many check-ins."""
    with tempfile.TemporaryDirectory() as folder:
        url = postgres.url(postgres.new_database())
        made = Installation(folder=Path(folder), database_url=url, broker_url=redis.url)
        redis.client().flushall()
        made.manage("migrate", "--verbosity", "0")
        found = told(made, "store", count, persons)
        yield (
            made,
            Figure(
                name=f"import of {count:,} check-ins from Parquet",
                alternative="bare COPY of the stored rows",
                seconds=found["import"],
                alternative_seconds=found["copy"],
                repeats=1,
                details={"checkins": count, "rows_a_second": found["rows_a_second"], "pack": found["pack"]},
            ),
        )


def releases_of(postgres: Postgres, made: Installation, count: int) -> Iterator[Figure]:
    for resolution in RESOLUTIONS:
        where = {"checkins": count, "persons": count // CHECKINS_A_PERSON, "resolution": resolution}
        one, two = ([], [])
        for _ in range(ROUNDS):
            one.append(released(postgres, made, where | {"workers": 1}))
            two.append(released(postgres, made, where | {"workers": 2}))
        yield figure(f"{count:,} check-ins, 1 worker", medians(one))
        yield figure(f"{count:,} check-ins, 2 workers", medians(two) | gains(one, two))


def released(postgres: Postgres, made: Installation, where: dict[str, int]) -> dict[str, float]:
    """From the request to the published map, medians, in turns with pyarrow's threads."""
    workers = where["workers"]
    with running_workers(made, -(-where["checkins"] // workers), workers) as worker:
        found = told(made, "release", where["resolution"], workers, worker, postgres.process.pid)
    return where | {"load": os.getloadavg()[0]} | found


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(found[name] for found in rounds) for name in rounds[0]}


def gains(one: list[dict[str, float]], two: list[dict[str, float]]) -> dict[str, float]:
    """What the second worker takes off the first one's CPU work."""
    return {
        f"gain{where}": statistics.median(
            alone[f"busiest_worker_cpu{where}"] / both[f"busiest_worker_cpu{where}"]
            for alone, both in zip(one, two, strict=True)
        )
        for where in ("", "_in_turns")
    }


def figure(name: str, found: dict[str, float]) -> Figure:
    """Details on stderr, too."""
    print(json.dumps({"figure": name} | found), file=sys.stderr, flush=True)
    threads = f"{found['workers']} thread{'s' * (found['workers'] > 1)}"
    return Figure(
        name=f"{name}, resolution {found['resolution']}",
        alternative=f"pyarrow's group_by of them, {threads}",
        seconds=found["release"],
        alternative_seconds=found["group_by"],
        repeats=REPEATS,
        details=found,
    )


@contextlib.contextmanager
def running_workers(made: Installation, rows_per_shard: int, workers: int) -> Iterator[int]:
    """The process id of a Celery worker with so many processes, ended by it."""
    environment = made.environment | {"HAZEMAP_ROWS_PER_SHARD": str(rows_per_shard)}
    command = [sys.executable, "-m", "celery", "-A", "heatmaps.config", "worker", "--loglevel", "WARNING"]
    with (made.folder / "worker").open("ab") as output:
        process = subprocess.Popen(
            [*command, "--concurrency", str(workers)],
            env=environment,
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
    """What `tests/bench/scale_run.py` found out, in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.scale_run", act, *map(str, arguments)]
    output = subprocess.run(
        command, env=made.environment, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    answer: dict[str, Any] = json.loads(output.stdout.splitlines()[-1])
    return answer


def main() -> None:
    counts = tuple(map(int, sys.argv[1:])) or SMALL
    with Postgres.started() as postgres:
        for figure in figures(postgres, counts):
            print(json.dumps(figure.row()), flush=True)


if __name__ == "__main__":
    main()
