"""Reads one small file of text, or a list of names, in a child: it begins sooner than one with Arrow."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from heatmaps.ingest.formats import child_answer
from heatmaps.ingest.formats.batch import Batch, batch_of
from heatmaps.ingest.formats.columns import ColumnPositions
from heatmaps.ingest.formats.lines import Lines, ReaderError, ReaderLimits
from heatmaps.ingest.formats.row_values import is_text
from heatmaps.ingest.formats.text import text_source
from heatmaps.ingest.options import Options


def batches(
    stream: BinaryIO,
    options: Options,
    limits: ReaderLimits,
    batch_rows: int,
    *,
    exact_numbers: bool = True,
    names_once: bool = True,
) -> Iterator[Batch]:
    """Returns batches of a file of text. Errors: `ReaderError`, while iterating."""
    del names_once  # they are, and that costs next to nothing here
    lines = Lines(stream, limits)
    source = text_source(lines, exact_numbers=exact_numbers)
    columns = ColumnPositions.of_names(source.names, options)
    while chunk := source.take(batch_rows):
        yield batch_of(chunk, columns, bytes_read=lines.bytes_read)


def main() -> None:
    """Answers one request of `heatmaps.ingest.formats.child_process`."""
    child_answer.write(batches, _names)


def _names(stream: BinaryIO, *, whole: bool, limits: ReaderLimits) -> dict[str, Any]:
    """Returns the lines, each once. Errors: `ReaderError`."""
    del whole
    names = list(dict.fromkeys(filter(None, map(str.strip, Lines(stream, limits)))))
    if not is_text(names):
        raise ReaderError("not_text", "the list is not text in UTF-8")
    return {"names": names}
