"""Reads blocks of CSV by Arrow where they mean the same by lines.

That is so of rows that each have one line and as many columns as the header, without quotes, and with plain
numbers for degrees. A few other rows are looked at by lines: most of them are no check-ins. A block in which
one of them is, or that Arrow may read otherwise, is left to whoever reads by lines, as small files are read.
"""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from heatmaps.ingest.formats.batch import Batch, Chunk, Rejection, batch_of
from heatmaps.ingest.formats.columns import ColumnPositions, Record
from heatmaps.ingest.formats.lines import Lines, ReaderError
from heatmaps.ingest.formats.text import CsvSource
from heatmaps.ingest.formats.typed_columns import Typed, are_within_calendar, time_types

_PLAIN_NUMBER: Final = r"^ *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_MOST_DOUBTFUL: Final = 4  # the part of a block's rows beyond which it is read by lines


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ArrowCsv:
    """Holds what a file's blocks have in common."""

    names: Record
    columns: ColumnPositions
    time_types: list[Any]  # of Arrow, that times may have, in the order in which they are tried
    line_length: int
    batch_rows: int
    names_once: bool

    @classmethod
    def of(
        cls, names: Record, columns: ColumnPositions, *, line_length: int, batch_rows: int, names_once: bool
    ) -> Self:
        kinds = () if columns.time is None else time_types(columns.zone)
        return cls(
            names=names,
            columns=columns,
            time_types=[*kinds, pa.string()],
            line_length=line_length,
            batch_rows=batch_rows,
            names_once=names_once,
        )

    def batches(self, block: bytes, before: int, lines: Lines) -> list[Batch] | None:
        """Reads a block with Arrow; None where it may mean something else by lines.

        block: whole lines. before: lines of the file before them.
        """
        if b'"' in block or block.startswith(codecs.BOM_UTF8):
            return None
        if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
            return None
        if _has_long_line(block, self.line_length):
            return None  # in bytes, of which there are more than characters
        count = line_count(block)
        part = self._part(block)
        try:
            if part is not None and part.num_rows == count:  # blank lines are no rows
                return list(self._batches(part, np.arange(before + 1, before + count + 1), [], lines))
            return self._without_doubtful(block, before, lines)
        except ReaderError:  # a long text
            return None

    def _batches(
        self, part: Any, numbers: NDArray[np.int64], rejected: list[Rejection], lines: Lines
    ) -> Iterator[Batch]:
        """Yields batches of rows of these lines, and the rejected ones that stand between them."""
        typed_columns = Typed(
            names={name: name for name in part.schema.names},
            zone=self.columns.zone,
            texts=[],
            names_once=self.names_once,
        )
        every = np.sort(np.concatenate([numbers, np.array([bad.row for bad in rejected], np.int64)]))
        for low in range(0, every.size, self.batch_rows):
            first, last = int(every[low]), int(every[low : low + self.batch_rows][-1])
            start, end = np.searchsorted(numbers, [first, last + 1]).tolist()
            own = numbers[start:end]
            batch = typed_columns.batch(part.slice(start, end - start), 0, bytes_read=lines.bytes_read)
            bad = [Rejection(row=int(own[row.row - 1]), reason=row.reason) for row in batch.rejected]
            bad += [row for row in rejected if first <= row.row <= last]
            yield replace(batch, rejected=sorted(bad, key=lambda row: row.row))

    def _without_doubtful(self, block: bytes, before: int, lines: Lines) -> list[Batch] | None:
        """Reads a block of which some lines may be no check-ins; None where one of these is."""
        doubtful = self._doubtful(block)
        texts = block.removesuffix(b"\n").split(b"\n")
        if doubtful is None or not 0 < doubtful.size * _MOST_DOUBTFUL <= len(texts):
            return None
        own = lines.texts_of(b"".join(texts[at] + b"\n" for at in doubtful.tolist()), before + 1)
        chunk = CsvSource(iter(own), names=self.names).take(doubtful.size)
        if chunk is None or chunk.broken or len(chunk.records) != doubtful.size:
            return None
        bad_lines = Chunk(records=chunk.records, lines=(doubtful + before + 1).tolist(), broken=[])
        bad = batch_of(bad_lines, self.columns, bytes_read=lines.bytes_read)
        sure = np.delete(np.arange(len(texts)), doubtful)
        part = self._part(b"\n".join([texts[at] for at in sure.tolist()]))
        if bad.numbers.size or part is None or part.num_rows != sure.size:
            return None
        return list(self._batches(part, sure + before + 1, bad.rejected, lines))

    def _doubtful(self, block: bytes) -> NDArray[np.int64] | None:
        """Returns which lines, from 0, have other columns than the header or degrees that are no plain
        numbers; None where that cannot be told."""
        others: list[int] = []

        def skipped(row: Any) -> str:
            others.append(row.number - 1)
            return "skip"

        places = [str(self.columns.lat), str(self.columns.lon)]
        try:
            table = csv.read_csv(
                pa.BufferReader(block),
                self._read_options(block),
                csv.ParseOptions(
                    quote_char=False,
                    escape_char=False,
                    ignore_empty_lines=False,
                    invalid_row_handler=skipped,
                ),
                csv.ConvertOptions(
                    include_columns=places,
                    column_types=dict.fromkeys(places, pa.binary()),
                    null_values=[],
                ),
            )
        except pa.ArrowInvalid:
            return None
        rows = np.delete(np.arange(line_count(block)), others)
        if rows.size != table.num_rows:
            return None
        plain = [pc.match_substring_regex(table.column(place), _PLAIN_NUMBER) for place in places]
        both = pc.and_(*plain).combine_chunks().cast(pa.uint8())
        return np.sort(np.concatenate([np.array(others, np.int64), rows[np.from_dlpack(both) == 0]]))

    def _read_options(self, block: bytes) -> csv.ReadOptions:
        return csv.ReadOptions(
            column_names=[str(place) for place in range(len(self.names))],
            use_threads=False,
            block_size=len(block) + 1,
        )

    def _part(self, block: bytes) -> Any | None:
        """Returns the block's columns by field; None where some value is not of its column's type."""
        for time_type in self.time_types:
            columns = self._columns(block, time_type)
            if columns is None:
                continue
            times = columns.get("time")
            if times is None or times.type == pa.string() or are_within_calendar(times):
                # Tried first in the next block, as times of a file are mostly alike.
                self.time_types.sort(key=lambda other: other != time_type)
                return pa.RecordBatch.from_pydict(columns)
        return None

    def _columns(self, block: bytes, time_type: Any) -> dict[str, Any] | None:
        """Returns the columns with times of one type; None where some value is not of its column's type."""
        places = {"user": self.columns.user, "lat": self.columns.lat, "lon": self.columns.lon}
        types = {"user": pa.string(), "lat": pa.float64(), "lon": pa.float64()}
        if self.columns.time is not None:
            places["time"], types["time"] = self.columns.time, time_type
        renamed_fields = {field: str(place) for field, place in places.items()}
        try:
            table = csv.read_csv(
                pa.BufferReader(block),
                self._read_options(block),
                csv.ParseOptions(quote_char=False, escape_char=False),
                csv.ConvertOptions(
                    include_columns=list(renamed_fields.values()),
                    column_types={renamed_fields[field]: kind for field, kind in types.items()},
                    null_values=[""],  # of times; a text is never null
                ),
            )
        except pa.ArrowInvalid:
            return None
        columns = {field: table.column(name).combine_chunks() for field, name in renamed_fields.items()}
        for degrees in (columns["lat"], columns["lon"]):
            if degrees.null_count or pc.any(pc.is_nan(degrees)).as_py():
                return None
        return columns


def line_count(block: bytes) -> int:
    """Counts the lines of a block, of which each but the last ends in a line feed."""
    breaks = np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    return int(breaks) + (not block.endswith(b"\n"))


def _has_long_line(block: bytes, most: int) -> bool:
    """Tells whether a line is longer than `most` bytes, or may be."""
    # A line that long covers at least one of these stretches from end to end.
    stretch = max(1, most // 2)
    whole = range(0, len(block) - stretch + 1, stretch)
    if all(block.find(b"\n", start, start + stretch) >= 0 for start in whole):
        return False
    breaks = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    return bool(np.diff(breaks, prepend=-1, append=len(block)).max() > most)
