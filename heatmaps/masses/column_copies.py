"""Copies uploads of many check-ins in columns (`heatmaps.masses.packed_columns`), on PostgreSQL.

A copy says what the rows say, and releases say the same with it as without, only sooner. So it may come when
it likes: after an upload is ready, and again by the sweep, whoever died meanwhile. One transaction writes all
of it. Rows that are deleted take the copy along (`heatmaps.ingest.row_copy`); what was read for a copy and is
no longer so at its end is not stored.
"""

from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from itertools import takewhile
from typing import ClassVar, Final
from uuid import UUID

import numpy as np
import psycopg
from django.core.exceptions import EmptyResultSet
from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from heatmaps.broker import queue
from heatmaps.masses.packed_columns import NO_TIME, packed
from heatmaps.models import CheckIn, PackedCheckIns, PackingAttempts, Upload, UploadState
from heatmaps.models.check_in import of_uploads
from heatmaps.models.packed import SLOTS
from heatmaps.people.permissions import Act, Person, require
from heatmaps.pseudonyms.person_hashes import WITHOUT_SIGN, persons_of

LEAST_CHECKINS: Final = 100_000  # fewer are read from their rows in no time
MOST_CHECKINS: Final = 500_000_000  # of which a slot is 8 million; about 150 bytes each while it is packed
MOST_ATTEMPTS: Final = 5
FIRST_PAUSE: Final = timedelta(minutes=10)  # after the first attempt; each one later is twice as long


class CopyState(StrEnum):
    """Says how far an upload's copy is. Data, as it tells how many check-ins there are: for stewards only."""

    NONE = "none"  # not ready, too small or too large to be worth one, or on SQLite
    WAITING = "waiting"  # not begun, being made, or to be tried again
    MADE = "made"
    GIVEN_UP = "given_up"  # every attempt failed


class NotGivenUp(Exception):  # noqa: N818 - as the refusals of the ledger
    """Says that there is nothing to try again."""

    code: ClassVar[str] = "copy_not_given_up"

    def __init__(self) -> None:
        super().__init__("only a copy that failed for good can be tried again")


def pack(upload_id: UUID) -> None:
    """Copies the check-ins of a ready upload, if it is worth it, was not done, and did not fail too often.

    Safe to call at any time. Errors: those of the database, after which the sweep sends it again.
    """
    upload = _due().filter(pk=upload_id).first()
    if upload is None or not _is_counted(upload_id):
        return
    with transaction.atomic():
        if _is_mine(upload_id) and not PackedCheckIns.objects.filter(upload=upload).exists():
            for slot, content in _slots(upload_id):
                _store(upload_id, slot, content)
            PackingAttempts.objects.filter(pk=upload_id).delete()
            if not _is_unchanged(upload):
                transaction.set_rollback(True)


def sweep() -> None:
    """Sends uploads to the workers that have no copy yet."""
    for upload_id in _due().values_list("pk", flat=True):
        queue.send(queue.INGEST, str(upload_id))


def is_given_up(upload: Upload) -> bool:
    """Tells whether every attempt at a copy that is still worth it has failed."""
    packing: PackingAttempts | None = getattr(upload, "packing", None)
    ended = packing is not None and packing.attempts >= MOST_ATTEMPTS and packing.next_at <= timezone.now()
    return ended and _is_worth_it(upload)


def copy_state(upload: Upload) -> CopyState:
    """Returns the state of an upload's copy."""
    if is_given_up(upload):
        return CopyState.GIVEN_UP
    if connection.vendor != "postgresql" or not _is_worth_it(upload):
        return CopyState.NONE
    has_copy = PackedCheckIns.objects.filter(upload=upload).exists()
    return CopyState.MADE if has_copy else CopyState.WAITING


def try_again(person: Person, upload: Upload) -> None:
    """Forgets the attempts at a copy that was given up, and sends it to the workers.

    One UPDATE must hit the row, so of two who ask at once one is refused.
    Errors: as `permissions.require`; `NotGivenUp`.
    """
    require(person, upload.dataset, Act.UPLOAD)
    now = timezone.now()
    attempts = PackingAttempts.objects.filter(pk=upload.pk, upload__in=_worth_it())
    if not attempts.filter(attempts__gte=MOST_ATTEMPTS, next_at__lte=now).update(attempts=0, next_at=now):
        raise NotGivenUp
    queue.send(queue.INGEST, str(upload.pk))


_ROW: Final = np.dtype(
    [("person", ">i8"), ("rest", ">i8"), ("cell", ">i8"), ("time", ">i8"), ("outside", "?")]
)
_COLUMNS: Final = ("person", "person_rest", "cell", "time", "outside")
_TABLE: Final = PackedCheckIns._meta.db_table
# One value a slot, as in `heatmaps.masses.postgresql`; the server sorts rows by slot, on disk if they are
# many.
_GATHERED: Final = f"""
    SELECT slot, string_agg(
        int8send(person) || int8send(person_rest) || int8send(cell) || int8send(time) || boolsend(outside), ''
    )
    FROM (
        SELECT (person & {WITHOUT_SIGN}) %% {SLOTS} AS slot, person, person_rest, cell,
            coalesce(time, {NO_TIME}) AS time, outside
        FROM ({{}}) AS rows_of_upload
    ) AS checkins
    GROUP BY slot ORDER BY slot
"""  # noqa: S608  # constants
_INSERT: Final = f"""
    INSERT INTO {_TABLE} (upload_id, slot, persons, lengths, cells, times, outside)
    VALUES (%(upload)s, %(slot)s, %(persons)b, %(lengths)b, %(cells)b, %(times)b, %(outside)b)
"""  # noqa: S608  # constants


def _is_worth_it(upload: Upload) -> bool:
    left = upload.rows_accepted - upload.rows_expired
    return upload.state == UploadState.READY and LEAST_CHECKINS <= left <= MOST_CHECKINS


def _worth_it() -> "QuerySet[Upload]":
    ready = Upload.objects.filter(state=UploadState.READY).alias(left=F("rows_accepted") - F("rows_expired"))
    return ready.filter(left__gte=LEAST_CHECKINS, left__lte=MOST_CHECKINS)


def _unpacked() -> "QuerySet[Upload]":
    """Returns uploads that are worth a copy and have none; on SQLite, which aggregates by itself, none."""
    if connection.vendor != "postgresql":
        return Upload.objects.none()
    return _worth_it().filter(~Exists(PackedCheckIns.objects.filter(upload=OuterRef("pk"))))


def _due() -> "QuerySet[Upload]":
    """Returns those of them that were not tried, or may be tried again by now."""
    again = Q(packing__attempts__lt=MOST_ATTEMPTS, packing__next_at__lte=timezone.now())
    return _unpacked().filter(Q(packing=None) | again)


def _is_counted(upload_id: UUID) -> bool:
    """Counts an attempt before it is made; False when another has just begun one."""
    now = timezone.now()
    with transaction.atomic():
        if not _is_mine(upload_id):
            return False
        packing, _ = PackingAttempts.objects.get_or_create(upload_id=upload_id, defaults={"next_at": now})
        if packing.next_at > now:
            return False
        packing.attempts, packing.next_at = packing.attempts + 1, now + FIRST_PAUSE * 2**packing.attempts
        packing.save()
    return True


def _is_mine(upload_id: UUID) -> bool:
    """Tells whether this process packs it, of all that would at this moment."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [upload_id.int >> 65])
        return bool(cursor.fetchone()[0])


def _slots(upload_id: UUID) -> Iterator[tuple[int, bytes]]:
    """Yields the rows of each slot, those without any included: an upload that has one slot has all."""
    slots = iter(range(SLOTS))
    for slot, content in _gathered(upload_id):
        yield from ((empty, b"") for empty in takewhile(slot.__ne__, slots))
        yield slot, content
    yield from ((empty, b"") for empty in slots)


def _gathered(upload_id: UUID) -> Iterator[tuple[int, bytes]]:
    checkins = CheckIn.objects.filter(of_uploads([upload_id])).values(*_COLUMNS)
    try:
        rows, parameters = checkins.query.sql_with_params()
    except EmptyResultSet:  # all of them were deleted meanwhile
        return
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_hashagg TO off")  # it would hold every slot in memory
    with (
        connection.wrap_database_errors,
        psycopg.ServerCursor(connection.connection, "checkins_to_pack", withhold=False) as cursor,
    ):
        cursor.itersize = 1  # value in memory at once
        yield from cursor.execute(_GATHERED.format(rows), parameters, binary=True)


def _store(upload_id: UUID, slot: int, content: bytes) -> None:
    rows = np.frombuffer(content, _ROW)
    first, rest, cell, time = (rows[name].astype(np.int64) for name in ("person", "rest", "cell", "time"))
    columns = packed(persons_of(first, rest), cell, time, rows["outside"])
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(_INSERT, {"upload": upload_id, "slot": slot} | columns)


def _is_unchanged(upload: Upload) -> bool:
    """Tells whether no rows were deleted meanwhile; locks the upload."""
    # Whoever deletes rows does it before, which is seen here, or deletes the copy, too.
    same = Upload.objects.filter(pk=upload.pk, state=UploadState.READY, rows_expired=upload.rows_expired)
    return same.select_for_update(no_key=True).first() is not None
