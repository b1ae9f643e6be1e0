"""Copies check-ins into and out of the database in blocks: COPY on PostgreSQL, batches on SQLite.

Never model objects: a block is a handful of numpy columns from the file to the driver.
"""

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import Exists, Max, OuterRef
from numpy.typing import NDArray

from heatmaps.ingest.formats.reader import NO_TIME
from heatmaps.models import CheckIn, Extent, PackedCheckIns
from heatmaps.models.check_in import of_uploads
from heatmaps.pseudonyms.person_hashes import PERSON, Persons

DELETE_ROWS: Final = 50_000  # a statement, so that no lock is held for long


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Block:
    """Holds columns of check-ins, all of shape `(k,)`."""

    persons: Persons  # keyed hashes
    cells: NDArray[np.int64]  # Morton codes at the finest level
    times: NDArray[np.int64]  # epoch seconds; NO_TIME is stored as NULL
    outside: NDArray[np.bool_]  # clamped to the region's border


def insert(upload_id: UUID, block: Block) -> None:
    """Writes a block under an upload, in the caller's transaction.

    That holds SQLite's one lock for writing. On PostgreSQL keys only grow, and others may write meanwhile:
    what they wrote is at worst between the keys of the extent, too.
    """
    if not block.cells.size:
        return
    before = _last_key()
    extent = Extent.objects.filter(upload=upload_id, last=before).first()
    if extent is None:
        extent = Extent.objects.create(upload_id=upload_id, first=before + 1, last=before + block.cells.size)
    if connection.vendor == "postgresql":
        _copy(extent.pk, block)
    else:
        _execute_many(extent.pk, block)
    Extent.objects.filter(pk=extent.pk).update(last=_last_key())


def delete_some(upload_id: UUID) -> int:
    """Deletes up to `DELETE_ROWS` rows of an upload, and their copy; returns how many rows were deleted."""
    PackedCheckIns.objects.filter(upload=upload_id).delete()
    row_ids = CheckIn.objects.filter(of_uploads([upload_id])).order_by("pk").values("pk")[:DELETE_ROWS]
    count, _ = CheckIn.objects.filter(pk__in=row_ids).delete()
    if count < DELETE_ROWS:
        Extent.objects.filter(upload=upload_id).delete()
    return count


def without_upload() -> int:
    """Counts check-ins that belong to no upload: none, unless somebody wrote into the database by hand."""
    extents = Extent.objects.filter(
        pk=OuterRef("extent"), first__lte=OuterRef("pk"), last__gte=OuterRef("pk")
    )
    return CheckIn.objects.filter(~Exists(extents)).count()


def _last_key() -> int:
    return CheckIn.objects.aggregate(last=Max("pk"))["last"] or 0


_TABLE = CheckIn._meta.db_table
_COLUMNS = "person, person_rest, cell, time, extent_id, outside"
_FIELDS: Final = 5  # of a row that differ from those of other rows
# A statement of SQLite's costs several times what a row does.
_ROWS_A_STATEMENT: Final = 100
_ROWS_AT_ONCE: Final = 100 * _ROWS_A_STATEMENT  # as Python's integers, which take five times the memory


def _execute_many(extent: int, block: Block) -> None:
    persons = (block.persons[name] for name in PERSON.names or ())
    rows = np.column_stack((*persons, block.cells, block.times, block.outside))
    whole = len(rows) - len(rows) % _ROWS_A_STATEMENT
    with connection.cursor() as cursor:
        for start in range(0, whole, _ROWS_AT_ONCE):
            part = rows[start : min(start + _ROWS_AT_ONCE, whole)].reshape(-1, _ROWS_A_STATEMENT * _FIELDS)
            cursor.executemany(_insert(extent, _ROWS_A_STATEMENT), part.tolist())
        if whole < len(rows):
            cursor.execute(_insert(extent, len(rows) - whole), rows[whole:].ravel().tolist())


def _insert(extent: int, size: int) -> str:
    row = f"(%s, %s, %s, nullif(%s, {NO_TIME}), {extent}, %s)"
    return f"INSERT INTO {_TABLE} ({_COLUMNS}) VALUES {', '.join([row] * size)}"  # noqa: S608  # integers


# PostgreSQL's binary COPY format: a row is its number of fields, then each field's length in bytes and its
# content, big-endian. https://www.postgresql.org/docs/current/sql-copy.html ("Binary Format")
_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER = b"\xff\xff"
_ROW = [
    ("fields", ">i2"),
    ("person_bytes", ">i4"),
    ("person", ">i8"),
    ("rest_bytes", ">i4"),
    ("rest", ">i8"),
    ("cell_bytes", ">i4"),
    ("cell", ">i8"),
    ("time_bytes", ">i4"),
]
_TIME = [("time", ">i8")]
_REST = [("extent_bytes", ">i4"), ("extent", ">i4"), ("outside_bytes", ">i4"), ("outside", "u1")]


def _copy(extent: int, block: Block) -> None:
    has_time = block.times != NO_TIME
    # The cursor is psycopg's own below Django's wrapper; COPY takes no parameters.
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {_TABLE} ({_COLUMNS}) FROM STDIN (FORMAT BINARY)") as copy,
    ):
        copy.write(_HEADER)
        copy.write(_binary(extent, block, has_time))
        copy.write(_binary(extent, block, ~has_time))
        copy.write(_TRAILER)


def _binary(extent: int, block: Block, selection: NDArray[np.bool_]) -> bytes:
    """Packs the selected rows, of which either all or none have a time: rows of one width."""
    has_time = bool((block.times[selection] != NO_TIME).all())
    rows: NDArray[Any] = np.zeros(int(selection.sum()), np.dtype(_ROW + (_TIME if has_time else []) + _REST))
    rows["fields"] = 6
    persons = block.persons[selection]
    rows["person_bytes"], rows["person"] = 8, persons["person"]
    rows["rest_bytes"], rows["rest"] = 8, persons["person_rest"]
    rows["cell_bytes"], rows["cell"] = 8, block.cells[selection]
    rows["time_bytes"] = 8 if has_time else -1
    if has_time:
        rows["time"] = block.times[selection]
    rows["extent_bytes"], rows["extent"] = 4, extent
    rows["outside_bytes"], rows["outside"] = 1, block.outside[selection]
    return rows.tobytes()
