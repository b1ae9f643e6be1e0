"""Delays queued releases, each by an event; the caller holds the ledger's lock."""

from datetime import datetime, timedelta
from typing import Final

from django.db.models import F

from heatmaps.ledger import events, facts
from heatmaps.ledger.events import Facts
from heatmaps.ledger.transitions import slots
from heatmaps.ledger.transitions.moves import LATE, POSTPONE
from heatmaps.models import Dataset, Ledger, Release, ReleaseState, Round

_LONGEST_WAIT_OF_ROUNDS: Final = timedelta(hours=6)
_LONGEST_WAIT: Final = timedelta(minutes=5)  # of one that no worker has begun, where slots are shorter


def postpone(ledger: Ledger, release: Release, now: datetime) -> None:
    """Gives the first release of the queue a whole new slot, and later ones to those behind it.

    One that is spent keeps the moment it began, and is postponed for as long as it has waited: workers that
    are away for a day must not fill the chain.
    """
    wait = slots.length(ledger.dataset)
    starts_at = now if release.state == ReleaseState.RESERVED else release.starts_at
    if ledger.dataset.origin.has_fixed_moments:
        # As long as its messages are waited for: a shuffler that is away must not fill it either.
        since_closing = now - Round.objects.values_list("closes_at", flat=True).get(pk=release.pk)
        wait = max(wait, min(since_closing, _LONGEST_WAIT_OF_ROUNDS))
    else:
        wait = max(wait, min(now - starts_at, _LONGEST_WAIT))
    _move(ledger, POSTPONE, release, starts_at, now + wait)
    _push_back(ledger, release)


def be_late(ledger: Ledger, release: Release, now: datetime) -> None:
    """Makes the next slot twice as long, as all of the dataset's from now on.

    So a dataset can be late a few times in its life, however often it is asked.
    """
    dataset = Dataset.objects.filter(pk=ledger.dataset_id)
    dataset.filter(slot_doublings__lt=slots.MOST_DOUBLINGS).update(slot_doublings=F("slot_doublings") + 1)
    ledger.dataset.refresh_from_db(fields=["slot_doublings"])
    length = slots.length(ledger.dataset)
    behind = max(now - release.visible_at, timedelta(0)) // length if length else 0
    _move(ledger, LATE, release, release.starts_at, release.visible_at + (behind + 1) * length)
    _push_back(ledger, release)


def _push_back(ledger: Ledger, first: Release) -> None:
    """Moves slots that would overlap with the one before them behind it; rounds keep their moments."""
    if ledger.dataset.origin.has_fixed_moments:
        return
    free_at = first.visible_at
    length = slots.length(ledger.dataset)
    for release in slots.queue(ledger.dataset_id).exclude(pk=first.pk):
        if release.starts_at >= free_at and release.visible_at - release.starts_at >= length:
            free_at = release.visible_at
            continue
        starts_at = max(release.starts_at, free_at)
        _move(ledger, POSTPONE, release, starts_at, starts_at + length)
        free_at = release.visible_at


def _move(ledger: Ledger, kind: str, release: Release, starts_at: datetime, visible_at: datetime) -> None:
    before: Facts = {"moments": facts.moments(release)}
    release.starts_at, release.visible_at = starts_at, visible_at
    release.late += kind == LATE
    release.save(update_fields=["starts_at", "visible_at", "late"])
    after: Facts = {"moments": facts.moments(release), "slot_doublings": ledger.dataset.slot_doublings}
    events.append(ledger, kind, actor=None, release=release.pk, before=before, after=after)
