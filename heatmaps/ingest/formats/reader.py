"""Check-ins of a file in batches of columns: streamed, in constant memory, its format told by its content.

| format | columns | may be gzip |
| --- | --- | --- |
| CSV | by the names in the first line | yes |
| NDJSON | by the keys of the objects, one a line | yes |
| SNAP check-ins | by position: user, time, lat, lon, place, between tabs | yes |
| Parquet | by the names in the file | no, it is packed in itself |

The columns are `user`, `lat`, `lon` and, if there is one, `time`, in any order, or those that the options
name; others are ignored. Rows that are no check-in become rejections, never exceptions. What Arrow
parses, Parquet and large files of CSV, is read by a child.
"""

import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, Final

from heatmaps import numbers
from heatmaps.ingest.formats import child_process, parquet
from heatmaps.ingest.formats.batch import Batch, Rejection, batch_of
from heatmaps.ingest.formats.columns import NO_TIME, Columns
from heatmaps.ingest.formats.lines import Lines, ReaderError, ReaderLimits
from heatmaps.ingest.formats.text import CsvSource, text_source
from heatmaps.ingest.options import Options

__all__ = [
    "DEFAULT_LIMITS",
    "DEFAULT_OPTIONS",
    "NO_TIME",
    "Batch",
    "Options",
    "ReaderError",
    "ReaderLimits",
    "Rejection",
    "read_checkins",
    "read_file",
    "too_many_rejected",
]

LARGE_BYTES: Final = 2**20  # of CSV as sent: about where a child's beginning costs less than it saves

DEFAULT_LIMITS: Final = ReaderLimits()
DEFAULT_OPTIONS: Final = Options()


def read_checkins(
    stream: BinaryIO,
    *,
    options: Options = DEFAULT_OPTIONS,
    limits: ReaderLimits = DEFAULT_LIMITS,
    batch_rows: int = 50_000,
) -> Iterator[Batch]:
    """Batches of up to `batch_rows` rows of a file, recognised by its content.

    Times are ISO 8601; without an offset they are in the options' zone. Errors: `ReaderError` for a file
    that is empty, of no known format, without the columns, with a line too long, damaged or a bomb.
    """
    in_child = parquet.recognised(stream) or _is_large_csv(stream, limits)
    read = child_process.batches if in_child else _text_batches
    any_row = False
    for batch in read(stream, options, limits, batch_rows):
        any_row |= bool(batch.names or batch.rejected)
        yield batch
    if not any_row:
        raise ReaderError("empty", "the file has a header but no check-ins")


def read_file(path: Path, options: Options = DEFAULT_OPTIONS) -> Iterator[Batch]:
    """As `read_checkins`, of a file by its path. Errors: `ReaderError`, its text beginning with its name."""
    try:
        with path.open("rb") as stream:
            yield from read_checkins(stream, options=options)
    except ReaderError as error:
        raise ReaderError(error.code, f"{path.name}: {error}") from error
    except OSError as error:
        raise ReaderError("unreadable", f"{path.name}: {error.strerror or 'cannot be read'}") from error


def too_many_rejected(
    rejected: int, rows: int, share: Fraction, first: Sequence[str], *, where: str = ""
) -> ReaderError:
    """The refusal of files of which more than that share of all rows is rejected. where: before all of it."""
    return ReaderError(
        "too_many_rejected",
        f"{where}{rejected} of {rows} rows are invalid, more than the {numbers.share(share)} that may be "
        f"left out; the first: {'; '.join(first)}",
    )


def _is_large_csv(stream: BinaryIO, limits: ReaderLimits) -> bool:
    """Errors: `ReaderError` for a file whose first line is none of any format."""
    if not stream.seekable():
        return False
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    if size < LARGE_BYTES:
        return False
    source = text_source(Lines(stream, limits))
    stream.seek(0)
    return isinstance(source, CsvSource)


def _text_batches(
    stream: BinaryIO, options: Options, limits: ReaderLimits, batch_rows: int
) -> Iterator[Batch]:
    lines = Lines(stream, limits)
    source = text_source(lines)
    columns = Columns.of_names(source.names, options)
    while chunk := source.take(batch_rows):
        yield batch_of(chunk, columns, bytes_read=lines.bytes_read)
