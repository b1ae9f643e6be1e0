"""Reads a file's check-ins in batches of columns: streamed, in constant memory, its format told by content.

| format | columns | may be gzip |
| --- | --- | --- |
| CSV | by the names in the first line | yes |
| NDJSON | by the keys of the objects, one a line | yes |
| SNAP check-ins | by position: user, time, lat, lon, place, between tabs | yes |
| Parquet | by the names in the file | no, it is packed in itself |

The columns are `user`, `lat`, `lon` and, if there is one, `time`, in any order, or those that the options
name; others are ignored. Rows that are no check-in become rejections, never exceptions. Every file is read
by a child.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, Final

from heatmaps import numbers
from heatmaps.ingest.formats import child_process
from heatmaps.ingest.formats.batch import Batch, Rejection
from heatmaps.ingest.formats.lines import ReaderError, ReaderLimits
from heatmaps.ingest.formats.row_values import NO_TIME
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

DEFAULT_LIMITS: Final = ReaderLimits()
DEFAULT_OPTIONS: Final = Options()


def read_checkins(
    stream: BinaryIO,
    *,
    options: Options = DEFAULT_OPTIONS,
    limits: ReaderLimits = DEFAULT_LIMITS,
    batch_rows: int = 50_000,
    exact_numbers: bool = True,
    names_once: bool = True,
) -> Iterator[Batch]:
    """Yields batches of up to `batch_rows` rows of a file, recognised by its content.

    Times are ISO 8601; without an offset they are in the options' zone. exact_numbers: a user that is a
    number of JSON has the name that `heatmaps.pseudonyms.user_names.number` gives it; otherwise the text it
    is written in. names_once: otherwise a name may stand in the column of names several times, which is
    quicker where users have few rows in a batch. Errors: `ReaderError` for a file that is empty, of no known
    format, without the columns, with a line too long, damaged or a bomb.
    """
    any_row, rejected = False, 0
    how = {"exact_numbers": exact_numbers, "names_once": names_once}
    for batch in child_process.batches(stream, options, limits, batch_rows, **how):
        any_row |= bool(batch.numbers.size or batch.rejected)
        rejected += len(batch.rejected)
        if rejected > limits.idle_rows + batch.bytes_read:
            raise ReaderError("bomb", "the file has far more invalid rows than its size explains")
        yield batch
    if not any_row:
        raise ReaderError("empty", "the file has a header but no check-ins")


def read_file(path: Path, options: Options = DEFAULT_OPTIONS, *, names_once: bool = True) -> Iterator[Batch]:
    """Reads a file by its path as `read_checkins` does.

    Errors: `ReaderError`, whose text begins with its name.
    """
    try:
        with path.open("rb") as stream:
            yield from read_checkins(stream, options=options, names_once=names_once)
    except ReaderError as error:
        raise ReaderError(error.code, f"{path.name}: {error}") from error
    except OSError as error:
        raise ReaderError("unreadable", f"{path.name}: {error.strerror or 'cannot be read'}") from error


def too_many_rejected(
    rejected: int, rows: int, share: Fraction, first: Sequence[str], *, where: str = ""
) -> ReaderError:
    """Returns the refusal of files of which more than that share of all rows is rejected. where: before all
    of it."""
    return ReaderError(
        "too_many_rejected",
        f"{where}{rejected} of {rows} rows are invalid, more than the {numbers.share(share)} that may be "
        f"left out; the first: {'; '.join(first)}",
    )
