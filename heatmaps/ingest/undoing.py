"""Undoes uploads: hidden at once, then deleted block by block, resuming if a worker dies."""

from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from heatmaps.ingest import row_copy
from heatmaps.ingest.errors import UploadError
from heatmaps.models import CheckIn, Upload, UploadState


def withdraw(upload: Upload) -> None:
    """From ready to undone, by one UPDATE that must hit the row; the caller holds the ledger's lock.

    Errors: `UploadError`.
    """
    ready = Upload.objects.filter(pk=upload.pk, state=UploadState.READY, version=None)
    if not ready.update(state=UploadState.UNDONE, finished_at=timezone.now(), **_NO_ROWS):
        upload.refresh_from_db()
        raise UploadError("not_undoable", _why_not(upload))


def delete_rows(upload_id: UUID) -> None:
    """Every row of an undone upload; nothing of any other."""
    if not Upload.objects.filter(pk=upload_id, state=UploadState.UNDONE).exists():
        return
    deleted = row_copy.DELETE_ROWS
    while deleted == row_copy.DELETE_ROWS:
        with transaction.atomic():
            deleted = row_copy.delete_some(upload_id)


def unfinished() -> list[UUID]:
    """Undone uploads that still have rows."""
    some_row = Exists(CheckIn.objects.filter(upload=OuterRef("pk")))
    return list(Upload.objects.filter(some_row, state=UploadState.UNDONE).values_list("pk", flat=True))


_NO_ROWS = {"rows_accepted": 0, "rows_rejected": 0, "rows_outside": 0}


def _why_not(upload: Upload) -> str:
    if upload.version is not None:
        return (
            f"data version {upload.version.number} includes this upload and releases may have read it; "
            "it stays. People can still opt out from the next version on"
        )
    return f"only an upload that is ready can be undone; this one is {upload.get_state_display()}"
