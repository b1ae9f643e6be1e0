"""Reads one file of any format and size in a child, or previews it."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, BinaryIO

from heatmaps.ingest.formats import child_answer, csv_blocks, parquet, parquet_magic, text_child
from heatmaps.ingest.formats.batch import Batch
from heatmaps.ingest.formats.lines import Lines, ReaderLimits
from heatmaps.ingest.formats.previewer import preview
from heatmaps.ingest.formats.text import CsvSource, text_source
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
    """Returns batches of a file of any format. Errors: `ReaderError`, also while iterating."""
    if parquet_magic.recognised(stream):
        return parquet.batches(stream, options, limits, batch_rows, names_once=names_once)
    if stream.seekable():
        is_csv = isinstance(text_source(Lines(stream, limits)), CsvSource)
        stream.seek(0)
        if is_csv:
            return csv_blocks.batches(stream, options, limits, batch_rows, names_once=names_once)
    return text_child.batches(stream, options, limits, batch_rows, exact_numbers=exact_numbers)


def main() -> None:
    """Answers one request of `heatmaps.ingest.formats.child_process`."""
    child_answer.write(batches, _preview)


def _preview(stream: BinaryIO, *, whole: bool, limits: ReaderLimits) -> dict[str, Any]:
    return asdict(preview(stream, whole=whole, limits=limits))
