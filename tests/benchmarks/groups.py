"""Lists the groups of benchmarks: what each measures, at every size of its inputs."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.benchmarks import accuracy, mechanisms, reserve, scale, shuffle, transport
from tests.benchmarks.accuracy import Point
from tests.benchmarks.measure import Figure, Size
from tests.benchmarks.migrated import migrated
from tests.browser.chromium import Chromium
from tests.services.programs import Postgres, Redis
from tests.sources.spark import Spark

COLLECTIONS: Final = "collections.figures"
PUBLISHED: Final = "collections.published_figures"
CLOSING: Final = "closing.figures"
INGEST: Final = "ingest.figures_of_new_database"
MAPS: Final = "maps.figures"
LAKES: Final = "lake.figures_of_size"
WORKERS: Final = (COLLECTIONS, PUBLISHED, CLOSING, INGEST, MAPS, LAKES)
CLIENT: Final = str(Path(__file__).resolve().parents[2] / "clients" / "device")


def collections(size: Size) -> Iterator[Figure]:
    """Of the three roles, with the device client in the path."""
    yield from in_own_process(COLLECTIONS, size)
    yield from in_own_process(CLOSING, size, settings="")  # the shuffler's, which it chooses


def collections_as_published(size: Size) -> Iterator[Figure]:
    return in_own_process(PUBLISHED, size)


def databases(size: Size) -> Iterator[Figure]:
    """On the embedded database and, where its programs are installed, on PostgreSQL."""
    yield from in_own_process(INGEST, size)
    if not is_there(Postgres):
        return
    with Postgres.started() as postgres, migrated(postgres) as make:
        url = postgres.url(postgres.new_database())
        yield from in_own_process(INGEST, size, database_url=url)
        yield from reserve.figures(make, size)


def maps(size: Size) -> Iterator[Figure]:
    """Of a released map and a bare one."""
    if is_there(Chromium):
        yield from in_own_process(MAPS, size)


def scales(size: Size) -> Iterator[Figure]:
    """Many check-ins: up to a million, or to ten with SCALE=1 in the environment."""
    if is_there(Postgres) and is_there(Redis):
        with Postgres.started() as postgres, Redis.started() as redis, migrated(postgres) as make:
            yield from scale.figures(postgres, redis, make, scale.COUNTS[size])


def lakes(size: Size) -> Iterator[Figure]:
    """Sums in a lake: of a million check-ins, or of 10 and 100 million with SCALE=1, and 60 kills then."""
    if not is_there(Spark):
        return
    yield from in_own_process(LAKES, size)
    if size is Size.LARGE and is_there(Postgres) and is_there(Redis):
        print(subprocess.check_output([sys.executable, "-m", "tests.benchmarks.lake", "kills"], text=True))


GROUPS: Final[Mapping[str, Callable[[Size], Iterable[Figure | Point]]]] = {
    "samplers and releases": mechanisms.figures,
    "time against resolution": mechanisms.resolution_figures,
    "transport": transport.figures,
    "shuffled sums": shuffle.figures,
    "collections": collections,
    "collections at published settings": collections_as_published,
    "databases": databases,
    "maps in Chromium": maps,
    "scale": scales,
    "lakes": lakes,
    "accuracy": accuracy.points,
}


def is_there(program: type[Postgres] | type[Redis] | type[Chromium] | type[Spark]) -> bool:
    if reason := program.missing():
        print(f"left out: {reason}")
    return not reason


def in_own_process(
    worker: str, size: Size, *, settings: str = "heatmaps.config.settings", database_url: str = ""
) -> Iterator[Figure]:
    """Figures of a function of this folder in a process and a state folder of their own, as they come.

    worker: module and function. Errors: CalledProcessError.
    """
    with tempfile.TemporaryDirectory() as state:
        environment = os.environ | {
            "HAZEMAP_STATE": state,
            "HAZEMAP_RECORD_DIR": f"{state}-record",
            "HAZEMAP_DATABASE_URL": database_url,
            "HAZEMAP_SHUFFLER_STATE": f"{state}/shuffler",
            "DJANGO_SETTINGS_MODULE": settings,
            "PYTHONPATH": CLIENT,
        }
        command = [sys.executable, "-m", "tests.benchmarks.worker", worker, size]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                yield Figure(**json.loads(line))
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
