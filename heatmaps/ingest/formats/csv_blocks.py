"""Reads large CSV files a megabyte at a time: by Arrow, or by lines where it might read them otherwise.

Arrow takes a block of rows that each have one line and as many columns as the header, without quotes, and
with numbers for degrees. Any other block is read by lines as small files are, so that both find the same
check-ins and the same reasons.
"""

import codecs
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Any, BinaryIO, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from heatmaps.ingest.formats.batch import Batch, batch_of
from heatmaps.ingest.formats.columns import ColumnPositions, Record
from heatmaps.ingest.formats.lines import Lines, ReaderError, ReaderLimits
from heatmaps.ingest.formats.text import CsvSource
from heatmaps.ingest.formats.typed_columns import FIRST_SECOND, LAST_SECOND, Typed
from heatmaps.ingest.options import Options

_BLOCK_BYTES: Final = 2**20  # about a batch of rows
_Batches: TypeAlias = Generator[Batch, None, list[str]]
_DAY: Final = 86_400  # seconds
_PLAIN: Final = csv.ParseOptions(quote_char=False, escape_char=False)
_ZONED: Final = pa.timestamp("s", "UTC")
_NAIVE: Final = pa.timestamp("s")


def batches(stream: BinaryIO, options: Options, limits: ReaderLimits, batch_rows: int) -> Iterator[Batch]:
    """Yields batches of a CSV file. Errors: `ReaderError`."""
    header = CsvSource(iter(Lines(stream, limits)))
    stream.seek(0)
    lines = Lines(stream, limits)
    rows = _Rows(
        names=header.names,
        columns=ColumnPositions.of_names(header.names, options),
        line_length=limits.line_length,
        batch_rows=batch_rows,
    )
    before, left = 0, list[str]()  # lines of a row that the next block may finish
    for block in lines.blocks(_BLOCK_BYTES):
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _Rows:
    names: Record
    columns: ColumnPositions
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
        if b'"' in block or block.count(b"\r") != block.count(b"\r\n") or block.startswith(codecs.BOM_UTF8):
            return None
        breaks = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
        ends = breaks if block.endswith(b"\n") else np.append(breaks, len(block))
        if np.diff(ends, prepend=-1).max(initial=0) > self.line_length:
            return None  # in bytes, of which there are more than characters
        part = self._part(block)
        if part is None or part.num_rows != ends.size:  # blank lines are no rows
            return None
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
        places = {"user": self.columns.user, "lat": self.columns.lat, "lon": self.columns.lon}
        types = {"user": pa.dictionary(pa.int32(), pa.string()), "lat": pa.float64(), "lon": pa.float64()}
        if self.columns.time is not None:
            places["time"], types["time"] = self.columns.time, pa.string()
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
                    null_values=[],
                ),
            )
        except pa.ArrowInvalid:
            return None
        columns = {field: table.column(name).combine_chunks() for field, name in renamed_fields.items()}
        if any(pc.any(pc.is_nan(columns[field])).as_py() for field in ("lat", "lon")):
            return None
        if "time" in columns:
            columns["time"] = _times(columns["time"], self.columns.zone)
        return pa.RecordBatch.from_pydict(columns)


def _times(texts: Any, zone: tzinfo) -> Any:
    """Returns moments where all of them are written as Arrow reads them; otherwise the texts."""
    filled = pc.if_else(pc.equal(texts, ""), None, texts)
    for kind in (_ZONED, _NAIVE) if zone is UTC else (_ZONED,):
        try:
            times = filled.cast(kind)
        except pa.ArrowInvalid:
            continue
        ends = pc.min_max(times.cast(pa.int64())).as_py()
        low, high = ends["min"], ends["max"]
        # At the ends of the calendar the zone decides whether a time is one.
        if low is None or (low > FIRST_SECOND + _DAY and high < LAST_SECOND - _DAY):
            return times
    return texts
