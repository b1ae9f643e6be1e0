"""Sends check-ins, and tells what became of their rows."""

import csv
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Final, NamedTuple, Self, TypeAlias, TypedDict

from hazemap_client import calls, markup
from hazemap_client.components import Awaited
from hazemap_client.connection import Connection, File
from hazemap_client.errors import UploadFailed

Progress: TypeAlias = Callable[[int, int], None]  # bytes sent, bytes in all
Rows: TypeAlias = Iterable[Mapping[str, object]]

_AT_ONCE: Final = 1 << 19  # bytes


class RejectedRow(NamedTuple):
    """Names a row that was not stored, and why."""

    row: int
    reason: str


class Reading(TypedDict, total=False):
    """Says how a file is read; what is left out has the server's default."""

    advance: bool  # available in a new data version once it is stored; without it, too
    columns: str  # where they are not called so: user=uid,lat=latitude
    time_zone: str  # of times without an offset
    max_rejected: float | str  # percent of the rows; above it nothing is stored


class Upload(Awaited):
    """Follows a file of check-ins that was sent."""

    reading: ClassVar = calls.READ_UPLOAD
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

    def wait(self, *, timeout_s: float | None = None) -> Self:
        """Returns the upload, once its rows are stored. Errors: `UploadFailed`, `WaitedTooLong`."""
        upload = super().wait(timeout_s=timeout_s)
        if upload.state == "failed":
            raise UploadFailed(upload.failure)
        return upload

    def rejected(self) -> list[RejectedRow]:
        """Returns the rows that were not stored; the server keeps this list for seven days."""
        if "rejected" not in self.links:
            return []
        answer = self.connection.ask(calls.READ_REJECTED, upload_id=self.id)
        rows = csv.DictReader(io.StringIO(answer.body.decode()))
        return [RejectedRow(int(row["row"]), row["reason"]) for row in rows]

    def undo(self) -> Self:
        """Takes it back, as long as no data version includes it."""
        return self._load(calls.UNDO_UPLOAD)

    def _repr_html_(self) -> str:
        names = ("state", "rows_accepted", "rows_rejected", "rows_outside", "version", "failure")
        facts = [(name.replace("_", " "), getattr(self, name)) for name in names]
        return markup.table(facts, caption=self.file_name)


def show(sent_bytes: int, total: int) -> None:
    """Writes a line that rewrites itself, in terminals and notebooks; elsewhere nothing."""
    if sys.stderr.isatty() or "ipykernel" in sys.modules:
        end = "\n" if sent_bytes == total else ""
        sys.stderr.write(f"\rSent {sent_bytes / 1e6:,.1f} of {total / 1e6:,.1f} MB{end}")
        sys.stderr.flush()


def send(
    connection: Connection, slug: str, source: File | BinaryIO | Rows, *, progress: Progress, reading: Reading
) -> Upload:
    """Streams a file, or a binary stream from its beginning; sends check-ins as JSON."""
    if isinstance(source, str | os.PathLike):
        with Path(source).open("rb") as file:
            return send(connection, slug, file, progress=progress, reading=reading)
    if not hasattr(source, "read"):
        return connection.load(calls.SEND_CHECKINS, Upload, body=list(source), query=reading, slug=slug)
    stream: Any = source
    total, name = stream.seek(0, os.SEEK_END), str(getattr(stream, "name", "upload"))
    stream.seek(0)
    body, query = _parts(stream, total, progress), {"name": Path(name).name, **reading}
    headers = {"Content-Type": "application/octet-stream", "Content-Length": str(total)}
    return connection.load(calls.SEND_FILE, Upload, body=body, query=query, headers=headers, slug=slug)


def _parts(file: BinaryIO, total: int, progress: Progress) -> Iterator[bytes]:
    sent_bytes = 0
    while part := file.read(_AT_ONCE):
        yield part
        sent_bytes += len(part)
        progress(sent_bytes, total)
