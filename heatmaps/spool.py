"""Reads, deletes and writes through to the disk files in folders that another service may write.

That service may have been taken over: nothing that lies there is believed. Links are not followed, pipes hold
nobody up, and names are checked.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final
from uuid import UUID

LONGEST_KEY: Final = 4096  # bytes
_NOT_WRITABLE: Final = (errno.EROFS, errno.EACCES, errno.EPERM)


def opened(path: Path) -> BinaryIO:
    """Opens a file that another process made. Errors: OSError, also for a link, a pipe or a folder."""
    return os.fdopen(descriptor(path, os.O_RDONLY), "rb")


def descriptor(path: Path | str, flags: int, *, folder: int | None = None) -> int:
    """Opens a file as `os.open` does, new ones with mode 600. folder: a descriptor of what `path` begins at.

    Errors: OSError, also for a link, a pipe or a folder.
    """
    number = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise FileNotFoundError(errno.ENOENT, "no such file")
    return number


def key_text(path: Path) -> str:
    """Reads a short text. Errors: OSError, also for what `opened` refuses and for a long file."""
    with opened(path) as file:
        content = file.read(LONGEST_KEY + 1)
    if len(content) > LONGEST_KEY:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return content.decode("ascii", errors="replace")


def ids(folder: Path, *, prefix: str = "", suffix: str) -> Iterator[UUID]:
    """Yields the ids that files in a folder are named by; other names are somebody else's."""
    for path in folder.glob(f"{prefix}*{suffix}"):
        with suppress(ValueError):
            yield UUID(path.name.removeprefix(prefix).removesuffix(suffix))


def take_away(path: Path) -> None:
    """Deletes a file, unless it is gone, or only whoever made it may write there and deletes it."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        if error.errno not in _NOT_WRITABLE:
            raise


def sync_folder(folder: Path) -> None:
    """Has the names in a folder on disk before it returns, not only the content of its files."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
