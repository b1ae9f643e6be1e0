"""Appends lines of JSON to a file, each on disk before the append returns; reads what is new in it.

| line | says |
| --- | --- |
| place | where the file and its database are (`heatmaps.record.place`), and its id; the first line |
| boot | which start of the machine the lines after it belong to |
| intent | an election is about to be committed, of which release, and what that was charged |
| done | it was committed: the database contains it from now on |
| void | it was not, and nothing was drawn |
| out, back | a person, by keyed hash, opted out of a dataset, or took it back |
| resumed | an operator said what happened: what stands before it binds nobody any more |
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any, Final, TypeAlias
from uuid import UUID

Line: TypeAlias = Mapping[str, Any]
PLACE, BOOT, INTENT, DONE, VOID, RESUMED = "place", "boot", "intent", "done", "void", "resumed"
OUT, BACK = "out", "back"
_MODE: Final = 0o600


@dataclass(slots=True, kw_only=True)
class Entries:
    """What the lines of a journal add up to."""

    place: Line | None = None  # None: nothing was ever written
    boot: str = ""
    last: UUID | None = None  # the latest election that was done
    # Intents that were neither done nor void, by election: their release, None for a mark.
    intents: dict[UUID, UUID | None] = field(default_factory=dict)

    def add(self, line: Line) -> None:
        """Takes the next line into account. Errors: KeyError, ValueError for a line that nothing writes."""
        kind = line["kind"]
        if kind == PLACE:
            self.place = line
        elif kind == BOOT:
            self.boot = str(line["boot"])
        elif kind == INTENT:
            release = line["release"]
            self.intents[UUID(str(line["id"]))] = None if release is None else UUID(str(release))
        elif kind in (DONE, VOID):
            election = UUID(str(line["id"]))
            self.intents.pop(election, None)
            self.last = election if kind == DONE else self.last
        elif kind == RESUMED:
            self.last = None
            self.intents.clear()

    def spoil(self) -> None:
        """Notes a line that nothing writes: the journal is of no place then."""
        self.place = {}


class Journal:
    """An open file, locked against every other process and thread that would append."""

    def __init__(self, path: Path, file: FileIO) -> None:
        self.path, self._file = path, file
        self.entries = _entries(path, file)

    def append(self, *lines: Line) -> None:
        """Writes lines to the disk. Errors: OSError; they count as not written then."""
        texts = (json.dumps(line, separators=(",", ":"), sort_keys=True) for line in lines)
        self._file.write("".join(f"{text}\n" for text in texts).encode())
        os.fsync(self._file.fileno())
        _advance(self.path, self._file, self.entries)

    def lines(self) -> list[Line]:
        """Every line from the first on."""
        self._file.seek(0)
        return [json.loads(line) for line in self._file.read().splitlines()]


@contextmanager
def opened(path: Path) -> Iterator[Journal]:
    """Opens a journal of mode 600, made where it is missing, and holds its lock. Errors: OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    is_new = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, _MODE)
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if is_new:
            _sync_folder(path.parent)
        _cut_torn_line(file)
        yield Journal(path, file)


_read: dict[Path, tuple[int, int, Entries]] = {}  # by path: inode, bytes read, and what they say


def _entries(path: Path, file: FileIO) -> Entries:
    inode, size = os.fstat(file.fileno()).st_ino, os.fstat(file.fileno()).st_size
    earlier = _read.get(path)
    entries = Entries()
    if earlier is not None and earlier[0] == inode and earlier[1] <= size:
        entries = earlier[2]
    else:
        _read[path] = (inode, 0, entries)
    _advance(path, file, entries)
    return entries


def _advance(path: Path, file: FileIO, entries: Entries) -> None:
    """Reads what others appended, and this process."""
    inode, start, _ = _read[path]
    file.seek(start)
    content = file.read()
    for line in content.splitlines():
        try:
            entries.add(json.loads(line))
        except (KeyError, TypeError, ValueError):
            entries.spoil()
    _read[path] = (inode, start + len(content), entries)


def _cut_torn_line(file: FileIO) -> None:
    """A line that was cut off by a power failure was never acted upon."""
    size = file.seek(0, os.SEEK_END)
    back = min(size, 2**16)
    file.seek(size - back)
    content = file.read()
    whole = content.rfind(b"\n") + 1
    if whole != len(content):
        file.truncate(size - back + whole)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
