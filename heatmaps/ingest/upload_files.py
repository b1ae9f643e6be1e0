"""Stores uploaded files privately on disk until their ingest ends."""

import contextlib
import os
import re
import time
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol
from uuid import UUID

from django.conf import settings

from heatmaps import spool
from heatmaps.ingest.errors import UploadError
from heatmaps.pseudonyms import keys

BLOCK_BYTES: Final = 2**20
ENDED_SECONDS: Final = 600  # a file nobody needs; younger ones may be of an upload just being received
FORGOTTEN_SECONDS: Final = 24 * 3600  # what a crashed request left; its upload may take hours
NAME_LENGTH: Final = 200

_RAW = ".raw"


class Readable(Protocol):
    """Fits Django's uploaded files and open binary files alike."""

    def read(self, size: int = -1, /) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    size_bytes: int
    content_digest: str


def store(file: Readable, upload_id: UUID, key: bytes) -> Stored:
    """Copies a file to disk (mode 600) with its keyed digest, in constant memory.

    Errors: `UploadError` above `MAX_UPLOAD_BYTES`; nothing is left on disk then.
    """
    path = path_of(upload_id)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as target:
            stored_file = _copy(file, target, key)
            target.flush()
            os.fsync(target.fileno())
    except BaseException:
        remove(upload_id)
        raise
    return stored_file


def path_of(upload_id: UUID) -> Path:
    """Returns the path of an upload's file while it is needed."""
    return Path(settings.UPLOAD_DIR) / f"{upload_id}{_RAW}"


def opened(upload_id: UUID) -> BinaryIO:
    """Opens the file of an upload, for whoever reads it. Errors: OSError, also for a link to another file."""
    return spool.opened(path_of(upload_id))


def remove(upload_id: UUID) -> None:
    """Deletes the file of an upload; where this process may not write, the web server does it."""
    spool.take_away(path_of(upload_id))


def sweep(in_use: Collection[UUID]) -> None:
    """Deletes the files of uploads that ended, and what a crash left while a file was received.

    Folders stay: they hold what is received of others (`heatmaps.collections.handover`).
    """
    names = {path_of(upload_id).name for upload_id in in_use}
    for path in Path(settings.UPLOAD_DIR).iterdir():
        kept_seconds = ENDED_SECONDS if path.suffix == _RAW else FORGOTTEN_SECONDS
        if path.name not in names and not path.is_dir() and age_seconds(path) > kept_seconds:
            spool.take_away(path)


def stored_uploads() -> list[UUID]:
    """Returns the uploads whose files are on disk."""
    return list(spool.ids(Path(settings.UPLOAD_DIR), suffix=_RAW))


def age_seconds(path: Path) -> float:
    """Returns seconds since a file was last written; 0 when it is gone."""
    with contextlib.suppress(FileNotFoundError):  # another sweep was faster
        return time.time() - path.stat().st_mtime
    return 0


def shown_name(name: str) -> str:
    """Returns the last part of a file's name without control characters, for pages and messages."""
    last = re.split(r"[/\\]", name)[-1]
    visible = "".join(character for character in last if unicodedata.category(character)[0] != "C")
    return visible.strip()[:NAME_LENGTH] or "unnamed"


def _copy(file: Readable, target: BinaryIO, key: bytes) -> Stored:
    hasher, size, limit = keys.content_hasher(key), 0, settings.MAX_UPLOAD_BYTES
    while block := file.read(BLOCK_BYTES):
        size += len(block)
        if size > limit:
            raise UploadError(
                "too_large",
                f"the file is larger than {limit} bytes, the largest this server accepts "
                "(HAZEMAP_MAX_UPLOAD_BYTES); compress it with gzip or split it",
            )
        hasher.update(block)
        target.write(block)
    return Stored(size_bytes=size, content_digest=hasher.hexdigest())
