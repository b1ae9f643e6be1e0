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
from typing import Any, TypeAlias
from uuid import UUID

import structlog

from heatmaps import spool
from heatmaps.record.place import RecordError

Line: TypeAlias = Mapping[str, Any]
PLACE, BOOT, INTENT, DONE, VOID, RESUMED = "place", "boot", "intent", "done", "void", "resumed"
OUT, BACK = "out", "back"

_log = structlog.stdlib.get_logger(__name__)


@dataclass(slots=True, kw_only=True)
class Entries:
    """Adds up the lines of a journal."""

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
    """Holds an open file, locked against every other process and thread that would append."""

    def __init__(self, path: Path, file: FileIO) -> None:
        self.path, self._file = path, file
        self.entries = _entries(path, file)

    def append(self, *lines: Line) -> None:
        """Writes lines to the disk. Errors: RecordError; they count as not written then."""
        texts = (json.dumps(line, separators=(",", ":"), sort_keys=True) for line in lines)
        content = "".join(f"{text}\n" for text in texts).encode()
        start = self._file.seek(0, os.SEEK_END)
        try:
            while content:  # a disk that is nearly full takes a part
                content = content[self._file.write(content) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            self._file.truncate(start)
            raise unkept(self.path, error) from error
        _advance(self.path, self._file, self.entries)

    def lines(self) -> list[Line]:
        """Reads every line from the first on, but those that nothing writes."""
        self._file.seek(0)
        return [line for line in map(_parsed, self._file.read().splitlines()) if "kind" in line]


@contextmanager
def opened(path: Path) -> Iterator[Journal]:
    """Opens a journal of mode 600, made where it is missing, and holds its lock. Errors: RecordError."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_new = not path.exists()
        descriptor = _descriptor(path)
    except OSError as error:
        raise unkept(path, error) from error
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if is_new:
            spool.sync_folder(path.parent)
            spool.sync_folder(path.parent.parent)
        _cut_torn_line(file)
        yield Journal(path, file)


def _descriptor(path: Path) -> int:
    """Opens the file: neither a link nor one in place of the folder leads to another's files.

    Web and workers write here.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        return spool.descriptor(path.name, os.O_RDWR | os.O_APPEND | os.O_CREAT, folder=folder)
    finally:
        os.close(folder)


def unkept(path: Path, error: OSError) -> RecordError:
    """Logs where, as only an operator may know, and returns what others may read."""
    _log.error("record.not_kept", folder=str(path.parent), setting="HAZEMAP_RECORD_DIR", cause=error)
    reason = (error.strerror or "it cannot be written").lower()
    return RecordError(
        f"this server cannot keep its record of draws ({reason}), so nothing is drawn; its operator looks at "
        "HAZEMAP_RECORD_DIR"
    )


# By path: the first line, which has a random id, as file numbers come again; bytes read, and what they say.
_read: dict[Path, tuple[bytes, int, Entries]] = {}


def _entries(path: Path, file: FileIO) -> Entries:
    file.seek(0)
    first, size = file.readline(), os.fstat(file.fileno()).st_size
    before, read, entries = _read.get(path, (b"", 0, Entries()))
    if first != before or size < read:
        entries = Entries()
        _read[path] = (first, 0, entries)
    _advance(path, file, entries)
    if first and first == before and size < read:
        entries.spoil()  # an earlier state of the same record was put in its place
    return entries


def _advance(path: Path, file: FileIO, entries: Entries) -> None:
    """Reads what others appended, and this process."""
    first, start, _ = _read.get(path, (b"", 0, entries))
    file.seek(start)
    content = file.read()
    for line in content.splitlines():
        try:
            entries.add(_parsed(line))
        except (KeyError, TypeError, ValueError):
            entries.spoil()
    _read[path] = (first or content[: content.find(b"\n") + 1], start + len(content), entries)


def _parsed(line: bytes) -> Line:
    """Parses a line as it was written; empty where nothing writes such a line."""
    try:
        content = json.loads(line)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _cut_torn_line(file: FileIO) -> None:
    """Cuts a torn line. A line that was cut off by a power failure was never acted upon."""
    size = file.seek(0, os.SEEK_END)
    back = min(size, 2**16)
    file.seek(size - back)
    content = file.read()
    whole = content.rfind(b"\n") + 1
    if whole != len(content):
        file.truncate(size - back + whole)
