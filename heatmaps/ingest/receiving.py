"""Receives files: each onto disk, then all into the database in one transaction."""

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from heatmaps.broker import queue
from heatmaps.ingest import upload_files
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.options import Options
from heatmaps.models import Dataset, Upload, UploadState
from heatmaps.numbers import day
from heatmaps.pseudonyms import keys

DUPLICATE: Final = "duplicate_upload"
MOST_FILES: Final = 100  # sent together

NamedFile = tuple[upload_files.Readable, str]  # a file and its name
Receipt = Upload | UploadError  # an upload, or why its file was not taken


def receive(
    steward: User,
    dataset: Dataset,
    files: Sequence[NamedFile],
    *,
    advance: bool,
    options: Options,
    enqueue: bool,
) -> list[Receipt]:
    """Returns each file's upload or why it was refused, in their order; the others are taken all the same.

    Errors: `keys.KeyFileError`, before any file is read; those of the disk and of the database, after which
    nothing is stored.
    """
    key = keys.load(dataset)
    batch = uuid4() if len(files) > 1 else None
    receipts: list[Receipt] = []
    try:
        for file, name in files:
            upload = Upload(
                id=uuid4(),
                dataset=dataset,
                uploaded_by=steward,
                file_name=upload_files.shown_name(name),
                advance=advance,
                batch=batch,
                options=options.to_json(),
            )
            receipts.append(_on_disk(upload, file, key))
        with transaction.atomic():
            rows = [
                _saved(receipt, enqueue=enqueue) if isinstance(receipt, Upload) else receipt
                for receipt in receipts
            ]
    except BaseException:
        _forget(receipt.pk for receipt in receipts if isinstance(receipt, Upload))
        raise
    _forget(
        receipt.pk
        for receipt, row in zip(receipts, rows, strict=True)
        if isinstance(receipt, Upload) and row is not receipt
    )
    return rows


def _on_disk(upload: Upload, file: upload_files.Readable, key: bytes) -> Receipt:
    try:
        stored_file = upload_files.store(file, upload.pk, key)
    except UploadError as refusal:
        return refusal
    upload.size_bytes, upload.content_digest = stored_file.size_bytes, stored_file.content_digest
    return upload


def _saved(upload: Upload, *, enqueue: bool) -> Receipt:
    try:
        with transaction.atomic():
            upload.save(force_insert=True)
    except IntegrityError:
        if first := _same_file(upload):
            return _duplicate(first)
        raise
    if enqueue:
        queue.send(queue.INGEST, str(upload.pk))
    return upload


def _forget(upload_ids: Iterable[UUID]) -> None:
    for upload_id in upload_ids:
        upload_files.remove(upload_id)


def _same_file(upload: Upload) -> Upload | None:
    gone = (UploadState.FAILED, UploadState.UNDONE)
    duplicates = Upload.objects.exclude(state__in=gone).exclude(pk=upload.pk)
    return duplicates.filter(dataset=upload.dataset, content_digest=upload.content_digest).first()


def _duplicate(first: Upload) -> UploadError:
    return UploadError(
        DUPLICATE,
        f"this file is already in the dataset: it was uploaded as {first.file_name} on "
        f"{day(first.created_at)}. Nothing was stored twice",
    )
