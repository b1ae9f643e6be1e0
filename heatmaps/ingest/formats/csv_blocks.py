"""Reads large CSV files a megabyte at a time: by Arrow, or by lines where it might read them otherwise.

Arrow takes a block of rows that each have one line and as many columns as the header, without quotes, and
with numbers for degrees. Any other block is read by lines as small files are, so that both find the same
check-ins and the same reasons.
"""

import codecs
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from heatmaps.ingest.formats.batch import Batch, batch_of
from heatmaps.ingest.formats.columns import ColumnPositions, Record
from heatmaps.ingest.formats.lines import Lines, ReaderError, ReaderLimits
from heatmaps.ingest.formats.text import CsvSource
from heatmaps.ingest.formats.typed_columns import Typed, are_within_calendar, time_types
from heatmaps.ingest.options import Options

_BLOCK_BYTES: Final = 2**20  # about a batch of rows
_Batches: TypeAlias = Generator[Batch, None, list[str]]
_PLAIN: Final = csv.ParseOptions(quote_char=False, escape_char=False)


def batches(stream: BinaryIO, options: Options, limits: ReaderLimits, batch_rows: int) -> Iterator[Batch]:
    """Yields batches of a CSV file. Errors: `ReaderError`."""
    header = CsvSource(iter(Lines(stream, limits)))
    stream.seek(0)
    lines = Lines(stream, limits)
    columns = ColumnPositions.of_names(header.names, options)
    rows = _Rows(
        names=header.names,
        columns=columns,
        time_types=[pa.string()] if columns.time is None else [*time_types(columns.zone), pa.string()],
        line_length=limits.line_length,
        batch_rows=batch_rows,
    )
    before, left = 0, list[str]()  # lines of a row that the next block may finish
    for whole_block in lines.blocks(_BLOCK_BYTES):
        block = _below(whole_block, header.lines_read) if before == 0 else whole_block
        before += header.lines_read if block is not whole_block else 0
        arrow_batches = None if left or before < header.lines_read else rows.by_arrow(block, before, lines)
        if arrow_batches is not None:
            yield from arrow_batches
            before += sum(batch.numbers.size + len(batch.rejected) for batch in arrow_batches)
            continue
        texts = lines.texts_of(block, before)
        header_left = max(0, header.lines_read - before)
        start, before = before + header_left - len(left), before + len(texts)
        left = yield from rows.by_lines(left + texts[header_left:], start, lines, more=True)
    yield from rows.by_lines(left, before - len(left), lines, more=False)


def _below(block: bytes, lines: int) -> bytes:
    """Returns a file's first block without its header of so many lines; the block where they end otherwise
    than most lines do."""
    end = 0
    for _ in range(lines):
        end = block.find(b"\n", end) + 1
        if not end:
            return block
    return block if block.count(b"\r", 0, end) != block.count(b"\r\n", 0, end) else block[end:]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _Rows:
    names: Record
    columns: ColumnPositions
    time_types: list[Any]  # of Arrow, that times may have, in the order in which they are tried
    line_length: int
    batch_rows: int

    def by_lines(self, texts: list[str], before: int, lines: Lines, *, more: bool) -> _Batches:
        """Yields batches; returns the lines of a last row that others may finish. before: of the file."""
        lines_there = before + len(texts)
        source = CsvSource(iter(texts), names=self.names, before=before)
        while chunk := source.take(self.batch_rows, lines_there=lines_there if more else None):
            yield batch_of(chunk, self.columns, bytes_read=lines.bytes_read)
        return [] if source.unfinished is None else texts[source.unfinished - 1 - before :]

    def by_arrow(self, block: bytes, before: int, lines: Lines) -> list[Batch] | None:
        """Reads a block with Arrow; None where it may mean something else by lines. before: lines, of the
        file."""
        if b'"' in block or block.startswith(codecs.BOM_UTF8):
            return None
        if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
            return None
        if _has_long_line(block, self.line_length):
            return None  # in bytes, of which there are more than characters
        part = self._part(block)
        breaks = int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))
        if part is None or part.num_rows != breaks + (not block.endswith(b"\n")):
            return None  # blank lines are no rows
        typed_columns = Typed(
            names={name: name for name in part.schema.names}, zone=self.columns.zone, texts=[]
        )
        try:
            return [
                typed_columns.batch(part.slice(at, self.batch_rows), before + at, bytes_read=lines.bytes_read)
                for at in range(0, part.num_rows, self.batch_rows)
            ]
        except ReaderError:  # a long text
            return None

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
                csv.ReadOptions(
                    column_names=[str(place) for place in range(len(self.names))],
                    use_threads=False,
                    block_size=len(block) + 1,
                ),
                _PLAIN,
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


def _has_long_line(block: bytes, most: int) -> bool:
    """Tells whether a line is longer than `most` bytes, or may be."""
    # A line that long covers at least one of these stretches from end to end.
    stretch = max(1, most // 2)
    whole = range(0, len(block) - stretch + 1, stretch)
    if all(block.find(b"\n", start, start + stretch) >= 0 for start in whole):
        return False
    breaks = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    return bool(np.diff(breaks, prepend=-1, append=len(block)).max() > most)
