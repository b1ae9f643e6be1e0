"""Keeps files for this account alone, whole after a crash, and destroys them.

What is destroyed is overwritten first. On a disk that writes elsewhere (most flash does) old bytes may stay
below the file system; packets are then still sealed to a key of their round that is 32 bytes, not megabytes.
"""

import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_FOLDER: Final = 0o700
_FILE: Final = 0o600
_OF_OTHERS: Final = 0o077
_PIECE_BYTES: Final = 2**20


class InUse(Exception):  # noqa: N818 - reads as what it says
    """Says that another process holds the lock."""


def private_folder(path: Path) -> Path:
    """Makes a folder of mode 700, or tightens the one that is there.

    Errors: RuntimeError naming it, when it cannot be made, belongs to another account, or everybody may write
    into it.
    """
    try:
        path.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
        status = path.stat()
    except OSError as error:
        raise RuntimeError(
            f"the folder {path} cannot be made: {error.strerror}; choose another with HAZEMAP_SHUFFLER_STATE"
        ) from None
    if status.st_uid != os.geteuid() or status.st_mode & stat.S_ISVTX:
        raise RuntimeError(
            f"the folder {path} is not this account's alone, so others could read keys: choose another with "
            "HAZEMAP_SHUFFLER_STATE"
        )
    if status.st_mode & _OF_OTHERS:
        path.chmod(_FOLDER)
    return path


def write(path: Path, content: bytes) -> None:
    """Writes the whole content under that name, or leaves what was there; on disk when this returns."""
    private_folder(path.parent)
    unfinished = path.with_name(f".{path.name}.new")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _FILE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    _sync_folder(path.parent)
    _sync_folder(path.parent.parent)


def write_zeros(path: Path, size: int) -> None:
    """Makes a file of that many zero bytes, or replaces one; on disk when this returns.

    Errors: OSError where there is no room; then nothing is left of it.
    """
    private_folder(path.parent)
    unfinished = path.with_name(f".{path.name}.new")
    try:
        with unfinished.open("wb") as file:
            for start in range(0, size, _PIECE_BYTES):
                file.write(bytes(min(size - start, _PIECE_BYTES)))
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    unfinished.replace(path)
    _sync_folder(path.parent)
    _sync_folder(path.parent.parent)


def destroy(path: Path) -> None:
    """Overwrites and removes a file; nothing happens where there is none."""
    try:
        file = path.open("r+b")
    except FileNotFoundError:
        return
    with file:
        left = os.fstat(file.fileno()).st_size
        while left:
            left -= file.write(secrets.token_bytes(min(left, _PIECE_BYTES)))
        file.flush()
        os.fsync(file.fileno())
    path.unlink()
    _sync_folder(path.parent)


def destroy_folder(path: Path, *, first: str) -> None:
    """Destroys a folder of files, beginning with the one whose name is `first`."""
    destroy(path / first)
    if not path.is_dir():
        return
    for file in path.iterdir():
        destroy(file)
    path.rmdir()
    _sync_folder(path.parent)


@contextmanager
def locked(path: Path, *, wait: bool) -> Iterator[None]:
    """Holds a lock that ends with the process at the latest. Errors: InUse."""
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse from None
        yield


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
