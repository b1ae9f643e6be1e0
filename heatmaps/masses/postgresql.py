"""Reads columns of check-ins from PostgreSQL and sums them in columnar memory.

Large uploads are packed in columns (`packed_columns`), which come slot by slot through a cursor of the
server's, and so in one transaction; of the others, and those that are not packed yet, columns of the rows are
sent in one value, of the persons of a few slots where rows are many.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final, NamedTuple, TypeVar

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
from heatmaps.pseudonyms.person_hashes import Persons, numbered, persons_of, slots_of
from mechanisms.records import aggregation
from mechanisms.records.aggregation import MeanSums
from mechanisms.records.item_records import ItemRecords
from mechanisms.records.mass_map import MassMap
from mechanisms.records.row_key import RowKey

ROWS_AT_ONCE: Final = 5_000_000  # of uploads that are not packed, about: a value of PostgreSQL holds 1 GB

Result = TypeVar("Result")
Column = NDArray[np.int64]


class CheckInRows(NamedTuple):
    """Holds columns of check-ins, one row each."""

    persons: Persons  # (r,) hashes
    cells: Column  # (r,) at the finest level
    times: Column | None  # (r,) epoch seconds or `NO_TIME`; None: not read


# One value instead of a row each: a row's own message costs the client ten times what its numbers do.
_GATHERED: Final = "SELECT string_agg({}, '') FROM ({}) AS checkins"
_COLUMNS: Final = ("person", "person_rest", "cell")


@transaction.atomic
def masses(
    dataset: Dataset, version: DataVersion, data_slice: DataSlice, key: RowKey, *, unit: int
) -> tuple[MassMap, ...]:
    """Reads as `heatmaps.masses.read_by_bin`."""
    parts = (
        _shares(pieces, rows, key, unit=unit) for pieces, rows in _by_slot(dataset, version, data_slice, key)
    )
    return aggregation.sum_of_shares(parts, key=key, unit=unit)


@transaction.atomic
def means(dataset: Dataset, version: DataVersion, data_slice: DataSlice) -> list[MeanSums]:
    """Reads as `mechanisms.records.aggregation.mean_sums`, of different persons with check-ins."""
    parts = []
    for pieces, rows in _by_slot(dataset, version, data_slice):
        checkins = _join(pieces, rows)
        numbers = numbered(checkins.persons)[0]
        counts, columns, positions = aggregation.position_sums(numbers, checkins.cells)
        parts.append(aggregation.mean_sums(counts=counts, columns=columns, rows=positions))
    return parts


@transaction.atomic
def items(
    dataset: Dataset,
    version: DataVersion,
    data_slice: DataSlice,
    work: Callable[[ItemRecords], Result],
    *,
    level: int,
) -> list[Result]:
    """Reads as `heatmaps.masses.of_items`."""
    results = []
    for pieces, rows in _by_slot(dataset, version, data_slice):
        checkins = _join(pieces, rows)
        records = aggregation.item_records(
            persons=numbered(checkins.persons)[0],
            cells=checkins.cells,
            counts=np.ones_like(checkins.cells),
            level=level,
        )
        results.append(work(records))
    return results


def _by_slot(
    dataset: Dataset, version: DataVersion, data_slice: DataSlice, key: RowKey | None = None
) -> Iterator[tuple[list[Piece], CheckInRows]]:
    """Yields the rows that count in parts of different persons: packed check-ins, and rows not packed.

    At least one part; a slot each where anything is packed. key: what masses are summed by, with times where
    it has bins; None: whole records, with points outside the region.
    """
    with_times = key is not None and key.bins is not None
    slots = packed_columns.read(
        version,
        selection.whole(dataset, version),
        data_slice,
        with_outside=key is None,
        with_times=with_times,
    )
    first = next(slots, None)
    packed = first.uploads if first else set()
    unpacked = selection.uploads(dataset, version).exclude(pk__in=packed)
    if key is None:
        checkins = selection.counting(dataset, version, data_slice, without=packed)
    else:
        checkins = selection.inside(dataset, version, data_slice, key, without=packed)
    parts = _rows(unpacked, checkins, (*_COLUMNS, "time") if with_times else _COLUMNS)
    if first is None:
        yield from (([], rows) for _, rows in parts)
        return
    of_each = chain.from_iterable(_split_by_slot(rows, numbers) for numbers, rows in parts)
    for slot, rows in zip(chain([first], slots), of_each, strict=True):
        yield slot.pieces, rows


def _rows(
    uploads: "QuerySet[Upload]", checkins: "QuerySet[CheckIn]", columns: tuple[str, ...]
) -> Iterator[tuple[range, CheckInRows]]:
    """Yields the rows of consecutive slots, all at once where there are few."""
    sums = uploads.aggregate(uploads=Count("pk"), rows=Sum(F("rows_accepted") - F("rows_expired")))
    if not sums["uploads"]:
        yield range(SLOTS), _from_bytes(b"", columns)
        return
    slots_at_once = max(1, SLOTS * ROWS_AT_ONCE // max(ROWS_AT_ONCE, sums["rows"]))
    for first in range(0, SLOTS, slots_at_once):
        numbers = range(first, min(first + slots_at_once, SLOTS))
        of_numbers = checkins if len(numbers) == SLOTS else selection.of_slots(checkins, numbers)
        yield numbers, _read(of_numbers, columns)


def _split_by_slot(rows: CheckInRows, numbers: range) -> list[CheckInRows]:
    """Returns those of each of these slots, which have no others."""
    slots = (slots_of(rows.persons, SLOTS) - numbers.start).astype(np.uint8)
    order = np.argsort(slots, kind="stable")
    ends = np.cumsum(np.bincount(slots, minlength=len(numbers)))[:-1]
    return [
        CheckInRows(rows.persons[part], rows.cells[part], None if rows.times is None else rows.times[part])
        for part in np.split(order, ends)
    ]


def _shares(pieces: list[Piece], rows: CheckInRows, key: RowKey, *, unit: int) -> aggregation.KeyShares:
    if len(pieces) == 1 and not rows.cells.size and key.keeps_cell_order:
        [piece] = pieces
        _, keys = key.of_rows(piece.cells)
        return aggregation.shares_of_ordered(lengths=piece.lengths, keys=keys, unit=unit)
    checkins = _join(pieces, rows)
    with_key, keys = key.of_rows(checkins.cells, checkins.times)
    numbers = numbered(checkins.persons[with_key])[0]
    return aggregation.shares_of_numbered(numbers=numbers, keys=keys, unit=unit)


def _join(pieces: list[Piece], rows: CheckInRows) -> CheckInRows:
    """Returns one row per check-in."""
    persons = [rows.persons, *(piece.person_of_each for piece in pieces)]
    cells = [rows.cells, *(piece.cells for piece in pieces)]
    times = [part for part in (rows.times, *(piece.times for piece in pieces)) if part is not None]
    return CheckInRows(
        np.concatenate(persons), np.concatenate(cells), np.concatenate(times) if times else None
    )


def _read(checkins: "QuerySet[CheckIn]", columns: tuple[str, ...]) -> CheckInRows:
    """Returns the rows of check-ins in any order; those that have a time, where times are read."""
    try:
        rows, parameters = checkins.order_by().values(*columns).query.sql_with_params()
    except EmptyResultSet:  # no uploads at all
        return _from_bytes(b"", columns)
    gathered = _GATHERED.format(" || ".join(f"int8send({column})" for column in columns), rows)
    connection.ensure_connection()
    # psycopg's own cursor: as bytes, neither as text nor as objects, which Django's cannot.
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(gathered, parameters, binary=True)
        content = b"" if cursor.pgresult is None else cursor.pgresult.get_value(0, 0) or b""
    return _from_bytes(content, columns)


def _from_bytes(content: bytes, columns: tuple[str, ...]) -> CheckInRows:
    rows = np.frombuffer(content, np.dtype([(column, ">i8") for column in columns]))
    return CheckInRows(
        persons_of(rows["person"], rows["person_rest"]),
        rows["cell"].astype(np.int64),
        rows["time"].astype(np.int64) if "time" in columns else None,
    )
