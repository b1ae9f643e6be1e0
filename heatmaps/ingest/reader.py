"""Check-ins of a file in batches of columns: streamed, in constant memory, its format told by its content.

| format | columns | may be gzip |
| --- | --- | --- |
| CSV | by the names in the first line | yes |
| NDJSON | by the keys of the objects, one a line | yes |
| SNAP check-ins | by position: user, time, lat, lon, place, between tabs | yes |
| Parquet | by the names in the file | no, it is packed in itself |

The columns are `user`, `lat`, `lon` and, if there is one, `time`, in any order, or those that the options
name; others are ignored. Rows that are no check-in become rejections, never exceptions.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

from heatmaps.ingest import parquet
from heatmaps.ingest.batch import Batch, Rejection, batch_of
from heatmaps.ingest.columns import NO_TIME, Columns
from heatmaps.ingest.lines import Lines, ReaderError, ReaderLimits
from heatmaps.ingest.options import Options
from heatmaps.ingest.sources import text_source

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
]

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
    read = parquet.batches if parquet.recognised(stream) else _text_batches
    any_row = False
    for batch in read(stream, options, limits, batch_rows):
        any_row |= bool(batch.users or batch.rejected)
        yield batch
    if not any_row:
        raise ReaderError("empty", "the file has a header but no check-ins")


def _text_batches(
    stream: BinaryIO, options: Options, limits: ReaderLimits, batch_rows: int
) -> Iterator[Batch]:
    lines = Lines(stream, limits)
    source = text_source(lines)
    columns = Columns.of_names(source.names, options)
    while chunk := source.take(batch_rows):
        yield batch_of(chunk, columns, bytes_read=lines.bytes_read)
