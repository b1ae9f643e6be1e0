"""Exports a ledger as a file, event by event.

Whoever may see data gets everything a hash covers, so that an outside program can recompute the chain: the
hash is the SHA-256 of the JSON object of `HASHED` (and of `salt` where it is not null) with sorted keys, no
blanks, ASCII; `before` and `after` are strings in it; the first `previous_hash` is that of
{"dataset":<id>}. Others get minutes, and hashes that they can keep elsewhere but not search.
"""

import csv
import json
from collections.abc import Iterator
from typing import Any, Final

from django.db.models import QuerySet

from heatmaps import spreadsheets
from heatmaps.ledger.events import hashed
from heatmaps.ledger.reading import moment, shown_hash
from heatmaps.models import Event

HASHED: Final = (
    "dataset",
    "sequence",
    "at_microseconds",
    "actor",
    "kind",
    "release",
    "before",
    "after",
    "previous_hash",
)
_FOR_ALL: Final = ("sequence", "at", "actor_name", "kind", "release", "before", "after", "hash")
_ROWS_AT_ONCE: Final = 500


def json_lines(events: QuerySet[Event], *, sees_data: bool) -> Iterator[str]:
    """Yields one JSON list, a line an event."""
    before = "[\n"
    for row in _rows(events, sees_data=sees_data):
        yield before + json.dumps(row, sort_keys=True, ensure_ascii=True)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def csv_lines(events: QuerySet[Event], *, sees_data: bool) -> Iterator[str]:
    """Yields one CSV table with a header; no cell is a formula to a spreadsheet."""
    writer = csv.writer(_Line(), lineterminator="\r\n")
    columns = _columns(sees_data=sees_data)
    yield writer.writerow(columns)
    for row in _rows(events, sees_data=sees_data):
        cells = ("" if row[name] is None else str(row[name]) for name in columns)
        yield writer.writerow(map(spreadsheets.plain, cells))


def _columns(*, sees_data: bool) -> tuple[str, ...]:
    return (*HASHED, "salt", "hash", "at", "actor_name") if sees_data else _FOR_ALL


def _rows(events: QuerySet[Event], *, sees_data: bool) -> Iterator[dict[str, Any]]:
    columns = _columns(sees_data=sees_data)
    for event in events.iterator(chunk_size=_ROWS_AT_ONCE):
        row: dict[str, Any] = {
            **hashed(event),
            "salt": event.salt,
            "hash": shown_hash(event, sees_data=sees_data),
            "at": moment(event, sees_data=sees_data),
            "actor_name": event.actor.get_username() if event.actor else "",
        }
        yield {name: row[name] for name in columns}


class _Line:
    """Stands for the file of `csv.writer`, and hands each line back."""

    def write(self, line: str) -> str:
        return line
