"""Undoes uploads: hidden at once, then deleted block by block, resuming if a worker dies.

Rows of a dataset whose ledger was closed for good go the same way: uploads that a version includes stay
ready, and count what was deleted of them.
"""

from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from heatmaps.ingest import row_copy
from heatmaps.ingest.errors import UploadError
from heatmaps.models import Extent, Upload, UploadState


def withdraw(upload: Upload) -> None:
    """Moves an upload from ready to undone, by one UPDATE that must hit the row; the caller holds the
    ledger's lock.

    Errors: `UploadError`.
    """
    ready = Upload.objects.filter(pk=upload.pk, state=UploadState.READY, version=None)
    if not ready.update(state=UploadState.UNDONE, finished_at=timezone.now(), **_NO_ROWS):
        upload.refresh_from_db()
        raise UploadError("not_undoable", _why_not(upload))


def delete_rows(upload_id: UUID) -> bool:
    """Deletes every row of an upload that is undone or whose dataset is closed; False for any other."""
    if not _gone().filter(pk=upload_id).exists():
        return False
    count = row_copy.DELETE_ROWS
    while count == row_copy.DELETE_ROWS:
        with transaction.atomic():
            # Whoever makes a copy locks the upload at its end, too: so no copy keeps what is deleted here.
            upload = Upload.objects.select_for_update(no_key=True).get(pk=upload_id)
            count = row_copy.delete_some(upload_id)
            if upload.state == UploadState.READY:
                Upload.objects.filter(pk=upload_id).update(rows_expired=F("rows_expired") + count)
    return True


def unfinished() -> list[UUID]:
    """Returns uploads that are to lose all rows and still have some."""
    some_row = Exists(Extent.objects.filter(upload=OuterRef("pk")))
    return list(_gone().filter(some_row).values_list("pk", flat=True))


def _gone() -> "QuerySet[Upload]":
    is_closed = Q(state=UploadState.READY, dataset__ledger__closed_sequence__isnull=False)
    return Upload.objects.filter(Q(state=UploadState.UNDONE) | is_closed)


_NO_ROWS = {"rows_accepted": 0, "rows_rejected": 0, "rows_outside": 0}


def _why_not(upload: Upload) -> str:
    if upload.version is not None:
        return (
            f"data version {upload.version.number} includes this upload and releases may have read it; "
            "it stays. People can still opt out from the next version on"
        )
    return f"only an upload that is ready can be undone; this one is {upload.get_state_display()}"
