"""A state folder that was migrated once, for all processes of a run of tests, and for the next run."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import sqlite3
import sys
from pathlib import Path

from tests.services.installation import ROOT, Installation

CODE = ("heatmaps", "mechanisms")  # what migrations import


def installation(config, tmp_path_factory):
    """Returns a migrated, empty installation on SQLite, to be copied; its folder is the run's own.

    pytest's cache keeps it for runs of the same code.
    """
    run = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        run = run.parent  # of all its processes
    migrated = Installation(folder=run / "migrated")
    with locked(run):
        if not migrated.folder.exists():
            cached = _cached(config)
            if cached is None:
                _migrate(migrated.folder)
            else:
                with locked(cached):
                    _fill(cached / "state", fingerprint())
                    shutil.copytree(cached / "state", migrated.folder)
    return migrated


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
def locked(folder):
    """Lets one process at a time do what concerns a folder."""
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _cached(config):
    """Returns pytest's folder for it; None if this run keeps nothing."""
    cache = getattr(config, "cache", None)
    return Path(cache.mkdir("hazemap-migrated")) if cache else None


def _fill(folder, code):
    """Migrates into a folder that pytest's cache keeps, if what is there is of other code."""
    name = folder.with_name("code")
    if folder.exists() and name.exists() and name.read_text() == code:
        return
    name.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    _migrate(folder)
    name.write_text(code)


def _migrate(folder):
    """Migrates into a new folder, which is there only once all is in it."""
    begun = folder.with_name(f"{folder.name}-begun")
    shutil.rmtree(begun, ignore_errors=True)
    begun.mkdir()
    Installation(folder=begun).manage("migrate", "--verbosity", "0")
    begun.rename(folder)
