"""What a file has, before anything of it is stored: its columns, what they may be, its first rows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from heatmaps.ingest import parquet
from heatmaps.ingest.lines import Lines, ReaderError, ReaderLimits
from heatmaps.ingest.options import FIELDS
from heatmaps.ingest.sources import text_source

FIRST_ROWS: Final = 5
MOST_COLUMNS: Final = 50
LONGEST_SHOWN: Final = 60  # characters of a value

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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Preview:
    """Data: for the steward who holds the file."""

    columns: list[str]
    guess: dict[str, str]  # field: its likely column, "" where none is
    rows: list[list[str]]  # the first ones; none of a Parquet file of which only the end was sent


def preview(stream: BinaryIO, *, whole: bool = True) -> Preview:
    """Of a file or of its beginning; of a Parquet file, whose columns stand at the end, `whole` or its end.

    Errors: `ReaderError`.
    """
    if parquet.recognised(stream):
        names = parquet.names_of(stream)
        rows = parquet.first_rows(stream, FIRST_ROWS) if whole else []
    else:
        source = text_source(_begun(Lines(stream, ReaderLimits())))
        names, chunk = source.names, source.take(FIRST_ROWS)
        rows = [] if chunk is None else [record for record in chunk.records if any(record)]
    names = names[:MOST_COLUMNS]
    return Preview(
        columns=[_readable(name.strip()) for name in names],
        guess={field: _guess(field, names) for field in FIELDS},
        rows=[[_shown(value) for value in row[: len(names)]] for row in rows],
    )


def _begun(lines: Iterable[str]) -> Iterator[str]:
    """Lines up to where the beginning of a packed file breaks off."""
    some = False
    try:
        for line in lines:
            some = True
            yield line
    except ReaderError as error:
        if error.code != "truncated" or not some:
            raise


def _guess(field: str, names: list[str]) -> str:
    known = [name.strip() for name in names]
    lowered = [name.lower() for name in known]
    found = next((name for name in NAMES[field] if lowered.count(name) == 1), None)
    return "" if found is None else known[lowered.index(found)]


def _readable(text: str) -> str:
    return text.encode(errors="replace").decode()


def _shown(text: str) -> str:
    readable = _readable(text)
    return readable if len(readable) <= LONGEST_SHOWN else f"{readable[: LONGEST_SHOWN - 1]}…"
