"""Shows what a file has, before anything of it is stored: its columns, what they may be, its first rows."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final, Self, cast

from heatmaps.ingest.formats import parquet
from heatmaps.ingest.formats.frames import Broken
from heatmaps.ingest.formats.lines import Lines, ReaderError, ReaderLimits
from heatmaps.ingest.formats.text import text_source
from heatmaps.ingest.options import FIELDS

FIRST_ROWS: Final = 5
MOST_COLUMNS: Final = 50
LONGEST_SHOWN: Final = 60  # characters of a value
LONGEST_NAME: Final = 2**16  # characters of a column: a line
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Preview:
    """Holds a file's columns and first rows: data, for the steward who holds the file."""

    columns: list[str]
    guess: dict[str, str]  # field: its likely column, "" where none is
    rows: list[list[str]]  # the first ones; none of a Parquet file of which only the end was sent

    @classmethod
    def checked(cls, facts: Mapping[str, object]) -> Self:
        """Takes a preview from JSON that nobody vouches for. Errors: Broken."""
        columns, guess, rows = facts.get("columns"), facts.get("guess"), facts.get("rows")
        if not (_are_texts(columns, MOST_COLUMNS) and isinstance(rows, list) and len(rows) <= FIRST_ROWS):
            raise Broken
        if not (isinstance(guess, dict) and _are_texts([*guess, *guess.values()], 2 * len(FIELDS))):
            raise Broken
        if not all(_are_texts(row, MOST_COLUMNS) for row in rows):
            raise Broken
        return cls(columns=cast(list[str], columns), guess=guess, rows=rows)


def preview(stream: BinaryIO, *, whole: bool = True, limits: ReaderLimits = _LIMITS) -> Preview:
    """Previews a file or its beginning; of a Parquet file, whose columns stand at the end, `whole` or its
    end.

    For a child: `heatmaps.ingest.formats.child_process` has one run it. Errors: `ReaderError`.
    """
    if parquet.recognised(stream):
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


def _are_texts(value: object, most: int) -> bool:
    if not isinstance(value, list) or len(value) > most:
        return False
    return all(isinstance(text, str) and len(text) <= LONGEST_NAME for text in value)


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
