"""Real PostgreSQL and Redis servers in throw-away folders on free ports, stopped by process id."""

import contextlib
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

import psutil
import psycopg
import pytest
import redis as redis_client

MEMORY_BYTES = 8 * 2**30
# For tests of seconds on either database: on PostgreSQL with the long ones.
SQLITE_FIRST = ["sqlite", pytest.param("postgresql", marks=[pytest.mark.postgres, pytest.mark.long])]


def found_or_skip(service):
    """Skip, saying so, where a program is not installed; fail instead when REQUIRE_SERVICES=1."""
    missing = service.missing()
    if missing and os.environ.get("REQUIRE_SERVICES") == "1":
        pytest.fail(f"REQUIRE_SERVICES=1, but {missing}", pytrace=False)
    if missing:
        pytest.skip(missing)


_chance = random.Random()  # its own: hypothesis sets the seed of the other one


def free_port():
    """None of those that clients get, nor of another process of this run: it is bound seconds later."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 5
    while True:
        port = _chance.randrange(10_000 + 4_000 * worker, 14_000 + 4_000 * worker)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def wait_until(condition, *, seconds, what):
    """Poll until `condition()` holds; its last value. AssertionError naming `what` after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {seconds} s")


def roomy_memory():
    """A folder in memory with room for hundreds of small databases, else None: each is 300 files."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > MEMORY_BYTES else None


class Redis:
    @staticmethod
    def missing():
        return "" if shutil.which("redis-server") else "redis-server is not installed"

    def __init__(self, port):
        self.port, self.url = port, f"redis://127.0.0.1:{port}/0"

    @classmethod
    @contextlib.contextmanager
    def started(cls, port=None, *, settings=""):
        """`settings`: lines of its configuration, such as its users, besides those here."""
        server = cls(port or free_port())
        command = ["redis-server", "-", "--port", str(server.port), "--bind", "127.0.0.1"]
        options = ["--save", "", "--appendonly", "no"]
        with tempfile.TemporaryDirectory(prefix="hazemap-redis-") as folder:
            process = subprocess.Popen(
                [*command, *options, "--dir", folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                text=True,
            )
            process.stdin.write(settings)
            process.stdin.close()
            try:
                wait_until(server.answers, seconds=60, what="redis-server answering")
                yield server
            finally:
                process.terminate()
                process.wait(timeout=60)

    def client(self):
        return redis_client.Redis.from_url(self.url)

    def answers(self):
        try:
            return self.client().ping()
        except redis_client.AuthenticationError:
            return True
        except redis_client.ConnectionError:
            return False

    def as_user(self, name):
        """The address of one of its users, whose password is `<name>-word`."""
        return f"redis://{name}:{name}-word@127.0.0.1:{self.port}/0"


class Postgres:
    """A cluster with fsync off: a commit is in the system's memory before it is answered, so a killed server
    or client loses nothing by that; only a killed machine would."""

    @staticmethod
    def missing():
        if Postgres._program("initdb") is None or Postgres._program("postgres") is None:
            return "PostgreSQL's programs (initdb, postgres) are not installed"
        if os.geteuid() == 0 and Postgres._unprivileged() is None:
            return "PostgreSQL refuses root, and there is no user postgres to run it as"
        return ""

    def __init__(self, port, start):
        self.port, self._start_again = port, start
        self.process = start()

    @classmethod
    @contextlib.contextmanager
    def started(cls, *, in_memory=False):
        create = [cls._program("initdb"), "-U", "hazemap", "-A", "trust", "-E", "UTF8", "-N"]
        with cls._running(create, in_memory=in_memory) as server:
            yield server

    @contextlib.contextmanager
    def replica(self):
        """A server with what this one has now, and nothing that comes later: a replica that lagged when it
        took over."""
        copy = [self._program("pg_basebackup"), "-h", "127.0.0.1", "-p", str(self.port), "-U", "hazemap"]
        with self._running([*copy, "-X", "stream", "-c", "fast"], in_memory=True) as server:
            yield server

    @classmethod
    @contextlib.contextmanager
    def _running(cls, create, *, in_memory):
        user = cls._unprivileged()
        place = roomy_memory() if in_memory else None
        folder = Path(tempfile.mkdtemp(prefix="hazemap-postgres-", dir=place))
        try:
            if user:
                shutil.chown(folder, user)
            server = cls._start(create, folder, user)
            try:
                yield server
            finally:
                server._stop()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @classmethod
    def _start(cls, create, folder, user):
        def run(*command):
            return {"args": list(command), "user": user, "cwd": folder, "stdout": subprocess.DEVNULL}

        cluster = str(folder / "cluster")
        subprocess.run(**run(*create, "-D", cluster), check=True, stderr=subprocess.DEVNULL)
        port = free_port()
        switches = {"port": port, "listen_addresses": "127.0.0.1", "unix_socket_directories": folder}
        switches |= {"fsync": "off", "max_connections": 200, "log_min_messages": "fatal"}
        flags = [part for name, value in switches.items() for part in ("-c", f"{name}={value}")]
        serve = run(cls._program("postgres"), "-D", cluster, *flags)
        server = cls(port, lambda: subprocess.Popen(**serve, stderr=subprocess.DEVNULL))
        wait_until(server._answers, seconds=60, what="PostgreSQL answering")
        return server

    def kill(self):
        """SIGKILL to the first process; those of its clients notice, or go on to their next message."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=60)

    def hang(self):
        """SIGSTOP to all of its processes."""
        self._signal_all(signal.SIGSTOP)

    def go_on(self):
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number):
        first = psutil.Process(self.process.pid)
        for process in (first, *first.children(recursive=True)):  # its clients' are sessions of their own
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def restart(self):
        """After a kill: it refuses to start while a process of the killed one still lives."""
        wait_until(self._answers_or_starts, seconds=60, what="PostgreSQL answering again")

    def _answers_or_starts(self):
        if self.process.poll() is not None:
            self.process = self._start_again()
        return self._answers()

    def url(self, database):
        return f"postgresql://hazemap@127.0.0.1:{self.port}/{database}"

    def new_database(self, template="template1"):
        """The name of a new database, a copy of `template`."""
        name = f"test_{uuid.uuid4().hex}"
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return name

    def dump(self, name, path):
        """Writes all of a database, as statements."""
        self._run("pg_dump", "-f", path, name)

    def restored(self, path):
        """The name of a new database with what was dumped."""
        name = self.new_database()
        self._run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", name, "-f", path)
        return name

    def _run(self, program, *arguments):
        address = ("-h", "127.0.0.1", "-p", str(self.port), "-U", "hazemap")
        subprocess.run(
            [self._program(program), *address, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL
        )

    def drop(self, name):
        self.execute(f'DROP DATABASE "{name}" WITH (FORCE)')

    def execute(self, statement, database="postgres"):
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement)

    def value(self, query, database):
        """The first value that a query gives."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            return connection.execute(query).fetchone()[0]

    def _answers(self):
        try:
            self.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def _stop(self):
        self.process.send_signal(signal.SIGQUIT)  # at once: nothing is kept that it could write
        self.process.wait(timeout=60)

    @staticmethod
    def _unprivileged():
        if os.geteuid() != 0:
            return None
        names = {entry.pw_name for entry in pwd.getpwall()}
        return "postgres" if "postgres" in names else None

    @staticmethod
    def _program(name):
        folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
        path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")])
        return shutil.which(name, path=path)
