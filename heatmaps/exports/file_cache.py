"""Caches files of releases in a folder of limited size; the least recently read go first.

Made again, a file is the same. Several processes may share the folder: who makes a file holds a lock. Only
what the web server sealed is served (`sealed_file`): whatever else is in a file's place is made anew.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from django.conf import settings

from heatmaps.children.turns import Busy
from heatmaps.exports import sealed_file

_LOCKS: Final = 3  # digits of a name that say which lock is its: files with the same wait for each other
_POLL_SECONDS: Final = 0.05
_BROKEN_OFF_SECONDS: Final = 3600.0
_PART, _REFUSED = ".part", ".refused"
_REFUSED_SECONDS: Final = 600.0  # for which a file that cannot be made is not tried again


class NotRendered(Exception):  # noqa: N818 - reads as what it says
    """Says that the file would take more than the server gives to one; another format may fit."""

    code = "too_large"

    def __init__(self) -> None:
        super().__init__("this file needs more memory, time or space than the server allows one file")


def size_of(name: str) -> int | None:
    """Returns the bytes of a file that is there already, whether it will be read or not."""
    stream = sealed_file.opened(_folder() / name)
    if stream is None:
        return None
    with stream:
        return stream.seek(0, os.SEEK_END)


def opened(name: str, make: Callable[[BinaryIO], object], *, seconds: float = 2.0) -> BinaryIO:
    """Opens the file of that name at its start, made first where it is not there.

    seconds: for which one that somebody else is making is waited for. Whoever gets it closes it; it can be
    read to its end, whatever is deleted meanwhile. Errors: Busy, NotRendered, and those of `make`.
    """
    path = _folder() / name
    if (stream := sealed_file.opened(path)) is not None:
        return stream
    with _alone(name, seconds):
        if (stream := sealed_file.opened(path)) is not None:
            return stream
        _check_refused(path)
        return _make_file(path, make)


def _make_file(path: Path, make: Callable[[BinaryIO], object]) -> BinaryIO:
    part = path.with_suffix(f".{os.getpid()}{_PART}")
    _take_away(part)
    try:
        with _private(part, os.O_EXCL) as stream:
            make(stream)
            stream.flush()
            sealed_file.seal(stream.fileno(), path.name)
        _take_away(path)  # else a folder in its place would stay there
        part.replace(path)
    except NotRendered:
        with _private(path.with_suffix(_REFUSED)) as mark:
            os.utime(mark.fileno())
        raise
    finally:
        part.unlink(missing_ok=True)
    content = sealed_file.opened(path)
    if content is None:
        raise NotRendered
    _make_room()
    return content


def _take_away(path: Path) -> None:
    """Deletes whatever has this name, and nothing that it points to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def _check_refused(path: Path) -> None:
    mark = path.with_suffix(_REFUSED)
    with suppress(FileNotFoundError):
        if time.time() - mark.lstat().st_mtime < _REFUSED_SECONDS:
            raise NotRendered
        mark.unlink()


@contextmanager
def _alone(name: str, seconds: float) -> Iterator[None]:
    with _private(_folder() / f"{name[:_LOCKS]}.lock") as lock:
        deadline = time.monotonic() + seconds
        while not _locked(lock):
            if time.monotonic() > deadline:
                raise Busy("this file is being made")
            time.sleep(_POLL_SECONDS)
        yield


def _locked(lock: BinaryIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _make_room() -> None:
    """Deletes what was read longest ago, until the rest fits; and what a process left that died."""
    files = []
    for entry in os.scandir(_folder()):
        with suppress(FileNotFoundError):  # another process was faster
            facts = entry.stat(follow_symlinks=False)
            old = time.time() - facts.st_mtime > _BROKEN_OFF_SECONDS
            if entry.name.endswith((_PART, _REFUSED)) and old:
                Path(entry.path).unlink()
            elif "." not in entry.name:
                files.append((facts.st_mtime_ns, facts.st_size, Path(entry.path)))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= settings.RENDERED_BYTES:
            break
        path.unlink(missing_ok=True)
        total -= size


def _folder() -> Path:
    folder = Path(settings.RENDERED_DIR)
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _private(path: Path, flags: int = 0) -> BinaryIO:
    """Opens a file of mode 600, made where it is missing, and follows no link."""
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | flags, 0o600), "r+b")
