"""Reads large CSV files some megabytes at a time: by Arrow, or by lines where it may read them otherwise."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, TypeAlias

from heatmaps.ingest.formats.arrow_csv import ArrowCsv, line_count
from heatmaps.ingest.formats.batch import Batch, batch_of
from heatmaps.ingest.formats.columns import ColumnPositions, Record
from heatmaps.ingest.formats.lines import Lines, ReaderLimits
from heatmaps.ingest.formats.text import CsvSource
from heatmaps.ingest.options import Options

_BLOCK_BYTES: Final = 2**22  # about a batch of an upload's rows
_Batches: TypeAlias = Generator[Batch, None, list[str]]


def batches(
    stream: BinaryIO, options: Options, limits: ReaderLimits, batch_rows: int, *, names_once: bool = True
) -> Iterator[Batch]:
    """Yields batches of a CSV file. Errors: `ReaderError`."""
    header = CsvSource(iter(Lines(stream, limits)))
    stream.seek(0)
    lines = Lines(stream, limits)
    columns = ColumnPositions.of_names(header.names, options)
    by_arrow = ArrowCsv.of(
        header.names,
        columns,
        line_length=limits.line_length,
        batch_rows=batch_rows,
        names_once=names_once,
    )
    rows = _Rows(names=header.names, columns=columns, batch_rows=batch_rows)
    before, left = 0, list[str]()  # lines of a row that the next block may finish
    for whole_block in lines.blocks(_BLOCK_BYTES):
        block = _below(whole_block, header.lines_read) if before == 0 else whole_block
        before += header.lines_read if block is not whole_block else 0
        if not left and before >= header.lines_read:
            arrow_batches = by_arrow.batches(block, before, lines)
            if arrow_batches is not None:
                yield from arrow_batches
                before += line_count(block)
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
    batch_rows: int

    def by_lines(self, texts: list[str], before: int, lines: Lines, *, more: bool) -> _Batches:
        """Yields batches; returns the lines of a last row that others may finish. before: of the file."""
        lines_there = before + len(texts)
        source = CsvSource(iter(texts), names=self.names, before=before)
        while chunk := source.take(self.batch_rows, lines_there=lines_there if more else None):
            yield batch_of(chunk, self.columns, bytes_read=lines.bytes_read)
        return [] if source.unfinished is None else texts[source.unfinished - 1 - before :]
