"""Reads columns of check-ins from PostgreSQL and sums them in columnar memory.

Large uploads are packed in columns (`packed_columns`), which come slot by slot through a cursor of the
server's, and so in one transaction; of the others, and those that are not packed yet, two columns of the rows
are sent in one value, of the persons of a few slots where rows are many.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final, TypeVar

import numpy as np
import psycopg
from django.core.exceptions import EmptyResultSet
from django.db import connection, transaction
from django.db.models import Count, F, QuerySet, Sum
from numpy.typing import NDArray

from heatmaps.data_slice import DataSlice
from heatmaps.masses import packed_columns, selection
from heatmaps.masses.packed_columns import Piece
from heatmaps.models import CheckIn, Dataset, DataVersion, Upload
from heatmaps.models.packed import SLOTS
from heatmaps.pseudonyms.person_hashes import PERSON, Persons, numbered, persons_of, slots_of
from mechanisms.records import aggregation
from mechanisms.records.aggregation import MeanSums
from mechanisms.records.item_records import ItemRecords
from mechanisms.records.mass_map import MassMap
from mechanisms.space.grid import FINEST_LEVEL

ROWS_AT_ONCE: Final = 5_000_000  # of uploads that are not packed, about: a value of PostgreSQL holds 1 GB

Made = TypeVar("Made")
Column = NDArray[np.int64]
Rows = tuple[Persons, Column]  # persons and cells, one row per check-in
_NO_ROWS: Final = (np.zeros(0, PERSON), np.zeros(0, np.int64))
_ROW: Final = np.dtype([("person", ">i8"), ("rest", ">i8"), ("cell", ">i8")])

# One value instead of a row each: a row's own message costs the client ten times what its numbers do.
_GATHERED: Final = (
    "SELECT string_agg(int8send(person) || int8send(person_rest) || int8send(cell), '') FROM ({}) AS checkins"
)


@transaction.atomic
def masses(
    dataset: Dataset, version: DataVersion, data_slice: DataSlice, *, level: int, unit: int
) -> MassMap:
    """As `heatmaps.masses.read`."""
    parts = (
        _shares(pieces, rows, data_slice, level=level, unit=unit)
        for pieces, rows in _by_slot(dataset, version, data_slice, with_outside=False)
    )
    return aggregation.sum_of_shares(parts, level=level, unit=unit)


@transaction.atomic
def means(dataset: Dataset, version: DataVersion, data_slice: DataSlice) -> list[MeanSums]:
    """As `mechanisms.records.aggregation.mean_sums`, of different persons with check-ins."""
    parts = []
    for pieces, rows in _by_slot(dataset, version, data_slice, with_outside=True):
        persons, cells = _joined(pieces, rows)
        counts, columns, positions = aggregation.position_sums(numbered(persons)[0], cells)
        parts.append(aggregation.mean_sums(counts=counts, columns=columns, rows=positions))
    return parts


@transaction.atomic
def items(
    dataset: Dataset,
    version: DataVersion,
    data_slice: DataSlice,
    work: Callable[[ItemRecords], Made],
    *,
    level: int,
) -> list[Made]:
    """As `heatmaps.masses.of_items`."""
    made = []
    for pieces, rows in _by_slot(dataset, version, data_slice, with_outside=True):
        persons, cells = _joined(pieces, rows)
        records = aggregation.item_records(
            persons=numbered(persons)[0], cells=cells, counts=np.ones_like(cells), level=level
        )
        made.append(work(records))
    return made


def _by_slot(
    dataset: Dataset, version: DataVersion, data_slice: DataSlice, *, with_outside: bool
) -> Iterator[tuple[list[Piece], Rows]]:
    """What counts, in parts of different persons: packed check-ins, and rows of uploads that are not packed.

    At least one part; a slot each where anything is packed.
    """
    slots = packed_columns.read(
        version, selection.whole(dataset, version), data_slice, with_outside=with_outside
    )
    first = next(slots, None)
    known = first.uploads if first else set()
    chosen = selection.counting if with_outside else selection.inside
    others = selection.uploads(dataset, version).exclude(pk__in=known)
    rows = _rows(others, chosen(dataset, version, data_slice, without=known))
    if first is None:
        yield from (([], some) for _, some in rows)
        return
    of_each = chain.from_iterable(_parted(some, numbers) for numbers, some in rows)
    for slot, some in zip(chain([first], slots), of_each, strict=True):
        yield slot.pieces, some


def _rows(uploads: "QuerySet[Upload]", checkins: "QuerySet[CheckIn]") -> Iterator[tuple[range, Rows]]:
    """Rows of consecutive slots, all at once where there are few."""
    found = uploads.aggregate(uploads=Count("pk"), rows=Sum(F("rows_accepted") - F("rows_expired")))
    if not found["uploads"]:
        yield range(SLOTS), _NO_ROWS
        return
    slots_at_once = max(1, SLOTS * ROWS_AT_ONCE // max(ROWS_AT_ONCE, found["rows"]))
    for first in range(0, SLOTS, slots_at_once):
        numbers = range(first, min(first + slots_at_once, SLOTS))
        yield numbers, _read(checkins if len(numbers) == SLOTS else selection.of_slots(checkins, numbers))


def _parted(rows: Rows, numbers: range) -> list[Rows]:
    """Those of each of these slots, which have no others."""
    persons, cells = rows
    slots = (slots_of(persons, SLOTS) - numbers.start).astype(np.uint8)
    order = np.argsort(slots, kind="stable")
    ends = np.cumsum(np.bincount(slots, minlength=len(numbers)))[:-1]
    return list(zip(np.split(persons[order], ends), np.split(cells[order], ends), strict=True))


def _shares(
    pieces: list[Piece], rows: Rows, data_slice: DataSlice, *, level: int, unit: int
) -> aggregation.CellShares:
    if len(pieces) == 1 and not rows[0].size and data_slice.rectangle is None:
        [piece] = pieces
        return aggregation.shares_of_ordered(lengths=piece.lengths, cells=piece.cells, level=level, unit=unit)
    persons, cells = _joined(pieces, rows)
    if data_slice.rectangle is not None:
        kept, own = data_slice.rectangle.cells(cells, level)
        # Any finest cell below the counted one stands for it.
        persons, cells = persons[kept], own << 2 * (FINEST_LEVEL - level)
    return aggregation.shares_of_numbered(numbers=numbered(persons)[0], cells=cells, level=level, unit=unit)


def _joined(pieces: list[Piece], rows: Rows) -> Rows:
    """One row per check-in."""
    persons = np.concatenate([rows[0], *(piece.person_of_each for piece in pieces)])
    return persons, np.concatenate([rows[1], *(piece.cells for piece in pieces)])


def _read(found: "QuerySet[CheckIn]") -> Rows:
    """Persons and cells, (r,) each, in any order."""
    try:
        rows, parameters = found.order_by().values("person", "person_rest", "cell").query.sql_with_params()
    except EmptyResultSet:  # no uploads at all
        return _NO_ROWS
    connection.ensure_connection()
    # psycopg's own cursor: as bytes, neither as text nor as objects, which Django's cannot.
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(_GATHERED.format(rows), parameters, binary=True)
        content = b"" if cursor.pgresult is None else cursor.pgresult.get_value(0, 0) or b""
    read = np.frombuffer(content, _ROW)
    return persons_of(read["person"], read["rest"]), read["cell"].astype(np.int64)
