"""Data versions: the public steps by which ready uploads come to be read."""

from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Max

from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.staging import Lease
from heatmaps.ledger import transitions
from heatmaps.models import CheckIn, Dataset, DataVersion, Upload, UploadState

COUNTING_SECONDS: Final = 15 * 60  # the lease while the database counts persons


def next_version(dataset: Dataset, *, actor: User) -> DataVersion:
    """The next version, with all ready uploads that no version has yet, and without who opted out since.

    The event says the number and nothing else: what came in is data.
    """
    with transitions.locked(dataset.pk):
        last = dataset.versions.aggregate(last=Max("number"))["last"] or 0
        version = DataVersion.objects.create(dataset=dataset, number=last + 1, created_by=actor)
        dataset.uploads.filter(state=UploadState.READY, version=None).update(version=version)
        dataset.suppressions.filter(version=None).update(version=version)
        transitions.record(
            dataset, transitions.VERSION, actor=actor, before={"version": last}, after={"version": last + 1}
        )
    return version


def make_visible(upload: Upload, lease: Lease) -> None:
    """One short transaction: the upload is ready, and in the next version if it asked for that.

    Persons are counted before it, without a lock, and again if another upload became ready meanwhile.
    Errors: `UploadError` when there are more persons than declared.
    """
    done = False
    while not done:
        lease.renew(seconds=COUNTING_SECONDS)
        others = _ready(upload.dataset)
        _check_persons(upload, others)
        done = _step(upload, lease, others)


def _step(upload: Upload, lease: Lease, counted: frozenset[UUID]) -> bool:
    with transitions.locked(upload.dataset_id):
        if _ready(upload.dataset) != counted:
            return False
        lease.end()
        if upload.advance:
            next_version(upload.dataset, actor=upload.uploaded_by)
    return True


def _ready(dataset: Dataset) -> frozenset[UUID]:
    return frozenset(dataset.uploads.filter(state=UploadState.READY).values_list("pk", flat=True))


def _check_persons(upload: Upload, others: frozenset[UUID]) -> None:
    declared = upload.dataset.persons
    if declared is None:
        return
    checkins = CheckIn.objects.filter(upload__in=[*others, upload.pk])
    found = checkins.values("person").distinct().count()
    if found > declared:
        raise UploadError(
            "too_many_persons",
            f"with this file the dataset would have {found} different users, but {declared} persons were "
            "declared when it was created; nothing was stored. Remove the users who are not enrolled",
        )
