"""Saves the embedded state as one private archive and restores it: database, keys and credentials.

A gzip tar with `manifest.json` first, which names every other member with size and SHA-256. The database is
copied before the keys: a key is on disk before its dataset is committed, so none can be missing. Uploads in
flight are left out; they are sent again.
"""

import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from django.conf import settings
from django.db import connection

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
DATABASE: Final = "hazemap.sqlite3"
_KEYS: Final = "keys/"
_CREDENTIALS: Final = ("credentials", "credentials-administrator")
_MEMBER: Final = re.compile(
    r"hazemap\.sqlite3|credentials(-administrator)?|keys/[A-Za-z0-9_-][A-Za-z0-9._-]*"
)
_LARGEST_MANIFEST: Final = 2**24  # bytes


class BackupError(Exception):
    """Gives a readable reason in one line; nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """Counts what an archive holds."""

    members: int
    size_bytes: int


def save(path: Path) -> Saved:
    """Writes a new archive of mode 600; a server may be running. Errors: BackupError."""
    _must_be_embedded()
    if path.exists():
        raise BackupError(f"{path} exists already; a backup overwrites nothing")
    with _work_folder(path.parent) as folder:
        _copy_database(folder / DATABASE)
        members = {DATABASE: folder / DATABASE, **_copy_private_files(folder)}
        archive = folder / "archive"
        _write(archive, members)
        _link(archive, path)
    return Saved(members=len(members), size_bytes=path.stat().st_size)


@contextmanager
def restored(path: Path) -> Iterator[Saved]:
    """Puts an archive's files in their places; takes them away again if the block fails.

    The caller checks what is there now in the block, and that no server uses the folder. Errors: BackupError.
    """
    _must_be_embedded()
    _must_be_free()
    with _work_folder(Path(settings.STATE_DIR)) as folder:
        names = _unpack(path, folder)
        _check_database(folder / DATABASE)
        try:
            for name in names:
                _place(name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                # Over Django's signing key too: every command makes one where there is none.
                shutil.move(folder / name, _place(name))
            yield Saved(members=len(names), size_bytes=path.stat().st_size)
        except BaseException:
            _take_away(names)
            raise


def _must_be_embedded() -> None:
    if connection.vendor != "sqlite":
        raise BackupError(
            "only the embedded SQLite state is saved here; for PostgreSQL use pg_dump and copy the key folder"
        )


def _must_be_free() -> None:
    database = _place(DATABASE)
    # A write-ahead log that was left behind would be replayed into the restored database.
    state_files = [*database.parent.glob(f"{database.name}*"), *Path(settings.KEY_DIR).glob("*.key")]
    existing = state_files + [place for place in map(_place, _CREDENTIALS) if place.exists()]
    if existing:
        raise BackupError(
            f"{existing[0]} exists already; restore into an empty folder: set HAZEMAP_STATE, or move it away"
        )


def _place(name: str) -> Path:
    if name == DATABASE:
        return Path(settings.DATABASES["default"]["NAME"])
    if name.startswith(_KEYS):
        key = name.removeprefix(_KEYS)
        return (_web_key_dir() if key in settings.WEB_KEYS else Path(settings.KEY_DIR)) / key
    return Path(settings.STATE_DIR) / name


def _web_key_dir() -> Path:
    if settings.WEB_KEY_DIR is None:
        raise BackupError("web's keys belong to a backup: HAZEMAP_WEB_KEY_DIR is none")
    return settings.WEB_KEY_DIR


@contextmanager
def _work_folder(parent: Path) -> Iterator[Path]:
    """Makes a folder on the same file system as the target, mode 700, gone afterwards."""
    try:
        with tempfile.TemporaryDirectory(prefix=".hazemap-", dir=parent) as folder:
            yield Path(folder)
    except OSError as error:
        raise BackupError(f"{parent}: {error.strerror}") from None


def _copy_database(target: Path) -> None:
    """Makes a consistent copy by SQLite's online backup: one read transaction, writers go on beside it."""
    source = _place(DATABASE)
    if not source.exists():
        raise BackupError(f"{source} does not exist; there is nothing to save")
    target.touch(mode=0o600)
    with closing(sqlite3.connect(source, timeout=60)) as live, closing(sqlite3.connect(target)) as copy:
        live.backup(copy)


def _copy_private_files(folder: Path) -> dict[str, Path]:
    folders = {Path(settings.KEY_DIR), _web_key_dir()}
    keys = sorted({path.name for folder in folders for path in folder.iterdir() if path.is_file()})
    names = [*(f"{_KEYS}{key}" for key in keys), *_CREDENTIALS]
    (folder / _KEYS).mkdir(mode=0o700)
    for name in names:
        if _place(name).exists():
            with _new_file(folder / name) as file:
                file.write(_place(name).read_bytes())
    return {name: folder / name for name in names if (folder / name).exists()}


def _write(archive: Path, members: dict[str, Path]) -> None:
    facts = {name: {"size": path.stat().st_size, "sha256": _digest(path)} for name, path in members.items()}
    manifest = json.dumps({"format": FORMAT, "members": facts}).encode()
    with _new_file(archive) as file:
        with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as tar:
            tar.addfile(_entry(MANIFEST, len(manifest)), io.BytesIO(manifest))
            for name, path in members.items():
                with path.open("rb") as content:
                    tar.addfile(_entry(name, path.stat().st_size), content)
        file.flush()
        os.fsync(file.fileno())


def _new_file(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    return entry


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _link(archive: Path, path: Path) -> None:
    """Puts the finished archive under its name, or not at all: `link` refuses a name that is taken."""
    try:
        os.link(archive, path)
    except FileExistsError:
        raise BackupError(f"{path} exists already; a backup overwrites nothing") from None


def _unpack(path: Path, folder: Path) -> list[str]:
    """Checks every member against the manifest; nothing but what a backup writes is accepted."""
    try:
        with tarfile.open(path, mode="r:gz") as tar:
            manifest = _manifest(tar.next(), tar)
            names = [_unpack_next(entry, tar, manifest, folder) for entry in iter(tar.next, None)]
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, KeyError, TypeError) as error:
        raise BackupError(f"{path} cannot be read as a backup of Hazemap ({type(error).__name__})") from None
    if sorted(names) != sorted(manifest):
        raise BackupError(f"{path} is damaged: its members are not those of its manifest")
    if DATABASE not in names:
        raise BackupError(f"{path} holds no database")
    return names


def _manifest(entry: tarfile.TarInfo | None, tar: tarfile.TarFile) -> dict[str, Any]:
    if entry is None or entry.name != MANIFEST or entry.size > _LARGEST_MANIFEST:
        raise ValueError("no manifest")
    content = tar.extractfile(entry)
    manifest = json.loads(content.read() if content else b"")
    if manifest["format"] != FORMAT:
        raise BackupError(f"the backup has format {int(manifest['format'])}; this program reads {FORMAT}")
    return dict(manifest["members"])


def _unpack_next(entry: tarfile.TarInfo, tar: tarfile.TarFile, manifest: dict[str, Any], folder: Path) -> str:
    expected = manifest.get(entry.name)
    content = tar.extractfile(entry) if entry.isreg() else None
    if content is None or expected is None or not _MEMBER.fullmatch(entry.name):
        raise BackupError("the backup is damaged: it has a member that no backup writes")
    target = folder / entry.name
    target.parent.mkdir(mode=0o700, exist_ok=True)
    if entry.size != expected["size"]:
        raise BackupError(f"the backup is damaged: {entry.name} has another size")
    with _new_file(target) as file:
        while block := content.read(2**20):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    if _digest(target) != expected["sha256"]:
        raise BackupError(f"the backup is damaged: {entry.name} is not what was saved")
    return entry.name


def _check_database(path: Path) -> None:
    try:
        with closing(sqlite3.connect(path)) as database:
            (verdict,) = database.execute("PRAGMA integrity_check").fetchone()
    except sqlite3.DatabaseError:
        verdict = "not a database"
    if verdict != "ok":
        raise BackupError("the backup is damaged: its database is not sound")


def _take_away(names: list[str]) -> None:
    connection.close()
    for name in names:
        place = _place(name)
        for path in (place, *(place.with_name(place.name + end) for end in ("-wal", "-shm"))):
            path.unlink(missing_ok=True)
