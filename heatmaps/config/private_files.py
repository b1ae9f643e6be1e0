"""Creates files and folders that only the server's own account may open."""

import os
import stat
from pathlib import Path
from typing import Final

UMASK: Final = 0o077
_FOLDER: Final = 0o700
_FILE: Final = 0o600
_OF_OTHERS: Final = 0o077


def keep_new_files_private() -> None:
    """Lets files that this process makes from now on, SQLite's too, open for its own account alone."""
    os.umask(UMASK)


def folder(path: Path) -> Path:
    """Makes a folder of mode 700, or tightens the one that is there.

    Errors: RuntimeError naming it, when it cannot be made or written, belongs to another account, or
    everybody may write into it.
    """
    try:
        path.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
        inode = path.stat()
    except OSError as error:
        raise RuntimeError(_unusable(path, f"cannot be made: {error.strerror}")) from None
    if inode.st_uid != os.geteuid():
        raise RuntimeError(
            f"the folder {path} belongs to another account (user id {inode.st_uid}), who could read keys and "
            f"check-ins: give it to this one with `chown -R {os.geteuid()} {path}`, or choose another folder "
            "with HAZEMAP_STATE or HAZEMAP_KEY_DIR"
        )
    if inode.st_mode & stat.S_ISVTX:
        raise RuntimeError(
            f"the folder {path} is shared by everyone (like /tmp): choose a folder inside it with "
            "HAZEMAP_STATE or HAZEMAP_KEY_DIR"
        )
    if inode.st_mode & _OF_OTHERS:
        path.chmod(_FOLDER)
    if not os.access(path, os.W_OK | os.X_OK):
        raise RuntimeError(_unusable(path, "cannot be written"))
    return path


def tighten(*paths: Path) -> None:
    """Sets mode 600 for those that are files; leaves links to whoever made them.

    Errors: RuntimeError naming a file that belongs to another account.
    """
    for path in paths:
        try:
            inode = path.lstat()
        except FileNotFoundError:
            continue  # also one that SQLite takes away at this very moment
        if not stat.S_ISREG(inode.st_mode):
            continue
        if inode.st_uid != os.geteuid():
            raise RuntimeError(
                f"the file {path} belongs to another account (user id {inode.st_uid}): give it to this one "
                f"with `chown {os.geteuid()} {path}`"
            )
        if inode.st_mode & _OF_OTHERS:
            path.chmod(_FILE)


def files_of_database(name: str) -> list[Path]:
    """Returns SQLite's database and what it keeps beside it."""
    return [Path(name + suffix) for suffix in ("", "-wal", "-shm", "-journal")]


def _unusable(path: Path, why: str) -> str:
    return f"the folder {path} {why}; choose another folder with HAZEMAP_STATE or HAZEMAP_KEY_DIR"
