"""Installations that were migrated once, for all processes of a run of tests, and for the next run."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import sqlite3
import sys
from pathlib import Path

from tests.services.installation import ROOT, Installation

DUMP = "dump.sql"
CODE = ("heatmaps", "mechanisms")  # what migrations import


def installation(config, tmp_path_factory):
    """Returns a migrated, empty installation on SQLite, to be copied; its folder is the run's own."""
    return Installation(folder=_shared("sqlite", _migrate, config, tmp_path_factory))


def installation_on(postgres, config, tmp_path_factory):
    """Returns the same on a PostgreSQL server, and the name of its database."""

    def migrate(folder):
        name = postgres.new_database()
        _migrate(folder, postgres.url(name))
        postgres.dump(name, folder / DUMP)

    folder = _shared("postgres", migrate, config, tmp_path_factory)
    name = postgres.restored(folder / DUMP)
    return Installation(folder=folder, database_url=postgres.url(name)), name


def _shared(kind, migrate, config, tmp_path_factory):
    """Returns a folder of this run that `migrate` filled: in another process of it, or in a run before.

    pytest's cache keeps it for runs of the same code.
    """
    run = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        run = run.parent  # of all its processes
    folder = run / f"migrated-{kind}"
    with locked(run, kind):
        if not folder.exists():
            cache = getattr(config, "cache", None)
            if cache is None:
                _make(folder, migrate)
            else:
                kept = Path(cache.mkdir("hazemap-migrated"))
                with locked(kept, kind):
                    _renew(kept / kind, migrate)
                    shutil.copytree(kept / kind, folder)
    return folder


def fill(database, migrated):
    """Copies the tables of a migrated installation into an SQLite database, which is named by its URI.

    Returns the connection: a database in memory lasts as long as somebody is connected.
    """
    connection = sqlite3.connect(database, uri=True)
    with contextlib.closing(sqlite3.connect(migrated.folder / "hazemap.sqlite3")) as source:
        source.backup(connection)
    return connection


def fingerprint():
    """Returns the SHA-256 of all code that a migration can run, and of the packages that are locked."""
    digest = hashlib.sha256(sys.version.encode())
    paths = sorted(path for folder in CODE for path in (ROOT / folder).rglob("*.py"))
    for path in (*paths, ROOT / "requirements.lock"):
        digest.update(
            str(path.relative_to(ROOT)).encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest()
        )
    return digest.hexdigest()


@contextlib.contextmanager
def locked(folder, kind):
    """Lets one process at a time do what concerns a folder."""
    with (folder / f"{kind}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _renew(folder, migrate):
    """Fills a folder of pytest's cache again, if what is there is of other code."""
    code = folder.with_name(f"{folder.name}.code")
    if folder.exists() and code.exists() and code.read_text() == fingerprint():
        return
    code.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    _make(folder, migrate)
    code.write_text(fingerprint())


def _make(folder, migrate):
    """Makes a folder that is there only once all is in it."""
    begun = folder.with_name(f"{folder.name}-begun")
    shutil.rmtree(begun, ignore_errors=True)
    begun.mkdir()
    migrate(begun)
    begun.rename(folder)


def _migrate(folder, database_url=""):
    Installation(folder=folder, database_url=database_url).manage("migrate", "--verbosity", "0")
