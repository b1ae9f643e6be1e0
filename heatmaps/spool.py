"""Reads, deletes and writes through to the disk files in folders that several processes share."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

_NOT_WRITABLE: Final = (errno.EROFS, errno.EACCES, errno.EPERM)


def opened(path: Path) -> BinaryIO:
    """Opens a file that another process made. Errors: OSError, also for a link, a pipe or a folder."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise FileNotFoundError(errno.ENOENT, "no such file")
    return file


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
