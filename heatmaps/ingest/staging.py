"""Moves an upload between its states, each by one UPDATE that must hit exactly one row.

| move | from | to | who |
| --- | --- | --- | --- |
| claim | received | staged | one worker, for as long as it renews its lease |
| end | staged | ready | that worker, in the transaction that makes the rows visible |
| fail | staged | failed | that worker, after every row is deleted |
| take_over | staged | staged | the sweep, once the lease ran out |
| hand_back | staged | received | the sweep, after every row is deleted |

The moment a lease ends is also what tells two holders apart: whoever lost it finds no row to update, in the
transaction that would have written, and stops. So no chunk is ever written twice.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from heatmaps.ingest import row_copy
from heatmaps.ingest.errors import LeaseLost
from heatmaps.models import Upload, UploadState

LEASE_SECONDS: Final = 60  # renewed with every chunk, a second or so apart


@dataclass(slots=True, kw_only=True)
class Lease:
    """Gives the right to write under one staged upload; every call raises `LeaseLost` once it is gone."""

    upload_id: UUID
    until: datetime

    @contextmanager
    def renewed(self, *, seconds: float = LEASE_SECONDS, **columns: object) -> Iterator[None]:
        """Opens a transaction that keeps the upload and sets columns; what is written in it is committed with
        that or not at all."""
        until = max(_after(seconds), self.until + timedelta(microseconds=1))
        with transaction.atomic():
            self._update(lease_until=until, **columns)
            yield
        self.until = until  # not before the commit: after a rollback the old lease is the valid one

    def renew(self, *, seconds: float = LEASE_SECONDS) -> None:
        """Keeps the upload for a while."""
        with self.renewed(seconds=seconds):
            pass

    def end(self) -> None:
        """Makes the upload ready, in the caller's transaction."""
        self._finish(UploadState.READY)

    def fail(self, reason: str) -> None:
        """Deletes every row, then says why. `reason` is shown to the steward."""
        self.delete_rows()
        self._finish(UploadState.FAILED, failure=reason, rows_accepted=0, rows_outside=0)

    def hand_back(self) -> None:
        """Deletes every row; the next worker begins anew."""
        self.delete_rows()
        self._update(state=UploadState.RECEIVED, lease_until=None, bytes_read=0, **_NO_ROWS)

    def _finish(self, state: UploadState, **columns: object) -> None:
        self._update(state=state, lease_until=None, finished_at=timezone.now(), **columns)

    def delete_rows(self) -> None:
        """Deletes every row, block by block, each in a transaction of its own."""
        count = row_copy.DELETE_ROWS
        while count == row_copy.DELETE_ROWS:
            with self.renewed():
                count = row_copy.delete_some(self.upload_id)

    def _update(self, **columns: object) -> None:
        rows = Upload.objects.filter(pk=self.upload_id, state=UploadState.STAGED, lease_until=self.until)
        if rows.update(**columns) != 1:
            raise LeaseLost


def claim(upload_id: UUID) -> Lease | None:
    """Takes the lease of a received upload; None for all but one caller."""
    until = _after(LEASE_SECONDS)
    rows = Upload.objects.filter(pk=upload_id, state=UploadState.RECEIVED)
    count = rows.update(state=UploadState.STAGED, lease_until=until, bytes_read=0, **_NO_ROWS)
    return Lease(upload_id=upload_id, until=until) if count else None


def take_over(upload: Upload) -> Lease | None:
    """Takes the lease of a staged upload whose worker is dead; None when it lives, or another sweep was
    faster."""
    if upload.lease_until is None or upload.lease_until > timezone.now():
        return None
    lease = Lease(upload_id=upload.pk, until=upload.lease_until)
    try:
        lease.renew()
    except LeaseLost:
        return None
    return lease


_NO_ROWS = {"rows_accepted": 0, "rows_rejected": 0, "rows_outside": 0, "names_alike": 0}


def _after(seconds: float) -> datetime:
    return timezone.now() + timedelta(seconds=seconds)
