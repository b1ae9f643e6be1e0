"""Reads what waits for a person, and which releases just became visible."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from heatmaps.home.cards import alert_of, pots_of
from heatmaps.ledger.transitions.moves import QUEUED
from heatmaps.models import (
    Dataset,
    Invitation,
    Release,
    ReleaseState,
    Restoration,
    Role,
    SourceSurvey,
    SurveyState,
    Upload,
    UploadState,
)
from heatmaps.people import invitations
from heatmaps.people.permissions import memberships
from heatmaps.record import hold

RECENT: Final = timedelta(days=7)
MOST_FINISHED: Final = 5
MOST_QUEUED: Final = 5
MOST_LOW: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Counts uploads of one dataset that somebody has to look after. Data: for stewards only."""

    dataset: Dataset
    failed: int  # lately, and no file was read since
    ready: int  # that wait for a data version


@dataclass(frozen=True, slots=True, kw_only=True)
class Low:
    """Names a dataset in which a limit or the person's own allowance has run low, or out."""

    dataset: Dataset
    percent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    queued: list[Release]  # one's own, the next first
    more_queued: int
    files: list[Files]
    lakes: list[Dataset]  # data: for stewards only. Whose table could not be read
    restored: list[Dataset]  # that one has to confirm
    low: list[Low]  # the worst first
    more_low: int

    def __bool__(self) -> bool:
        return bool(self.queued or self.files or self.lakes or self.restored or self.low)


def waiting_for(person: User) -> Waiting:
    """Lists what waits for the person in the datasets they are a member of."""
    members = memberships(person).select_related("dataset")
    roles = {member.dataset: member.role for member in members.order_by("dataset__title", "dataset")}
    own = [dataset for dataset, role in roles.items() if role == Role.STEWARD]
    queued, low = _queued(person), _low(person, roles)
    return Waiting(
        queued=list(queued[:MOST_QUEUED]),
        more_queued=max(queued.count() - MOST_QUEUED, 0),
        files=_files(own),
        lakes=_unread(own),
        restored=_restored(own),
        low=low[:MOST_LOW],
        more_low=max(len(low) - MOST_LOW, 0),
    )


def finished_for(person: User) -> QuerySet[Release]:
    """Returns published releases of the person's datasets that became visible lately, the latest first."""
    now = timezone.now()
    published = Release.objects.filter(state=ReleaseState.PUBLISHED, visible_at__range=(now - RECENT, now))
    own = published.filter(dataset__in=memberships(person).values("dataset"))
    return own.select_related("dataset").order_by("-visible_at", "pk")[:MOST_FINISHED]


def waits_for_operator(person: User) -> bool:
    """Returns whether releases wait for an operator, of whatever an administrator or steward looks after."""
    since = hold.waits_since()
    if since is None:
        return False
    queued = Release.objects.filter(state__in=QUEUED, requested_at__lt=since)
    if not person.is_superuser:
        queued = queued.filter(dataset__in=memberships(person).filter(role=Role.STEWARD).values("dataset"))
    return queued.exists()


def open_links() -> QuerySet[Invitation]:
    """Returns invitations to the server that nobody has used yet, for administrators."""
    return invitations.open_invitations(None)


def _queued(person: User) -> QuerySet[Release]:
    datasets = memberships(person).values("dataset")
    own = Release.objects.filter(requested_by=person, dataset__in=datasets)
    return own.filter(state__in=QUEUED).select_related("dataset").order_by("visible_at", "pk")


def _files(datasets: list[Dataset]) -> list[Files]:
    uploads = Upload.objects.filter(dataset__in=datasets)
    read_since = Upload.objects.filter(
        dataset=OuterRef("dataset"), state=UploadState.READY, created_at__gt=OuterRef("created_at")
    )
    lately = Q(state=UploadState.FAILED, created_at__gt=timezone.now() - RECENT)
    failed = _counts(uploads.filter(lately & ~Exists(read_since)))
    ready = _counts(uploads.filter(state=UploadState.READY, version=None))
    return [
        Files(dataset=dataset, failed=failed.get(dataset.pk, 0), ready=ready.get(dataset.pk, 0))
        for dataset in datasets
        if dataset.pk in failed or dataset.pk in ready
    ]


def _unread(datasets: list[Dataset]) -> list[Dataset]:
    failed = SourceSurvey.objects.filter(dataset__in=datasets, state=SurveyState.FAILED)
    pks = set(failed.values_list("pk", flat=True))
    return [dataset for dataset in datasets if dataset.pk in pks]


def _restored(datasets: list[Dataset]) -> list[Dataset]:
    waiting = Restoration.objects.filter(dataset__in=datasets, confirmed_at=None)
    pks = set(waiting.values_list("dataset", flat=True))
    return [dataset for dataset in datasets if dataset.pk in pks]


def _counts(uploads: QuerySet[Upload]) -> dict[int, int]:
    return dict(uploads.order_by().values_list("dataset").annotate(count=Count("pk")))


def _low(person: User, roles: Mapping[Dataset, str]) -> list[Low]:
    pots = pots_of(person, roles, {dataset.pk: role for dataset, role in roles.items()})
    levels = ((dataset, alert_of(pots[dataset.pk])) for dataset in roles if dataset.pk in pots)
    low = [Low(dataset=dataset, percent=percent) for dataset, percent in levels if percent]
    return sorted(low, key=lambda alert: -alert.percent)
