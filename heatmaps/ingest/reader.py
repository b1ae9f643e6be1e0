"""Check-ins of a CSV or gzip CSV file in batches of columns: streamed, in constant memory.

The header names the columns `user`, `lat`, `lon` and, if there is one, `time`, in any order; others are
ignored. Rows that are no check-in become rejections with their line number, never exceptions.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from heatmaps.ingest.columns import EXPECTED_HEADER, NO_TIME, Columns, Record
from heatmaps.ingest.lines import Lines, ReaderError, ReaderLimits

__all__ = ["DEFAULT_LIMITS", "NO_TIME", "Batch", "ReaderError", "ReaderLimits", "Rejection", "read_checkins"]

DEFAULT_LIMITS: Final = ReaderLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A row that is no check-in: its line number as an editor shows it, and why. Never its content."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Batch:
    """Accepted rows as columns of one length, and the rejected rows among them."""

    users: list[str]
    times: NDArray[np.int64]  # (k,) epoch seconds, rounded down; NO_TIME where empty
    lat: NDArray[np.float64]  # (k,) degrees
    lon: NDArray[np.float64]  # (k,) degrees
    rejected: list[Rejection]
    bytes_read: int  # of the file as sent, so far


def read_checkins(
    stream: BinaryIO, *, limits: ReaderLimits = DEFAULT_LIMITS, batch_rows: int = 50_000
) -> Iterator[Batch]:
    """Batches of up to `batch_rows` rows of a file; gzip is recognised by its first bytes.

    Times are ISO 8601; without an offset they are UTC. Errors: `ReaderError` for a file that is empty, no
    text, has another header, a line too long, is damaged or unpacks to too much.
    """
    lines = Lines(stream, limits)
    rows = _Rows(lines)
    columns = Columns.of_header(rows.header())
    any_row = False
    while chunk := rows.take(batch_rows):
        batch = _batch(chunk, columns, bytes_read=lines.bytes_read)
        any_row |= bool(batch.users or batch.rejected)
        yield batch
    if not any_row:
        raise ReaderError("empty", "the file has a header but no check-ins")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chunk:
    records: list[Record]
    lines: Sequence[int]  # the line each record starts in
    broken: list[Rejection]  # rows that are no CSV


class _Rows:
    """Records of CSV text with their line numbers."""

    def __init__(self, lines: Lines) -> None:
        self._rows = csv.reader(lines, strict=True, skipinitialspace=True)

    def header(self) -> Record:
        try:
            for record in self._rows:
                if any(record):
                    return record
        except csv.Error as error:
            raise ReaderError("header", f"the first line is no CSV header; {EXPECTED_HEADER}") from error
        raise ReaderError("empty", "the file is empty")

    def take(self, count: int) -> _Chunk | None:
        """Up to `count` records; None at the end."""
        records: list[Record] = []
        before, broken = self._rows.line_num, False
        try:
            records.extend(islice(self._rows, count))
        except csv.Error:  # what was read before it stays in the list
            broken = True
        lines = _starts(records, before + 1, self._rows.line_num - before - broken)
        if not broken:
            return _Chunk(records=records, lines=lines, broken=[]) if records else None
        return _Chunk(records=records, lines=lines, broken=[self._broken_row(records, lines, before)])

    def _broken_row(self, records: list[Record], lines: Sequence[int], before: int) -> Rejection:
        start = lines[-1] + _height(records[-1]) if records else before + 1
        if start != self._rows.line_num:  # how many rows it swallowed cannot be told
            raise ReaderError("quote", f"a quoted field that begins in line {start} does not end properly")
        return Rejection(row=start, reason="quotes are not closed or not at the ends of a field")


def _starts(records: list[Record], first: int, height: int) -> Sequence[int]:
    if height == len(records):
        return range(first, first + height)
    return list(accumulate(map(_height, records[:-1]), initial=first)) if records else []


def _height(record: Record) -> int:
    """Lines of a record: quoted fields may have line breaks."""
    return 1 + sum(field.count("\n") for field in record)


def _batch(chunk: _Chunk, columns: Columns, *, bytes_read: int) -> Batch:
    rejected = chunk.broken
    try:
        values = columns.values(chunk.records)
    except (IndexError, ValueError):
        found: list[Rejection] = []
        values = columns.values(_accepted(chunk.records, chunk.lines, columns, found))
        rejected = found + rejected
    users, times, lat, lon = values
    return Batch(users=users, times=times, lat=lat, lon=lon, rejected=rejected, bytes_read=bytes_read)


def _accepted(
    records: list[Record], lines: Sequence[int], columns: Columns, rejected: list[Rejection]
) -> list[Record]:
    """The records without the bad ones, which are found by halving; blank lines are nobody's fault."""
    try:
        columns.values(records)
    except (IndexError, ValueError) as error:
        if len(records) > 1:
            half = len(records) // 2
            return _accepted(records[:half], lines[:half], columns, rejected) + _accepted(
                records[half:], lines[half:], columns, rejected
            )
        if records[0]:
            reason = "fewer columns than the header" if isinstance(error, IndexError) else str(error)
            rejected.append(Rejection(row=lines[0], reason=reason))
        return []
    return records
