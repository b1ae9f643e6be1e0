"""From PostgreSQL: columns of check-ins, summed in columnar memory.

Large uploads are packed in columns (`packed`), which come slot by slot through a cursor of the server's, and
so in one transaction; of the others, and those that are not packed yet, two columns of the rows are sent in
one value. It holds up to 1 GB, 64 million check-ins: shares are far smaller (`HAZEMAP_ROWS_PER_SHARD`).
"""

from collections.abc import Iterator
from itertools import chain
from typing import Final

import numpy as np
import psycopg
import pyarrow as pa
from django.core.exceptions import EmptyResultSet
from django.db import connection, transaction
from django.db.models import QuerySet
from numpy.typing import NDArray

from heatmaps.masses import packed, selection
from heatmaps.masses.packed import Piece
from heatmaps.masses.selection import Share
from heatmaps.models import CheckIn, Dataset, DataVersion
from heatmaps.models.packed import SLOTS
from heatmaps.slices import Slice
from mechanisms import records
from mechanisms.grid import FINEST_LEVEL
from mechanisms.interface import MassMap
from mechanisms.item_records import ItemRecords
from mechanisms.records import MeanSums

Column = NDArray[np.int64]
Rows = tuple[Column, Column]  # persons and cells, one row per check-in
_NO_ROWS: Final = (np.zeros(0, np.int64), np.zeros(0, np.int64))

# One value instead of a row each: a row's own message costs the client ten times what its numbers do.
_GATHERED: Final = "SELECT string_agg(int8send(person) || int8send(cell), '') FROM ({}) AS checkins"


@transaction.atomic
def masses(
    dataset: Dataset, version: DataVersion, asked: Slice, share: Share, *, level: int, unit: int
) -> MassMap:
    """As `heatmaps.masses.read`."""
    parts = (
        _shares(pieces, rows, asked, level=level, unit=unit)
        for pieces, rows in _by_slot(dataset, version, asked, share, with_outside=False)
    )
    return records.sum_of_shares(parts, level=level, unit=unit)


@transaction.atomic
def means(dataset: Dataset, version: DataVersion, asked: Slice, share: Share) -> MeanSums:
    """As `mechanisms.records.mean_sums`, of the persons with check-ins."""
    parts = []
    for pieces, rows in _by_slot(dataset, version, asked, share, with_outside=True):
        counts, columns, positions = records.position_sums(*_joined(pieces, rows))
        parts.append(records.mean_sums(counts=counts, columns=columns, rows=positions))
    persons, x, y = (sum(column) for column in zip(*parts, strict=True))
    return persons, x, y


@transaction.atomic
def items(dataset: Dataset, version: DataVersion, asked: Slice, share: Share, *, level: int) -> ItemRecords:
    """As `heatmaps.masses.read_items`."""
    parts = [_joined(*found) for found in _by_slot(dataset, version, asked, share, with_outside=True)]
    persons, cells = (np.concatenate(column) for column in zip(*parts, strict=True))
    return records.item_records(
        persons=_numbered(persons), cells=cells, counts=np.ones_like(cells), level=level
    )


def _by_slot(
    dataset: Dataset, version: DataVersion, asked: Slice, share: Share, *, with_outside: bool
) -> Iterator[tuple[list[Piece], Rows]]:
    """What counts, in parts of different persons: packed check-ins, and rows of uploads that are not packed.

    At least one part, and one alone where nothing is packed.
    """
    slots = packed.read(version, selection.whole(dataset, version), asked, share, with_outside=with_outside)
    first = next(slots, None)
    known = first.uploads if first else set()
    chosen = selection.counting if with_outside else selection.inside
    others = selection.uploads(dataset, version).exclude(pk__in=known).exists()
    rows = _read(chosen(dataset, version, asked, share, without=known)) if others else _NO_ROWS
    if first is None:
        yield [], rows
        return
    of_slot = _parted(rows)
    for slot in chain([first], slots):
        yield slot.pieces, of_slot[slot.number]


def _parted(rows: Rows) -> list[Rows]:
    """Those of each slot."""
    persons, cells = rows
    slots = (persons % SLOTS).astype(np.uint8)
    order = np.argsort(slots, kind="stable")
    ends = np.cumsum(np.bincount(slots, minlength=SLOTS))[:-1]
    return list(zip(np.split(persons[order], ends), np.split(cells[order], ends), strict=True))


def _shares(pieces: list[Piece], rows: Rows, asked: Slice, *, level: int, unit: int) -> records.CellShares:
    if len(pieces) == 1 and not rows[0].size and asked.part is None:
        [piece] = pieces
        return records.shares_of_ordered(lengths=piece.lengths, cells=piece.cells, level=level, unit=unit)
    persons, cells = _joined(pieces, rows)
    if asked.part is not None:
        kept, own = asked.part.cells(cells, level)
        # Any finest cell below the counted one stands for it.
        persons, cells = persons[kept], own << 2 * (FINEST_LEVEL - level)
    return records.shares_of_numbered(numbers=_numbered(persons), cells=cells, level=level, unit=unit)


def _joined(pieces: list[Piece], rows: Rows) -> Rows:
    """One row per check-in."""
    persons = np.concatenate([rows[0], *(piece.person_of_each for piece in pieces)])
    return persons, np.concatenate([rows[1], *(piece.cells for piece in pieces)])


def _numbered(persons: Column) -> Column:
    """(r,) numbers from 0 on, in place of hashes: short, so that one with a cell fits one integer."""
    # By a table of hashes, in half the time that sorting takes.
    array = pa.Array.from_buffers(pa.int64(), persons.size, [None, pa.py_buffer(persons)])
    numbers: Column = array.dictionary_encode().indices.to_numpy().astype(np.int64)
    return numbers


def _read(found: "QuerySet[CheckIn]") -> Rows:
    """Persons and cells, (r,) each, in any order."""
    try:
        rows, parameters = found.order_by().values("person", "cell").query.sql_with_params()
    except EmptyResultSet:  # no uploads at all
        return _NO_ROWS
    connection.ensure_connection()
    # psycopg's own cursor: as bytes, neither as text nor as objects, which Django's cannot.
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(_GATHERED.format(rows), parameters, binary=True)
        content = b"" if cursor.pgresult is None else cursor.pgresult.get_value(0, 0) or b""
    pairs = np.frombuffer(content, ">i8").reshape(-1, 2)
    return pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)
