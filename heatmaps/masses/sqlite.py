"""Reads masses from SQLite: the database sums check-ins by person, numpy sums the rest."""

from collections.abc import Callable, Iterator
from functools import reduce
from itertools import islice
from operator import add
from typing import Any, Final, TypeVar

import numpy as np
from django.db.models import BigIntegerField, Count, F, QuerySet, Sum, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast
from numpy.typing import NDArray

from heatmaps.data_slice import DataSlice
from heatmaps.masses.selection import counting, inside
from heatmaps.models import CheckIn, Dataset, DataVersion
from heatmaps.pseudonyms.person_hashes import PERSON, numbered
from mechanisms.records.aggregation import (
    MeanSums,
    item_records,
    masses_from_counts,
    mean_sums,
    summed_counts,
)
from mechanisms.records.item_records import ItemRecords
from mechanisms.records.mass_map import MassMap
from mechanisms.records.row_key import RowKey, TimeBins
from mechanisms.space.grid import FINEST_LEVEL

CHUNK_ROWS: Final = 20_000  # fetched at once from the database
JOIN_ROWS: Final = 1_000_000  # of a rectangle's rows, held before those of equal person and key are made one
_ROW = np.dtype([("person", PERSON), ("key", np.int64), ("checkins", np.int64)])
_ROW_COLUMNS: Final = 4  # of integers in one of them
_SUMS = np.dtype((np.int64, 3))

Result = TypeVar("Result")
Column = NDArray[np.int64]
Rows = NDArray[Any]  # (k,) of `_ROW`


def masses(
    dataset: Dataset, version: DataVersion, data_slice: DataSlice, key: RowKey, *, unit: int
) -> tuple[MassMap, ...]:
    """Reads as `heatmaps.masses.read_by_bin`."""
    checkins = inside(dataset, version, data_slice, key)
    if key.rectangle is None:
        rows = _fetched(_counts(checkins, key=_key(key)).iterator(chunk_size=CHUNK_ROWS))
    else:
        rows = _of_rectangle(checkins, key)
    person, keys, count = _columns(rows)
    return masses_from_counts(person, keys, count, key=key, unit=unit)


def means(dataset: Dataset, version: DataVersion, data_slice: DataSlice) -> list[MeanSums]:
    """Reads as `records.aggregation.mean_sums`, of the persons with check-ins. Memory: 32 bytes a person.

    The database sums columns and rows of finest cells by person.
    """
    rows = np.fromiter(_position_sums(counting(dataset, version, data_slice)), _SUMS)
    return [mean_sums(counts=rows[:, 0], columns=rows[:, 1], rows=rows[:, 2])]


def items(
    dataset: Dataset,
    version: DataVersion,
    data_slice: DataSlice,
    work: Callable[[ItemRecords], Result],
    *,
    level: int,
) -> list[Result]:
    """Reads as `heatmaps.masses.of_items`, of all persons at once.

    Memory: 32 bytes for each pair of a person and a cell, and copies.
    """
    cell_of_level = _key(RowKey(level=level))
    counts = _counts(counting(dataset, version, data_slice), key=cell_of_level)
    person, cells, count = _columns(_fetched(counts.iterator(chunk_size=CHUNK_ROWS)))
    # Any finest cell below the counted one stands for it.
    finest = cells << 2 * (FINEST_LEVEL - level)
    return [work(item_records(persons=person, cells=finest, counts=count, level=level))]


def _position_sums(checkins: "QuerySet[CheckIn]") -> Iterator[tuple[int, int, int]]:
    """Yields (check-ins, sum of columns, sum of rows) by person."""
    people = checkins.values("person", "person_rest").annotate(
        checkins=Count("pk"),
        columns=Cast(Sum(_every_second_bit(0)), BigIntegerField()),
        rows=Cast(Sum(_every_second_bit(1)), BigIntegerField()),
    )
    return people.order_by().values_list("checkins", "columns", "rows").iterator(chunk_size=CHUNK_ROWS)


def _every_second_bit(first: int) -> Combinable:
    """Translates a finest cell's column (from bit 0 of its Morton code on) or row (from bit 1 on)."""
    bits = (F("cell").bitrightshift(bit + first).bitand(1 << bit) for bit in range(FINEST_LEVEL))
    return reduce(add, bits)


def _key(key: RowKey) -> Combinable:
    """Translates the integers of a key in the region's own grid; with bins, of check-ins with a time."""
    cell = F("cell").bitrightshift(2 * (FINEST_LEVEL - key.level))
    return cell if key.bins is None else _bin(key.bins) * _integer(1 << 2 * key.level) + cell


def _bin(bins: TimeBins) -> Combinable:
    """Translates `TimeBins.of`."""
    period = _integer(bins.period)
    # A remainder in SQL has the sign of what is divided; a second one has none.
    in_period = ((F("time") - _integer(bins.start)) % period + period) % period
    return in_period / _integer(bins.width)


def _integer(number: int) -> Value:
    """Returns a literal of 64 bits: Django would send PostgreSQL one of 32."""
    return Value(number, output_field=BigIntegerField())


def _counts(checkins: "QuerySet[CheckIn]", **groups: Combinable) -> "QuerySet[CheckIn, tuple[int, ...]]":
    """Returns rows (person, rest of the person's hash, first group, check-ins, other groups).

    The database aggregates.
    """
    keyed = checkins.annotate(**groups).values("person", "person_rest", *groups)
    first, *rest = groups
    counts: QuerySet[CheckIn, tuple[int, ...]] = (
        keyed.annotate(checkins=Count("pk"))
        .order_by()
        .values_list("person", "person_rest", first, "checkins", *rest)
    )
    return counts


def _fetched(rows: Iterator[tuple[int, ...]]) -> Rows:
    return _integers(rows, _ROW_COLUMNS).view(_ROW).reshape(-1)


def _integers(rows: Iterator[tuple[int, ...]], columns: int) -> NDArray[Any]:
    """Returns (k, columns) integers of 64 bits."""
    return np.fromiter(rows, np.dtype((np.int64, columns))).reshape(-1, columns)


def _columns(rows: Rows) -> tuple[Column, Column, Column]:
    """Returns persons, who are numbered, keys and check-ins."""
    return numbered(rows["person"])[0], rows["key"], rows["checkins"]


def _of_rectangle(checkins: "QuerySet[CheckIn]", key: RowKey) -> Rows:
    """Returns rows by key in the rectangle's own grid.

    Its cells do not line up with what the database can shift to: it counts finest cells, and each chunk of
    them is put into the rectangle's cells by columns.
    """
    groups: dict[str, Combinable] = {"finest_cell": F("cell").bitrightshift(0)}
    if key.bins is not None:
        groups["bin"] = _bin(key.bins)
    counts = _counts(checkins, **groups).iterator(chunk_size=CHUNK_ROWS)
    columns = _ROW_COLUMNS + len(groups) - 1
    joined_rows, waiting = np.zeros(0, _ROW), list[Rows]()
    while (chunk := _integers(islice(counts, CHUNK_ROWS), columns)).size:
        inside_rows, cells = key.of_cells(chunk[:, 2])
        chunk = chunk[inside_rows]
        chunk[:, 2] = cells if key.bins is None else key.integers(chunk[:, _ROW_COLUMNS], cells)
        waiting.append(np.ascontiguousarray(chunk[:, :_ROW_COLUMNS]).view(_ROW).reshape(-1))
        if sum(map(len, waiting)) >= max(JOIN_ROWS, len(joined_rows)):
            joined_rows, waiting = _join([joined_rows, *waiting]), []
    return _join([joined_rows, *waiting])


def _join(parts: list[Rows]) -> Rows:
    """Makes rows of equal person and key one."""
    rows = np.concatenate(parts)
    numbers, hashes = numbered(rows["person"])
    number, keys, counts = summed_counts(numbers, rows["key"], rows["checkins"])
    joined_rows = np.empty(number.size, _ROW)
    joined_rows["person"], joined_rows["key"], joined_rows["checkins"] = hashes[number], keys, counts
    return joined_rows
