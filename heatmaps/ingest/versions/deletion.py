"""Deletes check-ins older than a dataset's retention.

A data version leaves them out from the moment it is made (`heatmaps.ingest.versions.retention`), for good;
deleting what nobody can read any more follows block by block, each in a transaction, and is taken up again by
the sweep after whatever happened. A queued release reads the version it was reserved on, so rows wait for the
oldest such version: for as long as a reservation and a draw take. Under REPLACE whoever loses check-ins stays
enrolled: a keyed entry remembers the person, so that nobody else takes the place.
"""

from collections.abc import Iterator
from datetime import date
from typing import Final

from django.db import transaction
from django.db.models import F, Max, Min, Q, QuerySet

from heatmaps.broker import queue
from heatmaps.ingest.versions import retention
from heatmaps.ledger.transitions.moves import QUEUED
from heatmaps.models import CheckIn, DataVersion, Enrolment, PackedCheckIns, Release, Upload, UploadState

BLOCK: Final = 50_000  # row numbers looked through in one transaction, so that no lock is held for long
NOTHING_LEFT: Final = date.max  # in place of the day from which on an upload's rows are kept


def delete_rows(dataset_id: int) -> None:
    """Deletes every row that no version has which anybody still reads.

    May be called again, and beside itself.
    """
    version = _oldest_read(dataset_id)
    if version is None:
        return
    for step in retention.steps(version):
        if step.day is not None:
            for upload in _with_older_rows(dataset_id, step):
                _delete(upload, step.day)
    done = DataVersion.objects.filter(dataset=dataset_id, number__lte=version.number, kept_from__isnull=False)
    done.filter(is_cleared=False).update(is_cleared=True)


def sweep() -> None:
    """Sends datasets to the workers again from which something may be left to delete."""
    versions = DataVersion.objects.filter(kept_from__isnull=False, is_cleared=False).order_by("dataset")
    for dataset_id in versions.values_list("dataset", flat=True).distinct():
        queue.send(queue.EXPIRE, str(dataset_id))


def _oldest_read(dataset_id: int) -> DataVersion | None:
    """Returns the latest version, or an earlier one that a queued release was reserved on.

    In this order: reservations on earlier versions than the latest were committed before it was made.
    """
    latest = DataVersion.objects.filter(dataset=dataset_id).order_by("-number").first()
    releases = Release.objects.filter(dataset=dataset_id, state__in=QUEUED)
    bound = releases.order_by("version__number").select_related("version").first()
    if latest is None or bound is None or bound.version.number > latest.number:
        return latest
    return bound.version


def _with_older_rows(dataset_id: int, step: retention.Step) -> "QuerySet[Upload]":
    """Selects uploads of which rows from before the step's day may be left."""
    uploads = Upload.objects.filter(dataset=dataset_id, state=UploadState.READY).select_related("dataset")
    is_left = Q(kept_from=None) | Q(kept_from__lt=step.day)
    return step.among(uploads).filter(is_left).order_by("pk")


def _delete(upload: Upload, day: date) -> None:
    for rows in _blocks(upload, day):
        with transaction.atomic():
            _delete_block(upload, rows)
    is_empty = upload.created_at < retention.midnight(day)
    if is_empty:
        upload.extents.all().delete()
    Upload.objects.filter(pk=upload.pk).update(kept_from=NOTHING_LEFT if is_empty else day)


def _delete_block(upload: Upload, rows: "QuerySet[CheckIn]") -> None:
    if upload.dataset.persons is not None:
        persons = rows.order_by().values("person", "person_rest").distinct()
        entries = (Enrolment(dataset=upload.dataset, **person) for person in persons)
        Enrolment.objects.bulk_create(entries, batch_size=1000, ignore_conflicts=True)
    count, _ = rows.delete()
    # First the upload, which whoever makes a copy locks at its end: so no copy keeps what is deleted here.
    Upload.objects.filter(pk=upload.pk).update(rows_expired=F("rows_expired") + count)
    PackedCheckIns.objects.filter(upload=upload).delete()


def _blocks(upload: Upload, day: date) -> "Iterator[QuerySet[CheckIn]]":
    """Yields parts of the expired rows by their keys: looked through once, however many there are."""
    ends = retention.expired(upload, day).aggregate(first=Min("pk"), last=Max("pk"))
    if ends["first"] is not None:
        for first in range(ends["first"], ends["last"] + 1, BLOCK):
            yield retention.expired(upload, day, first=first, last=first + BLOCK - 1)
