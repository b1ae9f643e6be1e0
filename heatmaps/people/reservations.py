"""Cancels what somebody has reserved who loses a role or an account: nobody waits for its result any more.

Whether a release has begun is read from its public moments, which depend on no data. Rounds of collections
belong to the collection: its other stewards look after them.
"""

from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from heatmaps.ledger import transitions
from heatmaps.ledger.transitions.moves import QUEUED
from heatmaps.models import Release, ReleaseState
from heatmaps.origins import where


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Counts what becomes of the queued releases of somebody who goes."""

    cancelled: int = 0  # or to be cancelled: their charges come back
    begun: int = 0  # these end as they would have
    retained: int = 0  # by the wish of who ends the role or the account


def queued_by(user: User) -> QuerySet[Release]:
    """Selects somebody's queued releases, in all datasets."""
    return Release.objects.filter(where("is_asked", "dataset"), requested_by=user, state__in=QUEUED)


def foreseen(releases: QuerySet[Release]) -> Ending:
    """Counts what would be cancelled by now, and what would not."""
    now = timezone.now()
    waits = [
        state == ReleaseState.RESERVED and starts_at > now
        for state, starts_at in releases.values_list("state", "starts_at")
    ]
    return Ending(cancelled=sum(waits), begun=len(waits) - sum(waits))


def end(actor: User, user: User, dataset_ids: Collection[int], *, keep: bool) -> Ending:
    """Cancels somebody's reservations in these datasets, whose ledgers the caller has locked."""
    releases = queued_by(user).filter(dataset__in=dataset_ids)
    if keep:
        ending = foreseen(releases)
        return Ending(retained=ending.cancelled, begun=ending.begun)
    outcomes = [
        transitions.cancel(release_id, actor=actor)
        for release_id in releases.order_by("dataset", "starts_at").values_list("pk", flat=True)
    ]
    return Ending(cancelled=sum(outcomes), begun=len(outcomes) - sum(outcomes))
