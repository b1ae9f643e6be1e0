"""The child that reads one small file of text, by lines: it begins sooner than one that loads Arrow."""

from collections.abc import Iterator
from typing import BinaryIO

from heatmaps.ingest.formats import child_answer
from heatmaps.ingest.formats.batch import Batch, batch_of
from heatmaps.ingest.formats.columns import Columns
from heatmaps.ingest.formats.lines import Lines, ReaderLimits
from heatmaps.ingest.formats.text import text_source
from heatmaps.ingest.options import Options


def batches(
    stream: BinaryIO, options: Options, limits: ReaderLimits, batch_rows: int, *, exact_numbers: bool = True
) -> Iterator[Batch]:
    """Returns batches of a file of text. Errors: `ReaderError`, while iterating."""
    lines = Lines(stream, limits)
    source = text_source(lines, exact_numbers=exact_numbers)
    columns = Columns.of_names(source.names, options)
    while chunk := source.take(batch_rows):
        yield batch_of(chunk, columns, bytes_read=lines.bytes_read)


def main() -> None:
    """Answers one request of `heatmaps.ingest.formats.child_process`, for batches."""
    child_answer.write(batches)
