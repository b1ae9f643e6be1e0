"""Holds what a preview shows of a file, and checks one from a child."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self, cast

from heatmaps.ingest.formats.frames import Broken
from heatmaps.ingest.options import FIELDS

FIRST_ROWS: Final = 5
MOST_COLUMNS: Final = 50
LONGEST_NAME: Final = 2**16  # characters of a column: a line


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


def _are_texts(value: object, most: int) -> bool:
    if not isinstance(value, list) or len(value) > most:
        return False
    return all(isinstance(text, str) and len(text) <= LONGEST_NAME for text in value)
