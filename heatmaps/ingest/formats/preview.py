"""Shows what a file has, before anything of it is stored: its columns, what they may be, its first rows."""

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from heatmaps.ingest.formats import parquet, parquet_mark
from heatmaps.ingest.formats.lines import Lines, ReaderError, ReaderLimits
from heatmaps.ingest.formats.preview_facts import FIRST_ROWS, MOST_COLUMNS, Preview
from heatmaps.ingest.formats.text import text_source
from heatmaps.ingest.options import FIELDS

LONGEST_SHOWN: Final = 60  # characters of a value
_LIMITS: Final = ReaderLimits()

# What other programs call these columns, the likelier first.
NAMES: Final = {
    "user": ("user", "user_id", "userid", "user id", "uid", "username", "user name", "person", "person_id"),
    "time": (
        "time",
        "timestamp",
        "datetime",
        "date_time",
        "checkin_time",
        "check-in time",
        "utc_time",
        "date",
    ),
    "lat": ("lat", "latitude", "lat_deg", "y"),
    "lon": ("lon", "lng", "long", "longitude", "lon_deg", "x"),
}


def preview(stream: BinaryIO, *, whole: bool = True, limits: ReaderLimits = _LIMITS) -> Preview:
    """Previews a file or its beginning; of a Parquet file, whose columns stand at the end, `whole` or its
    end.

    For a child: `heatmaps.ingest.formats.child_process` has one run it. Errors: `ReaderError`.
    """
    if parquet_mark.recognised(stream):
        names = parquet.names_of(stream)
        rows = parquet.first_rows(stream, FIRST_ROWS, limits) if whole else []
    else:
        source = text_source(_begun(Lines(stream, limits)))
        names, chunk = source.names, source.take(FIRST_ROWS)
        rows = [] if chunk is None else [record for record in chunk.records if any(record)]
    names = names[:MOST_COLUMNS]
    return Preview(
        columns=[_readable(name.strip()) for name in names],
        guess={field: _guess(field, names) for field in FIELDS},
        rows=[[_shortened(value) for value in row[: len(names)]] for row in rows],
    )


def _begun(lines: Iterable[str]) -> Iterator[str]:
    """Yields lines up to where the beginning of a packed file breaks off."""
    has_lines = False
    try:
        for line in lines:
            has_lines = True
            yield line
    except ReaderError as error:
        if error.code != "truncated" or not has_lines:
            raise


def _guess(field: str, names: list[str]) -> str:
    plain_names = [name.strip() for name in names]
    lower_names = [name.lower() for name in plain_names]
    match = next((name for name in NAMES[field] if lower_names.count(name) == 1), None)
    return "" if match is None else plain_names[lower_names.index(match)]


def _readable(text: str) -> str:
    return text.encode(errors="replace").decode()


def _shortened(text: str) -> str:
    readable = _readable(text)
    return readable if len(readable) <= LONGEST_SHOWN else f"{readable[: LONGEST_SHOWN - 1]}…"
