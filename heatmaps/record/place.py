"""Tells where a record and its database are, so that a copy counts as none."""

import os
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import connection

from heatmaps.spool import sync_folder

_MACHINE: Final = Path("/etc/machine-id")
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_MOUNTS: Final = Path("/proc/self/mountinfo")
_GONE_WITH_THE_CONTAINER: Final = ("overlay", "tmpfs", "ramfs")


class RecordError(OSError):
    """Gives a readable reason in one line why no record can be kept."""

    code: Final = "record"


def of_file(path: Path) -> dict[str, str]:
    """Tells the place of a journal: this machine, its file, its stamp, and the embedded database's file."""
    stamp = _stamp(path)
    creation = f"{_file(stamp)}:{stamp.stat().st_ctime_ns}" if stamp.is_file() else ""
    return {"machine": _text(_MACHINE), "file": _file(path), "stamp": creation, "database": _database()}


def without_device(name: str, value: str) -> str:
    """Returns the part of a place's fact that stays when the machine is started anew."""
    return value if name == "machine" else value.partition(":")[2]


def stamp(path: Path) -> None:
    """Makes the stamp of a journal: an empty file that is never written.

    Whoever restores a folder may get the old file numbers again, but not the moment at which a file was made.
    """
    _stamp(path).unlink(missing_ok=True)
    _stamp(path).touch(mode=0o600)
    sync_folder(path.parent)


def _stamp(path: Path) -> Path:
    return path.with_name(f"{path.name}.made")


def boot() -> str:
    """Names this start of the machine; "" where the system does not tell."""
    return _text(_BOOT)


def check_outlives(folder: Path, mounts: str) -> None:
    """Refuses a folder that ends with its container.

    mounts: the text of `/proc/self/mountinfo`. Errors: RecordError.
    """
    below = [line.split() for line in mounts.splitlines()]
    paths = {fields[4]: fields[fields.index("-") + 1] for fields in below if "-" in fields}
    inside = [path for path in paths if folder.is_relative_to(path)]
    mount = max(inside, key=len, default="/")
    if mount == "/" or paths[mount] in _GONE_WITH_THE_CONTAINER:
        raise RecordError(
            f"the folder {folder} ends with this container, and so does the record of what was drawn: "
            f"mount a volume at {folder}, or name one with HAZEMAP_RECORD_DIR"
        )


def check() -> None:
    """Refuses to run in a container whose record does not outlive it. Errors: RecordError."""
    if settings.IN_CONTAINER:
        check_outlives(settings.RECORD_DIR, _MOUNTS.read_text())


def _file(path: Path) -> str:
    status = path.stat()
    return f"{status.st_dev}:{status.st_ino}"


def _database() -> str:
    """Names the embedded database's file; nothing where it is a server's, which tells no place."""
    path = Path(str(settings.DATABASES["default"]["NAME"]))
    return _file(path) if connection.vendor == "sqlite" and path.is_file() else ""


def _text(path: Path) -> str:
    return path.read_text().strip() if os.access(path, os.R_OK) else ""
