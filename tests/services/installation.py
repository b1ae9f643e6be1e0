"""An installation of its own for one test: state folder, database, broker, and processes of the product."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests.services.http import is_whole
from tests.services.programs import free_port, wait_until

ROOT = Path(__file__).resolve().parents[2]
ABSENT = ROOT / "tests" / "services" / "absent"  # packages of the tests that the product would load


SERVE = ("manage.py", "serve", "--port")
START_SECONDS = 120  # beside eight busy processes


@dataclass(frozen=True, slots=True)
class Server:
    """A web server that answers."""

    port: int
    process: subprocess.Popen

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"


@dataclass(slots=True, kw_only=True)
class Installation:
    """`database_url` is empty for SQLite in the state folder, `broker_url` for the in-process broker."""

    folder: Path
    record: Path | None = None  # of draws; None: beside the state folder
    database_url: str = ""
    broker_url: str = ""
    settings: str = "heatmaps.config.settings"
    log_format: str = "text"
    others: dict = field(default_factory=dict)  # more variables of the environment
    processes: list = field(default_factory=list)

    @property
    def database(self):
        """The name of its database on PostgreSQL."""
        return self.database_url.rpartition("/")[2]

    @property
    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HAZEMAP_")}
        # Every process would compile the whole product again.
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        own = {
            "HAZEMAP_STATE": str(self.folder),
            "HAZEMAP_RECORD_DIR": str(self.record or self.folder.with_name(f"{self.folder.name}-record")),
            "HAZEMAP_DATABASE_URL": self.database_url,
            "HAZEMAP_BROKER_URL": self.broker_url,
            "HAZEMAP_LOG_FORMAT": self.log_format,
            "HAZEMAP_SLOT_SECONDS": "1,1,1,1",
            "DJANGO_SETTINGS_MODULE": self.settings,
            # What reads lakes has the packages of the extra `spark`, pandas among them.
            "PYTHONPATH": str(ROOT) if "HAZEMAP_SOURCES" in self.others else f"{ROOT}{os.pathsep}{ABSENT}",
            "PYTHONUNBUFFERED": "1",
        }
        return kept | own | self.others

    def python(self, *arguments, check=True, **options):
        """Run Python to its end; stdout and stderr are captured as text."""
        result = subprocess.run(
            [sys.executable, *map(str, arguments)],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
            **options,
        )
        assert not check or result.returncode == 0, result.stderr[-3000:]
        return result

    def at_once(self, *several):
        """What some Pythons print that run side by side."""
        with ThreadPoolExecutor(len(several)) as pool:
            return [result.stdout for result in pool.map(lambda one: self.python(*one), several)]

    def manage(self, *arguments, check=True):
        return self.python("manage.py", *arguments, check=check)

    def script(self, name, *arguments, package="tests.services"):
        """What a script of this folder, or of another, prints, as JSON."""
        return json.loads(self.python("-m", f"{package}.{name}", *arguments).stdout)

    @contextlib.contextmanager
    def running(self, *arguments):
        """Python in the background, its output in `<state>/output`; killed at the end if it still runs."""
        with (self.folder / "output").open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, *map(str, arguments)],
                env=self.environment,
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
                # A worker's own processes end with it.
                start_new_session=True,
            )
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait(timeout=60)

    @contextlib.contextmanager
    def serving(self, *options, program=SERVE, port=None, is_up=is_whole):
        """Runs a web server, all of whose parts answer once this yields the `Server`.

        options: more words of its command. is_up: tells of a port whether that is so.
        """
        port = port or free_port()
        with self.running(*program, port, *options) as process:

            def answers():
                assert process.poll() is None, self.output()[-3000:]
                return is_up(port)

            wait_until(answers, seconds=START_SECONDS, what="the server's answer")
            yield Server(port, process)

    def value(self, query):
        """Returns the first value that an SQL query gives, without a process of the product."""
        if self.database_url:
            with psycopg.connect(self.database_url, autocommit=True) as connection:
                return connection.execute(query).fetchone()[0]
        address = f"file:{self.folder}/hazemap.sqlite3?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True, timeout=60)) as connection:
            return connection.execute(query).fetchone()[0]

    def output(self):
        return (self.folder / "output").read_text()

    def copied_to(self, folder, database_url=""):
        """The same installation once more, with a copy of its state folder and another database."""
        shutil.copytree(self.folder, folder)
        return Installation(folder=folder, database_url=database_url, broker_url=self.broker_url)
