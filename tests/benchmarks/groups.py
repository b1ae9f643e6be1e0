"""Lists the groups of benchmarks: what each measures, at every size of its inputs.

A usual run takes at most ten minutes on two cores that have nothing else to do. Groups of many check-ins and
of lakes run with SCALE=1.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.benchmarks import (
    accuracy,
    adaptive,
    command,
    mechanisms,
    reserve,
    scale,
    shuffle,
    start,
    transport,
    uploads,
)
from tests.benchmarks.accuracy import Point
from tests.benchmarks.measure import Figure, Size
from tests.benchmarks.migrated import migrated
from tests.browser.chromium import Chromium
from tests.services.installation import Installation
from tests.services.programs import Postgres, Redis
from tests.sources.spark import Spark

COLLECTIONS: Final = "collections.figures"
PUBLISHED: Final = "collections.published_figures"
CLOSING: Final = "closing.figures"
LISTS: Final = "lists.figures_of_new_database"
MAPS: Final = "maps.figures"
LAKES: Final = "lake.figures_of_size"
WORKERS: Final = (COLLECTIONS, PUBLISHED, CLOSING, LISTS, MAPS, LAKES)
CLIENT: Final = str(Path(__file__).resolve().parents[2] / "clients" / "device")
QUICK_SETTINGS: Final = "tests.benchmarks.settings"


def collections(size: Size) -> Iterator[Figure]:
    """Of the three roles, with the device client in the path."""
    yield from in_own_process(COLLECTIONS, size)
    yield from in_own_process(CLOSING, size, settings="")  # the shuffler's, which it chooses


def collections_as_published(size: Size) -> Iterator[Figure]:
    return in_own_process(PUBLISHED, size)


def lists(size: Size) -> Iterator[Figure]:
    """Of pages and API lists, on the embedded database."""
    return in_own_process(LISTS, size, settings=QUICK_SETTINGS)


def databases(size: Size) -> Iterator[Figure]:
    """Uploads and disk, on the embedded database and, where its programs are installed, on PostgreSQL."""
    with tempfile.TemporaryDirectory() as folder:
        embedded = Installation(folder=Path(folder) / "state")
        embedded.folder.mkdir()
        embedded.manage("migrate", "--verbosity", "0")
        yield from uploads.figures(embedded, size)
    if not is_there(Postgres):
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        Postgres.started() as postgres,
        migrated(postgres) as make,
    ):
        yield from uploads.figures(make(Path(folder) / "state"), size, postgres)
        yield from reserve.figures(make, size)


def maps(size: Size) -> Iterator[Figure]:
    """Of a released map and a bare one."""
    if is_there(Chromium):
        yield from in_own_process(MAPS, size)


def scales(size: Size) -> Iterator[Figure]:
    """Many check-ins: up to ten million."""
    if is_there(Postgres) and is_there(Redis):
        with Postgres.started() as postgres, Redis.started() as redis, migrated(postgres) as make:
            yield from scale.figures(postgres, redis, make, scale.COUNTS[size])


def lakes(size: Size) -> Iterator[Figure]:
    """Sums in a lake: of 10 and 100 million check-ins, and 60 kills."""
    if not is_there(Spark):
        return
    yield from in_own_process(LAKES, size)
    if size is Size.LARGE and is_there(Postgres) and is_there(Redis):
        print(subprocess.check_output([sys.executable, "-m", "tests.benchmarks.lake", "kills"], text=True))


GROUPS: Final[Mapping[str, Callable[[Size], Iterable[Figure | Point]]]] = {
    "start": start.figures,
    "the command": command.figures,
    "lists and pages": lists,
    "databases": databases,
    "samplers and releases": mechanisms.figures,
    "time against resolution": mechanisms.resolution_figures,
    "adaptive": adaptive.figures,
    "transport": transport.figures,
    "shuffled sums": shuffle.figures,
    "collections": collections,
    "collections at published settings": collections_as_published,
    "maps in Chromium": maps,
    "accuracy": accuracy.points,
    "scale": scales,
    "lakes": lakes,
}
LARGE_ONLY: Final = frozenset({"scale", "lakes"})
OF_SIZE: Final[Mapping[Size, tuple[str, ...]]] = {
    Size.TINY: tuple(GROUPS),
    Size.USUAL: tuple(name for name in GROUPS if name not in LARGE_ONLY),
    Size.LARGE: tuple(GROUPS),
}


def is_there(program: type[Postgres] | type[Redis] | type[Chromium] | type[Spark]) -> bool:
    if reason := program.missing():
        print(f"left out: {reason}")
    return not reason


def in_own_process(
    worker: str, size: Size, *, settings: str = "heatmaps.config.settings"
) -> Iterator[Figure]:
    """Figures of a function of this folder in a process and a state folder of their own, as they come.

    worker: module and function. Errors: CalledProcessError.
    """
    with tempfile.TemporaryDirectory() as state:
        environment = os.environ | {
            "HAZEMAP_STATE": state,
            "HAZEMAP_RECORD_DIR": f"{state}-record",
            "HAZEMAP_DATABASE_URL": "",
            "HAZEMAP_SHUFFLER_STATE": f"{state}/shuffler",
            "DJANGO_SETTINGS_MODULE": settings,
            "PYTHONPATH": CLIENT,
        }
        arguments = [sys.executable, "-m", "tests.benchmarks.worker", worker, size]
        with subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                yield Figure.of_json(line)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, arguments)
