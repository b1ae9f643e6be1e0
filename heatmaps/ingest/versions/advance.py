"""Advances data versions: the public steps by which ready uploads become readable.

A dataset's versions advance by a steward's acts, which everybody sees and which may tell when data came
in, or on a public schedule, whatever came in or did not (`heatmaps.ingest.versions.scheduled`): never both.
"""

from datetime import date, datetime
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import F, Max, Sum
from django.utils import timezone

from heatmaps.broker import queue
from heatmaps.ingest.errors import UploadError
from heatmaps.ingest.staging import LEASE_SECONDS, Lease
from heatmaps.ingest.versions import retention
from heatmaps.ledger import transitions, version_commitments
from heatmaps.ledger.events import new_salt
from heatmaps.ledger.facts import kept_from_fact
from heatmaps.ledger.transitions import moves
from heatmaps.models import CheckIn, Dataset, DataVersion, RelationChoice, SourceState, Upload, UploadState
from heatmaps.models.check_in import of_uploads
from heatmaps.numbers import count, moment

COUNTING_SECONDS: Final = 15 * 60  # the lease while the database counts persons
UNDER_WAY: Final = (UploadState.RECEIVED, UploadState.STAGED)


def next_version(
    dataset: Dataset,
    *,
    actor: User | None,
    due_at: datetime | None = None,
    tables: SourceState | None = None,
) -> DataVersion:
    """Makes the next version, with all ready uploads that no version has yet, and without who opted out
    since.

    By a steward, or by nobody at the moment it was due. The event says this, the number and the public day
    from which on check-ins are kept, and commits to what the version holds; nothing else: what came in, or
    was deleted, is data. tables: of a lake, as they were looked at for this dataset.
    """
    with transitions.locked(dataset.pk):
        last = dataset.versions.aggregate(last=Max("number"))["last"] or 0
        version = DataVersion.objects.create(
            dataset=dataset,
            number=last + 1,
            created_by=actor,
            due_at=due_at,
            kept_from=_kept_from(dataset, due_at or timezone.now()),
            salt=new_salt(),
        )
        dataset.uploads.filter(state=UploadState.READY, version=None).update(version=version)
        if tables is not None:
            SourceState.objects.filter(pk=tables.pk, dataset=dataset, version=None).update(version=version)
        after: dict[str, int | str] = {"version": last + 1, **version_commitments.fact(version)}
        if due_at is not None:
            after["due"] = f"{due_at:%Y-%m-%dT%H:%M:%SZ}"
        if version.kept_from is not None:
            after["kept_from"] = kept_from_fact(version)
            queue.send(queue.EXPIRE, str(dataset.pk))
        transitions.record(dataset, moves.VERSION, actor=actor, before={"version": last}, after=after)
    return version


def advance(dataset: Dataset, *, actor: User) -> DataVersion:
    """Makes the next version, by a steward. Errors: `UploadError` where a schedule does it."""
    with transitions.locked(dataset.pk):
        check_unscheduled(dataset)
        return next_version(dataset, actor=actor)


def check_unscheduled(dataset: Dataset) -> None:
    """Refuses scheduled datasets. Errors: `UploadError` where a schedule makes the versions."""
    if due := next_due(dataset):
        raise UploadError(
            "scheduled",
            f"data versions of this dataset advance by themselves, on a public schedule: the next one is "
            f"due at {moment(due)}. To advance out of turn, lift the schedule first, with a "
            "reason that everyone can read in the ledger",
        )


def next_due(dataset: Dataset) -> datetime | None:
    """Returns when the schedule makes the next version, as the database has it; None without a schedule."""
    due: datetime | None = Dataset.objects.values_list("next_version_at", flat=True).get(pk=dataset.pk)
    return due


def _kept_from(dataset: Dataset, moment_of_version: datetime) -> date | None:
    """Returns the rule of that moment, for good: which check-ins the version leaves out."""
    days = Dataset.objects.values_list("retention_days", flat=True).get(pk=dataset.pk)
    return None if days is None else retention.first_day(moment_of_version, days)


def make_visible(upload: Upload, lease: Lease) -> None:
    """Makes the upload ready, and part of the next version if it asked for that, in one short transaction.

    Persons are counted before it, without a lock, and again if another upload became ready meanwhile.
    Errors: `UploadError` when there are more persons than declared.
    """
    done = False
    while not done:
        # Nothing is counted where no number was declared: a worker that dies here is soon found out.
        lease.renew(seconds=LEASE_SECONDS if upload.dataset.persons is None else COUNTING_SECONDS)
        ready_ids = _ready(upload.dataset)
        _check_rows(upload, ready_ids)
        _check_persons(upload, ready_ids)
        done = _step(upload, lease, ready_ids)


def give_up(upload: Upload, lease: Lease, reason: str) -> None:
    """Ends an upload that failed; those sent together with it wait for it no longer."""
    lease.delete_rows()
    with transitions.locked(upload.dataset_id):
        lease.fail(reason)
        if upload.batch is not None:
            _advance_if_asked(upload)


def _step(upload: Upload, lease: Lease, counted_ids: frozenset[UUID]) -> bool:
    with transitions.locked(upload.dataset_id):
        if _ready(upload.dataset) != counted_ids:
            return False
        lease.end()
        _advance_if_asked(upload)
    return True


def _advance_if_asked(upload: Upload) -> None:
    """Makes the next version if the upload asked for it.

    The caller holds the ledger's lock. Files sent together make one version, with the last of them.
    """
    if not upload.advance or next_due(upload.dataset) is not None:
        return
    together = Upload.objects.filter(pk=upload.pk)
    if upload.batch is not None:
        together = Upload.objects.filter(dataset=upload.dataset_id, batch=upload.batch)
    waits_for_others = together.filter(state__in=UNDER_WAY).exists()
    if not waits_for_others and together.filter(state=UploadState.READY, version=None).exists():
        next_version(upload.dataset, actor=upload.uploaded_by)


def _ready(dataset: Dataset) -> frozenset[UUID]:
    return frozenset(dataset.uploads.filter(state=UploadState.READY).values_list("pk", flat=True))


def _check_rows(upload: Upload, ready_ids: frozenset[UUID]) -> None:
    """Refuses more rows than the size class of the dataset, which decides how long a draw may take unseen."""
    uploads = Upload.objects.filter(pk__in=[*ready_ids, upload.pk])
    row_count = F("rows_accepted") - F("rows_expired")
    if upload.dataset.relation == RelationChoice.REPLACE:
        row_count += F("rows_outside")
    rows, most = uploads.aggregate(total=Sum(row_count))["total"] or 0, upload.dataset.row_capacity
    if rows > most:
        raise UploadError(
            "too_many_rows",
            f"with this file the dataset would hold {count(rows)} check-ins, but its size is {count(most)} "
            "at most, chosen when it was created; nothing was stored. Upload to a dataset of a larger size",
        )


def _check_persons(upload: Upload, ready_ids: frozenset[UUID]) -> None:
    declared = upload.dataset.persons
    if declared is None:
        return
    checkins = CheckIn.objects.filter(of_uploads([*ready_ids, upload.pk])).values("person", "person_rest")
    persons = checkins.union(upload.dataset.enrolments.values("person", "person_rest")).count()
    if persons > declared:
        raise UploadError(
            "too_many_persons",
            f"with this file the dataset would have {persons} different users, but {declared} people were "
            "declared when it was created; nothing was stored. Remove the users who are not enrolled",
        )
