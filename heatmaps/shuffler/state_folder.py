"""Recognizes a state folder that is a copy: what was used up, handed over or destroyed since would be back.

A copy of the mark has another inode or another moment of change, which no program can set. A snapshot of the
whole disk keeps both, and single files that are put back leave the mark alone: neither is seen.
"""

from heatmaps.shuffler import files, settings

_MARK = settings.STATE_DIR / "mark"  # empty, and never touched again
_IDENTITY = settings.STATE_DIR / "mark-identity"


def is_copy() -> bool:
    """Returns whether the record was made of another mark; a folder without one gets both."""
    try:
        record = _IDENTITY.read_text()
    except FileNotFoundError:
        renew()
        return False
    return record != _identity()


def renew() -> None:
    """Takes this folder for the one and only from here on."""
    files.write(_MARK, b"")
    files.write(_IDENTITY, _identity().encode())


def _identity() -> str:
    try:
        status = _MARK.stat()
    except FileNotFoundError:
        return ""
    return f"{status.st_ino} {status.st_ctime_ns}\n"
