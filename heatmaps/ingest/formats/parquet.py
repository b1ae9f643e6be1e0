"""Reads Parquet files of check-ins batch by batch, as columns, never a whole row group at once.

A small file may stand for much: nothing is read of one whose own figures, or those of its pages, say that it
unpacks to far more than check-ins do, nor of one with a long text that many rows share.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from heatmaps.ingest.formats.batch import Batch
from heatmaps.ingest.formats.columns import ColumnPositions
from heatmaps.ingest.formats.lines import BLOCK_BYTES, ReaderError, ReaderLimits
from heatmaps.ingest.formats.parquet_pages import unpacked_bytes
from heatmaps.ingest.formats.typed_columns import Typed, check_lengths
from heatmaps.ingest.options import Options

LEAST_ROW_BYTES: Final = 16  # of a check-in in memory: in the file, a row may weigh next to nothing

_LIMITS: Final = ReaderLimits()
_BOMB: Final = "the file unpacks to far more than check-ins do; send CSV instead"


def batches(
    stream: BinaryIO, options: Options, limits: ReaderLimits, batch_rows: int, *, names_once: bool = True
) -> Iterator[Batch]:
    """Yields batches as of any other format; their rows count from 1. Errors: `ReaderError`."""
    size = stream.seek(0, 2)
    with _readable():
        plain = _opened(stream)
        columns = ColumnPositions.of_names(plain.schema_arrow.names, options)
        typed_columns = Typed.of(plain.schema_arrow, columns, names_once=names_once)
        names = list(typed_columns.names.values())
        rows = _checked_rows(stream, plain.metadata, names, size, limits)
        _check_texts(_opened(stream, typed_columns.texts), typed_columns.texts)
        file, done = _opened(stream), 0
        for part in file.iter_batches(batch_size=batch_rows, columns=names, use_threads=False):
            before, done = done, done + part.num_rows
            if done > rows:
                raise ReaderError("corrupt", "the Parquet file has more rows than it says")
            yield typed_columns.batch(part, before, bytes_read=size * done // rows)


def names_of(stream: BinaryIO) -> list[str]:
    """Returns the columns of a file. Errors: `ReaderError`."""
    with _readable():
        return list(_opened(stream).schema_arrow.names)


def first_rows(stream: BinaryIO, count: int, limits: ReaderLimits = _LIMITS) -> list[list[str]]:
    """Returns the first rows as texts. Errors: `ReaderError`."""
    size = stream.seek(0, 2)
    with _readable():
        file = _opened(stream)
        _checked_rows(stream, file.metadata, None, size, limits)
        for part in file.iter_batches(batch_size=count, use_threads=False):
            rows = zip(*(column.to_pylist() for column in part.columns), strict=True)
            return [["" if value is None else str(value) for value in row] for row in rows]
    return []


def _opened(stream: BinaryIO, dictionaries: list[str] | None = None) -> Any:
    """Opens a file, reading ahead no more than a block."""
    stream.seek(0)
    return pq.ParquetFile(stream, read_dictionary=dictionaries, buffer_size=BLOCK_BYTES, pre_buffer=False)


def _check_texts(file: Any, texts: list[str]) -> None:
    """Checks what rows share, which stands before the first of them; `file` gives the texts as dictionaries.

    Not used for the rows themselves: the dictionaries would grow with the row group.
    """
    groups = range(file.metadata.num_row_groups) if texts else ()
    for group in groups:
        for part in islice(file.iter_batches(1, row_groups=[group], columns=texts, use_threads=False), 1):
            for column in part.columns:
                check_lengths(column)


def _checked_rows(
    stream: BinaryIO, metadata: Any, names: list[str] | None, size: int, limits: ReaderLimits
) -> int:
    """Returns the number of rows, if they are not too many for the file's size. names: columns; None: all."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    parts = [group.column(number) for group in groups for number in range(group.num_columns)]
    rows = int(metadata.num_rows)
    unpacked_size = rows * LEAST_ROW_BYTES
    _check_weight(unpacked_size, size, limits)
    for part in parts:
        if names is None or part.path_in_schema in names:
            unpacked_size += max(unpacked_bytes(stream, size, part), int(part.total_uncompressed_size))
            _check_weight(unpacked_size, size, limits)
    return rows


def _check_weight(weight: int, size: int, limits: ReaderLimits) -> None:
    if weight > limits.total_bytes:
        raise ReaderError("too_large", f"the file unpacks to more than {limits.total_bytes} bytes; split it")
    if weight > max(limits.ratio_from_bytes, limits.ratio * size):
        raise ReaderError("bomb", _BOMB)


@contextmanager
def _readable() -> Iterator[None]:
    """Puts Arrow's errors in words for the sender; theirs may hold data."""
    try:
        yield
    except ReaderError:
        raise
    except (pa.ArrowException, OSError, UnicodeError) as error:
        message = "the Parquet file is damaged or ends too early; write and send it again"
        raise ReaderError("corrupt", message) from error
