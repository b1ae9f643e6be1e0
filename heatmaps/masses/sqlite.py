"""Reads masses from SQLite: the database sums check-ins by person, numpy sums the rest."""

from collections.abc import Callable, Iterator
from functools import reduce
from itertools import islice
from operator import add
from typing import Any, Final, TypeVar

import numpy as np
from django.db.models import BigIntegerField, Count, F, QuerySet, Sum
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast
from numpy.typing import NDArray

from heatmaps.data_slice import DataSlice
from heatmaps.masses.selection import counting, inside
from heatmaps.models import CheckIn, Dataset, DataVersion
from heatmaps.pseudonyms.person_hashes import PERSON, numbered
from mechanisms.records.aggregation import (
    MeanSums,
    counts_joined,
    item_records,
    masses_from_counts,
    mean_sums,
)
from mechanisms.records.item_records import ItemRecords
from mechanisms.records.mass_map import MassMap
from mechanisms.space.grid import FINEST_LEVEL
from mechanisms.space.subregion import Rectangle

CHUNK_ROWS: Final = 20_000  # fetched at once from the database
JOIN_ROWS: Final = 1_000_000  # of a rectangle's rows, held before those of equal person and cell are made one
_ROW = np.dtype([("person", PERSON), ("cell", np.int64), ("checkins", np.int64)])
_FETCHED = np.dtype((np.int64, 4))
_SUMS = np.dtype((np.int64, 3))

Made = TypeVar("Made")
Column = NDArray[np.int64]
Rows = NDArray[Any]  # (k,) of `_ROW`


def masses(
    dataset: Dataset, version: DataVersion, data_slice: DataSlice, *, level: int, unit: int
) -> MassMap:
    """As `heatmaps.masses.read`."""
    up = 2 * (FINEST_LEVEL - level)
    found = inside(dataset, version, data_slice)
    if data_slice.rectangle is None:
        rows = _fetched(_counts(found, up).iterator(chunk_size=CHUNK_ROWS))
    else:
        rows = _of_rectangle(found, data_slice.rectangle, level)
    # Any finest cell below the counted one stands for it.
    person, cell, count = _columns(rows)
    return masses_from_counts(person, cell << up, count, level=level, unit=unit)


def means(dataset: Dataset, version: DataVersion, data_slice: DataSlice) -> list[MeanSums]:
    """As `records.aggregation.mean_sums`, of the persons with check-ins. Memory: 32 bytes a person.

    The database sums columns and rows of finest cells by person.
    """
    rows = np.fromiter(_position_sums(counting(dataset, version, data_slice)), _SUMS)
    return [mean_sums(counts=rows[:, 0], columns=rows[:, 1], rows=rows[:, 2])]


def items(
    dataset: Dataset,
    version: DataVersion,
    data_slice: DataSlice,
    work: Callable[[ItemRecords], Made],
    *,
    level: int,
) -> list[Made]:
    """As `heatmaps.masses.of_items`, of all persons at once.

    Memory: 32 bytes for each pair of a person and a cell, and copies.
    """
    up = 2 * (FINEST_LEVEL - level)
    rows = _fetched(_counts(counting(dataset, version, data_slice), up).iterator(chunk_size=CHUNK_ROWS))
    person, cell, count = _columns(rows)
    return [work(item_records(persons=person, cells=cell << up, counts=count, level=level))]


def _position_sums(found: "QuerySet[CheckIn]") -> Iterator[tuple[int, int, int]]:
    """(check-ins, sum of columns, sum of rows) by person."""
    people = found.values("person", "person_rest").annotate(
        checkins=Count("pk"),
        columns=Cast(Sum(_every_second_bit(0)), BigIntegerField()),
        rows=Cast(Sum(_every_second_bit(1)), BigIntegerField()),
    )
    return people.order_by().values_list("checkins", "columns", "rows").iterator(chunk_size=CHUNK_ROWS)


def _every_second_bit(first: int) -> Combinable:
    """A finest cell's column (from bit 0 of its Morton code on) or row (from bit 1 on)."""
    bits = (F("cell").bitrightshift(bit + first).bitand(1 << bit) for bit in range(FINEST_LEVEL))
    return reduce(add, bits)


def _counts(found: "QuerySet[CheckIn]", up: int) -> "QuerySet[CheckIn, tuple[int, int, int, int]]":
    """Rows (person, rest of the person's hash, cell, check-ins), by aggregation in the database."""
    cells = found.annotate(counted_cell=F("cell").bitrightshift(up))
    counts = cells.values("person", "person_rest", "counted_cell").annotate(checkins=Count("pk")).order_by()
    return counts.values_list("person", "person_rest", "counted_cell", "checkins")


def _fetched(rows: Iterator[tuple[int, int, int, int]]) -> Rows:
    return np.fromiter(rows, _FETCHED).reshape(-1, _FETCHED.shape[0]).view(_ROW).reshape(-1)


def _columns(rows: Rows) -> tuple[Column, Column, Column]:
    """Persons, who are numbered, cells and check-ins."""
    return numbered(rows["person"])[0], rows["cell"], rows["checkins"]


def _of_rectangle(found: "QuerySet[CheckIn]", rectangle: Rectangle, level: int) -> Rows:
    """Rows by the rectangle's own cells of `level`.

    Those do not line up with what the database can shift to: it counts finest cells, and each chunk of
    them is put into the rectangle's cells by columns.
    """
    counted = _counts(found, 0).iterator(chunk_size=CHUNK_ROWS)
    held, waiting = np.zeros(0, _ROW), list[Rows]()
    while (chunk := _fetched(islice(counted, CHUNK_ROWS))).size:
        kept, cells = rectangle.cells(chunk["cell"], level)
        chunk = chunk[kept]
        chunk["cell"] = cells
        waiting.append(chunk)
        if sum(map(len, waiting)) >= max(JOIN_ROWS, len(held)):
            held, waiting = _joined([held, *waiting]), []
    return _joined([held, *waiting])


def _joined(parts: list[Rows]) -> Rows:
    rows = np.concatenate(parts)
    numbers, hashes = numbered(rows["person"])
    number, cells, counts = counts_joined(numbers, rows["cell"], rows["checkins"])
    joined = np.empty(number.size, _ROW)
    joined["person"], joined["cell"], joined["checkins"] = hashes[number], cells, counts
    return joined
