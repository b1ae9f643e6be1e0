"""A deployment that reads a lake, whose every part can be killed at every step of a release.

`celery worker -Q lakes,surveys` and the clock as processes, with Redis, PostgreSQL and Spark.
"""

import contextlib
import functools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa

from tests.services.deployment import Service
from tests.services.installation import ROOT, Installation
from tests.services.programs import Postgres, Redis, free_port, wait_until
from tests.sources.lake import Lake
from tests.sources.spark import SAFE, Spark, lives

STEPS = ("reading", "summing", "read", "drawing", "drawn")
VICTIMS = ("executor", "driver", "server", "worker", "postgres")
EVERY = [(victim, step) for step in STEPS for victim in VICTIMS]
# What the long suite has time for: each victim where it does most harm, and each step.
CHOSEN = [
    ("executor", "summing"),
    ("driver", "summing"),
    ("server", "reading"),
    ("worker", "summing"),
    ("worker", "read"),
    ("worker", "drawing"),
    ("worker", "drawn"),
    ("postgres", "summing"),
    ("postgres", "read"),
    ("postgres", "drawn"),
]
SETTINGS = "tests.services.hurried"
BOUND_SECONDS = (
    400  # until a release has ended: a start of Spark and three attempts, on a machine that is busy
)
POLL_SECONDS = 0.3
SLOT_SECONDS = 1.5  # longer than a lease of tests.services.hurried
MOST_ATTEMPTS = 3
ROWS, FILES, PEOPLE = 200_000, 4, 5_000


class KilledLake:
    """A steward's dataset in a lake with its first version, and everything that works on it."""

    def __init__(
        self,
        installation,
        folder,
        postgres,
        *,
        datasets,
        tables=None,
        spark_settings=SAFE,
        log_level="WARNING",
        settings=SETTINGS,
    ):
        self._ends = contextlib.ExitStack()
        self._folder, self.postgres = Path(folder), postgres
        self._datasets = datasets
        self._tables = _tables() if tables is None else tables
        self._spark_settings, self._log_level = spark_settings, log_level
        redis_port = free_port()
        self.redis = Redis(redis_port)
        facts = {"broker_url": self.redis.url, "settings": settings}
        self.installation = installation(self._folder, "postgresql", server=postgres, **facts)
        self._runs = []
        self._services = []

    def __enter__(self):
        with contextlib.ExitStack() as ends:
            self._start(ends)
            self._ends = ends.pop_all()
        return self

    def __exit__(self, *error):
        self._ends.close()

    def run(self, number, victim, step):
        """One release with one kill, until its draw has an outcome, which waits for its public moment."""
        chance = random.Random(f"{number} {victim} {step}")
        self._start_what_ended()
        (self.installation.folder / "pause").write_text(step)
        release = self.ask("ask", f"lake-{number}", "0.6")
        self._runs.append((release, f"{victim} {step}"))
        with self._told(release, f"{victim} {step}"):
            self.wait_for(release, step)
            time.sleep(chance.uniform(0.1, 1.0) if step == "summing" else 0.2)
            self._kill(victim)
            self._start_what_ended()
            self._until(lambda: self.ask("is_settled", release), "an outcome of the draw")

    def outcomes(self):
        """How many runs of each kind ended how, once all have. AssertionError where one may not end so."""
        found = Counter()
        for release, what in self._runs:
            with self._told(release, what):
                self.ended(release)
                found[f"{what}: {self._check(release)}"] += 1
        return found

    def restart_worker(self, **environment):
        """With other variables of its environment."""
        self.worker.kill()
        self.worker._environment = self.worker._environment | environment
        self.worker.start()

    def ended(self, release):
        """Its state once nothing more will become of it."""
        self._until(
            lambda: self.ask("state_of", release) not in ("reserved", "spent"), "the end of the release"
        )
        return self.ask("state_of", release)

    def wait_for(self, release, step):
        wait_until(lambda: self._noted(release, step), seconds=BOUND_SECONDS, what=f"the step {step}")

    def ask(self, *command):
        self._asker.stdin.write(json.dumps(command) + "\n")
        self._asker.stdin.flush()
        answer = self._asker.stdout.readline()
        assert answer, "whoever asks has ended"
        return json.loads(answer)

    def _start(self, ends):
        self.files = Lake(self._folder / "lake")
        self.paths = [self.files.put(table, f"part-{number}") for number, table in enumerate(self._tables)]
        self.spark = ends.enter_context(Spark.started(self._spark_settings))
        self.files.server = self.spark
        self.files.write()
        self.installation.others |= {
            "HAZEMAP_SOURCES": str(self.files.sources_file),
            "HAZEMAP_SOURCE_SLOT_SECONDS": str(SLOT_SECONDS),
            "HAZEMAP_SOURCE_PLACES": "100",  # what waits for its moment is in nobody's way
        }
        redis_folder = ends.enter_context(tempfile.TemporaryDirectory(prefix="hazemap-redis-"))
        redis = [
            "redis-server",
            "--port",
            str(self.redis.port),
            "--bind",
            "127.0.0.1",
            "--dir",
            redis_folder,
        ]
        celery = [sys.executable, "-m", "celery", "-A", "tests.sources.witness", "worker"]
        celery += ["-Q", "lakes,surveys"]
        self._service(ends, [*redis, "--save", "", "--appendonly", "no"])
        self.worker = self._service(ends, [*celery, "--concurrency", "2", "--loglevel", self._log_level])
        self._service(ends, [sys.executable, "manage.py", "clock"])
        self._asker = subprocess.Popen(
            [sys.executable, "-m", "tests.sources.asker"],
            env=self.installation.environment,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        ends.callback(self._asker.kill)
        # One each: a slot that was missed stays longer for good.
        self.ask("make", "trips", *(f"lake-{number}" for number in range(self._datasets)))
        self._until(self._have_versions, "the first versions")

    def _have_versions(self):
        state = self.ask("state")
        assert not state["failures"], state["failures"]
        return state["versions"] == self._datasets

    @functools.cached_property
    def _expected(self):
        return self.ask("upload", [str(path) for path in self.paths])

    def _kill(self, victim):
        if victim == "executor":
            assert self.spark.kill_executor()
        elif victim == "driver":
            left = self.spark.executors()
            self.spark.process.send_signal(signal.SIGKILL)
            self.spark.process.wait(timeout=60)
            self.spark.start()
            psutil.wait_procs(left, timeout=30)
            assert not [one for one in left if lives(one)], "executors outlived their driver"
        elif victim == "server":
            os.killpg(self.spark.process.pid, signal.SIGKILL)
            self.spark.process.wait(timeout=60)
            self.spark.start()
        elif victim == "worker":
            self.worker.kill()
        else:
            self.postgres.kill()
            self.postgres.restart()

    def _start_what_ended(self):
        """As `restart: unless-stopped` does."""
        for service in self._services:
            if service.process.poll() is not None:
                service.kill()
                service.start()

    def _until(self, condition, what):
        """Seldom enough that who asks takes nothing from those who work."""

        def asked():
            time.sleep(POLL_SECONDS)
            self._start_what_ended()
            return condition()

        return wait_until(asked, seconds=BOUND_SECONDS, what=what)

    @contextlib.contextmanager
    def _told(self, release, what):
        """What is needed to understand a failure."""
        try:
            yield
        except AssertionError as error:
            steps = [line[1:] for line in self._lines() if line[0] == release]
            output = self.installation.output()[-3000:]
            raise AssertionError(f"{what}: {error}\n{steps}\n{output}") from error

    def _check(self, release):
        told = self.ask("report", release)
        steps = [line[1:] for line in self._lines() if line[0] == release]
        drawn = [facts for name, *facts in steps if name == "drawing"]
        assert told["problem"] == ""
        assert told["committed"] == told["charged"]
        assert len(told["charges"]) == 1
        assert [name for name, *_ in steps].count("reading") <= MOST_ATTEMPTS
        assert len(drawn) <= 1, "drawn more than once"
        assert all(facts == [self._expected] for facts in drawn), "other masses than those of an upload"
        end = {"published": "publish", "failed": "fail"}[told["state"]]
        assert told["moves"] == ["reserve", "spend", end]
        if told["state"] == "published":
            assert len(drawn) == 1
            assert told["level"] is not None
        return told["state"]

    def _noted(self, release, step):
        return any(line[:2] == [release, step] for line in self._lines())

    def _lines(self):
        path = self.installation.folder / "steps"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def _service(self, ends, command):
        made = Service(
            command, environment=self.installation.environment, output=self.installation.folder / "output"
        )
        ends.callback(made.end)
        self._services.append(made)
        return made


@contextlib.contextmanager
def started(installation=None, **options):
    """Everything of its own: PostgreSQL is killed with the rest.

    installation: makes a migrated one, as that of `World`; None migrates here.
    """
    with contextlib.ExitStack() as ends:
        server = ends.enter_context(Postgres.started(in_memory=True))
        folder = ends.enter_context(tempfile.TemporaryDirectory(prefix="hazemap-kills-"))
        yield ends.enter_context(KilledLake(installation or _migrated, folder, server, **options))


def _migrated(folder, _vendor, *, server, **facts):
    (state := folder / "state").mkdir()
    made = Installation(folder=state, database_url=server.url(server.new_database()), **facts)
    made.manage("migrate", "--verbosity", "0")
    return made


def _tables():
    rng = np.random.default_rng(5)
    for _ in range(FILES):
        rows = ROWS // FILES
        users = rng.zipf(1.3, rows) % PEOPLE
        yield pa.table(
            {
                "user": pa.array([f"u{user}" for user in users]),
                "lat": pa.array(rng.normal(30.4, 0.2, rows)),
                "lon": pa.array(rng.normal(-97.8, 0.2, rows)),
                "time": pa.array(rng.integers(1_700_000_000, 1_710_000_000, rows) * 10**6).cast(
                    pa.timestamp("us", tz="UTC")
                ),
            }
        )
