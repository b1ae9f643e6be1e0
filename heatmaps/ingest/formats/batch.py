"""Holds check-ins of a file as columns, and turns rows of text into such columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from heatmaps.ingest.formats.columns import ColumnPositions, Record
from heatmaps.pseudonyms.name_column import NameColumn


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Names a row that is no check-in, and why. Never its content.

    `row` is the line as an editor shows it; in Parquet files, which have no lines, the row counted from 1.
    """

    row: int
    reason: str


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Batch:
    """Holds accepted rows as columns of one length, and the rejected rows among them."""

    name_column: NameColumn  # of users, each once where that is asked for; none without a row
    numbers: NDArray[np.int32]  # (k,) each row's user, as a place in the column of names
    times: NDArray[np.int64]  # (k,) epoch seconds, rounded down; NO_TIME where empty
    lat: NDArray[np.float64]  # (k,) degrees
    lon: NDArray[np.float64]  # (k,) degrees
    rejected: list[Rejection]
    bytes_read: int  # of the file as sent, so far

    @cached_property
    def names(self) -> list[str]:
        """Returns the names of the column: an object each."""
        return self.name_column.strings()

    @cached_property
    def users(self) -> list[str]:
        """Returns (k,) the user of each row."""
        return [self.names[number] for number in self.numbers.tolist()]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Chunk:
    """Holds some rows of a text file."""

    records: list[Record]
    lines: Sequence[int]  # the line each record starts in
    broken: list[Rejection]  # rows that are none of the format


class TextSource(Protocol):
    """Reads a text file of one format: the names of its columns, and its rows in their order."""

    names: list[str]

    def take(self, count: int) -> Chunk | None:
        """Takes up to `count` rows; None at the end."""


def batch_of(chunk: Chunk, columns: ColumnPositions, *, bytes_read: int) -> Batch:
    """Returns the check-ins among the rows, and the others as rejections in the order of the file."""
    records, lines, rejections = chunk.records, chunk.lines, list(chunk.broken)
    least = columns.least_width
    if any(len(record) < least for record in records):
        # At once: there may be as many as lines in the file. Blank lines are nobody's fault.
        rejections += [
            Rejection(row=line, reason="fewer columns than the header")
            for record, line in zip(records, lines, strict=True)
            if 0 < len(record) < least
        ]
        wide = [at for at, record in enumerate(records) if len(record) >= least]
        records, lines = [records[at] for at in wide], [lines[at] for at in wide]
    try:
        values = columns.values(records)
    except ValueError:
        values = columns.values(_accepted(records, lines, columns, rejections))
    users, times, lat, lon = values
    numbers = {name: number for number, name in enumerate(dict.fromkeys(users))}
    return Batch(
        name_column=NameColumn.of(list(numbers)),
        numbers=np.fromiter(map(numbers.__getitem__, users), np.int32, len(users)),
        times=times,
        lat=lat,
        lon=lon,
        rejected=sorted(rejections, key=lambda rejection: rejection.row),
        bytes_read=bytes_read,
    )


def _accepted(
    records: list[Record], lines: Sequence[int], columns: ColumnPositions, rejected: list[Rejection]
) -> list[Record]:
    """Returns the records without the bad ones, which are found by halving."""
    try:
        columns.values(records)
    except ValueError as error:
        if len(records) > 1:
            half = len(records) // 2
            return _accepted(records[:half], lines[:half], columns, rejected) + _accepted(
                records[half:], lines[half:], columns, rejected
            )
        rejected.append(Rejection(row=lines[0], reason=str(error)))
        return []
    return records
