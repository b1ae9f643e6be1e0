"""Sends check-ins, and tells what became of their rows."""

import csv
import io
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Final, Self
from uuid import uuid4

from hazemap_client import calls, markup
from hazemap_client.connection import Connection, File
from hazemap_client.decoding import LOCAL
from hazemap_client.errors import UploadFailed, WaitedTooLong
from hazemap_client.progress import Progress, usual

AT_ONCE: Final = 1 << 18  # bytes
_UNDER_WAY: Final = ("received", "staged")
_POLLS_S: Final = (0.2, 5.0)  # from one to the other, twice as long each time
_KINDS: Final = {
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".parquet": "application/vnd.apache.parquet",
    ".ndjson": "application/x-ndjson",
}


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that was not stored, and why."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file of check-ins that was sent."""

    component: ClassVar = "UploadOut"
    id: str
    state: str
    file_name: str
    size_bytes: int
    rows_accepted: int
    rows_rejected: int
    rows_outside: int
    names_alike: int
    failure: str
    version: int | None
    created_at: datetime
    finished_at: datetime | None
    links: Mapping[str, str]
    connection: Connection = field(repr=False, compare=False, metadata=LOCAL)

    def refresh(self) -> Self:
        """The upload as it is now."""
        return self.connection.one(calls.READ_UPLOAD, type(self), upload_id=self.id)

    def wait(self, *, timeout_s: float | None = None) -> Self:
        """The upload, once its rows are stored. Errors: `UploadFailed`, `WaitedTooLong`."""
        found, (pause, longest), began = self, _POLLS_S, time.monotonic()
        while found.state in _UNDER_WAY:
            if timeout_s is not None and time.monotonic() - began > timeout_s:
                raise WaitedTooLong(f"This upload is not ready after {timeout_s:g} s; it goes on.")
            time.sleep(pause)
            pause, found = min(2 * pause, longest), found.refresh()
        if found.state == "failed":
            raise UploadFailed(found.failure)
        return found

    def rejected(self) -> list[RejectedRow]:
        """The rows that were not stored; the server keeps this list for seven days."""
        if "rejected" not in self.links:
            return []
        answer = self.connection.ask(calls.READ_REJECTED, upload_id=self.id)
        rows = csv.DictReader(io.StringIO(answer.body.decode()))
        return [RejectedRow(int(row["row"]), row["reason"]) for row in rows]

    def undo(self) -> Self:
        """Take it back, as long as no data version includes it."""
        return self.connection.one(calls.UNDO_UPLOAD, type(self), upload_id=self.id)

    def _repr_html_(self) -> str:
        rows = ("rows_accepted", "rows_rejected", "rows_outside", "version", "failure")
        facts = {name.replace("_", " "): getattr(self, name) for name in rows}
        return markup.card(self.file_name, {"state": self.state, **facts})


def send_file(
    connection: Connection,
    slug: str,
    source: File | BinaryIO,
    *,
    progress: Progress | None,
    **query: str | bool | None,
) -> Upload:
    """Streams a file, or a binary stream that can be measured."""
    name = str(getattr(source, "name", "upload")) if hasattr(source, "read") else os.fspath(source)
    path = Path(name)
    opened: Any = nullcontext(source) if hasattr(source, "read") else path.open("rb")
    with opened as file:
        total = _length(file)
        kind = _KINDS.get(path.suffix.lower(), "application/octet-stream")
        return connection.one(
            calls.SEND_FILE,
            Upload,
            content=_parts(file, total, progress or usual()),
            query={"name": path.name, **query},
            headers={"Content-Type": kind, "Content-Length": str(total)},
            slug=slug,
        )


def send_rows(
    connection: Connection, slug: str, rows: Iterable[Mapping[str, object]], *, advance: bool
) -> Upload:
    """Sends check-ins as JSON; they become an upload."""
    body = [_row(row) for row in rows]
    return connection.one(calls.SEND_CHECKINS, Upload, body=body, query={"advance": advance}, slug=slug)


def new_key() -> str:
    """A key that no other request has."""
    return uuid4().hex


def _length(file: BinaryIO) -> int:
    start = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(start)
    return end - start


def _parts(file: BinaryIO, total: int, progress: Progress) -> Iterator[bytes]:
    sent = 0
    while part := file.read(AT_ONCE):
        yield part
        sent += len(part)
        progress(sent, total)


def _row(row: Mapping[str, object]) -> dict[str, object]:
    when = row.get("time")
    return {**row, "time": when.isoformat()} if isinstance(when, datetime) else dict(row)
