"""From SQLite: the database sums check-ins by person, numpy goes on with the sums."""

from collections.abc import Iterator
from functools import reduce
from itertools import islice
from operator import add
from typing import Final

import numpy as np
from django.db.models import BigIntegerField, Count, F, QuerySet, Sum
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast
from numpy.typing import NDArray

from heatmaps.masses.selection import Share, counting, inside
from heatmaps.models import CheckIn, Dataset, DataVersion
from heatmaps.slices import Slice
from mechanisms.grid import FINEST_LEVEL
from mechanisms.interface import MassMap
from mechanisms.item_records import ItemRecords
from mechanisms.part import Part
from mechanisms.records import MeanSums, counts_joined, item_records, masses_from_counts, mean_sums

CHUNK_ROWS: Final = 20_000  # fetched at once from the database
JOIN_ROWS: Final = 1_000_000  # of a part's rows, held before those of equal person and cell are made one
_ROW = np.dtype((np.int64, 3))

Rows = NDArray[np.int64]  # (k, 3): person, cell, check-ins


def masses(
    dataset: Dataset, version: DataVersion, asked: Slice, share: Share, *, level: int, unit: int
) -> MassMap:
    """As `heatmaps.masses.read`."""
    up = 2 * (FINEST_LEVEL - level)
    found = inside(dataset, version, asked, share)
    if asked.part is None:
        rows = _fetched(_counts(found, up).iterator(chunk_size=CHUNK_ROWS))
    else:
        rows = _of_part(found, asked.part, level)
    # Any finest cell below the counted one stands for it.
    return masses_from_counts(rows[:, 0], rows[:, 1] << up, rows[:, 2], level=level, unit=unit)


def means(dataset: Dataset, version: DataVersion, asked: Slice, share: Share) -> MeanSums:
    """As `mechanisms.records.mean_sums`, of the persons with check-ins. Memory: 32 bytes a person.

    The database sums columns and rows of finest cells by person.
    """
    rows = _fetched(_position_sums(counting(dataset, version, asked, share)))
    return mean_sums(counts=rows[:, 0], columns=rows[:, 1], rows=rows[:, 2])


def items(dataset: Dataset, version: DataVersion, asked: Slice, share: Share, *, level: int) -> ItemRecords:
    """As `heatmaps.masses.read_items`. Memory: 24 bytes for each pair of a person and a cell, and copies."""
    up = 2 * (FINEST_LEVEL - level)
    rows = _fetched(_counts(counting(dataset, version, asked, share), up).iterator(chunk_size=CHUNK_ROWS))
    return item_records(persons=rows[:, 0], cells=rows[:, 1] << up, counts=rows[:, 2], level=level)


def _position_sums(found: "QuerySet[CheckIn]") -> Iterator[tuple[int, int, int]]:
    """(check-ins, sum of columns, sum of rows) by person."""
    people = found.values("person").annotate(
        checkins=Count("pk"),
        columns=Cast(Sum(_every_second_bit(0)), BigIntegerField()),
        rows=Cast(Sum(_every_second_bit(1)), BigIntegerField()),
    )
    return people.order_by().values_list("checkins", "columns", "rows").iterator(chunk_size=CHUNK_ROWS)


def _every_second_bit(first: int) -> Combinable:
    """A finest cell's column (from bit 0 of its Morton code on) or row (from bit 1 on)."""
    bits = (F("cell").bitrightshift(bit + first).bitand(1 << bit) for bit in range(FINEST_LEVEL))
    return reduce(add, bits)


def _counts(found: "QuerySet[CheckIn]", up: int) -> "QuerySet[CheckIn, tuple[int, int, int]]":
    """Rows (person, cell, check-ins), by aggregation in the database."""
    cells = found.annotate(counted_cell=F("cell").bitrightshift(up)).values("person", "counted_cell")
    return cells.annotate(checkins=Count("pk")).order_by().values_list("person", "counted_cell", "checkins")


def _fetched(rows: Iterator[tuple[int, int, int]]) -> Rows:
    return np.fromiter(rows, _ROW)


def _of_part(found: "QuerySet[CheckIn]", part: Part, level: int) -> Rows:
    """Rows by the part's own cells of `level`.

    Those do not line up with what the database can shift to: it counts finest cells, and each chunk of
    them is put into the part's cells by columns.
    """
    counted = _counts(found, 0).iterator(chunk_size=CHUNK_ROWS)
    held, waiting = np.zeros((0, 3), np.int64), list[Rows]()
    while (chunk := _fetched(islice(counted, CHUNK_ROWS))).size:
        kept, cells = part.cells(chunk[:, 1], level)
        waiting.append(np.column_stack((chunk[kept, 0], cells, chunk[kept, 2])))
        if sum(map(len, waiting)) >= max(JOIN_ROWS, len(held)):
            held, waiting = _joined([held, *waiting]), []
    return _joined([held, *waiting])


def _joined(parts: list[Rows]) -> Rows:
    rows = np.concatenate(parts)
    return np.column_stack(counts_joined(rows[:, 0], rows[:, 1], rows[:, 2]))
