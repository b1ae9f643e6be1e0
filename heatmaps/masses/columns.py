"""From PostgreSQL: two columns of check-ins in one value, summed in columnar memory.

A value holds up to 1 GB, 64 million check-ins: shares are far smaller (`HAZEMAP_ROWS_PER_SHARD`).
"""

from typing import Final

import numpy as np
import psycopg
import pyarrow as pa
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet
from numpy.typing import NDArray

from heatmaps.masses.selection import Share, counting, inside
from heatmaps.models import CheckIn, Dataset, DataVersion
from heatmaps.slices import Slice
from mechanisms import records
from mechanisms.grid import FINEST_LEVEL
from mechanisms.interface import MassMap
from mechanisms.item_records import ItemRecords
from mechanisms.records import MeanSums

Column = NDArray[np.int64]

# One value instead of a row each: a row's own message costs the client ten times what its numbers do.
_GATHERED: Final = "SELECT string_agg(int8send(person) || int8send(cell), '') FROM ({}) AS checkins"


def masses(
    dataset: Dataset, version: DataVersion, asked: Slice, share: Share, *, level: int, unit: int
) -> MassMap:
    """As `heatmaps.masses.read`."""
    persons, cells = _read(inside(dataset, version, asked, share))
    if asked.part is not None:
        kept, own = asked.part.cells(cells, level)
        # Any finest cell below the counted one stands for it.
        persons, cells = persons[kept], own << 2 * (FINEST_LEVEL - level)
    return records.masses_of_numbered(numbers=_numbered(persons), cells=cells, level=level, unit=unit)


def means(dataset: Dataset, version: DataVersion, asked: Slice, share: Share) -> MeanSums:
    """As `mechanisms.records.mean_sums`, of the persons with check-ins."""
    persons, cells = _read(counting(dataset, version, asked, share))
    counts, columns, rows = records.position_sums(persons, cells)
    return records.mean_sums(counts=counts, columns=columns, rows=rows)


def items(dataset: Dataset, version: DataVersion, asked: Slice, share: Share, *, level: int) -> ItemRecords:
    """As `heatmaps.masses.read_items`."""
    persons, cells = _read(counting(dataset, version, asked, share))
    return records.item_records(
        persons=_numbered(persons), cells=cells, counts=np.ones_like(cells), level=level
    )


def _numbered(persons: Column) -> Column:
    """(r,) numbers from 0 on, in place of hashes: short, so that one with a cell fits one integer."""
    # By a table of hashes, in half the time that sorting takes.
    array = pa.Array.from_buffers(pa.int64(), persons.size, [None, pa.py_buffer(persons)])
    numbers: Column = array.dictionary_encode().indices.to_numpy().astype(np.int64)
    return numbers


def _read(found: "QuerySet[CheckIn]") -> tuple[Column, Column]:
    """Persons and cells, (r,) each, in any order."""
    try:
        rows, parameters = found.order_by().values("person", "cell").query.sql_with_params()
    except EmptyResultSet:  # no uploads at all
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    connection.ensure_connection()
    # psycopg's own cursor: as bytes, neither as text nor as objects, which Django's cannot.
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(_GATHERED.format(rows), parameters, binary=True)
        content = b"" if cursor.pgresult is None else cursor.pgresult.get_value(0, 0) or b""
    pairs = np.frombuffer(content, ">i8").reshape(-1, 2)
    return pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)
