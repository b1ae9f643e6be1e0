"""Computes a release's public moments: its slot in the queue of its dataset.

How long a draw takes depends on the data, so nothing about it may be seen before a moment that does not. A
slot begins where the one before it in the dataset ends, and lasts as long as the dataset's size class says,
twice as long after each draw that missed it. At most one release of a dataset is drawn at a time.

A draw that began late in its slot is told at the end of the next one, done or not: were it told in time where
it is short, whoever keeps workers busy until it begins could choose what "short" means, as often as he likes.
"""

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db.models import QuerySet

from heatmaps.ledger.transitions.moves import QUEUED
from heatmaps.models import Dataset, Release

MOST_DOUBLINGS: Final = 16  # of 5 minutes: half a year
_TOLERATED: Final = timedelta(seconds=1)  # of the clock
_TOLERATED_PART: Final = 4  # of a slot


def length(dataset: Dataset) -> timedelta:
    """Returns the present length of the dataset's slots."""
    return timedelta(seconds=dataset.origin.slot_seconds(dataset) * 2**dataset.slot_doublings)


def queue(dataset_id: int) -> "QuerySet[Release]":
    """Returns the releases that wait for their moments, in order of reservation."""
    releases = Release.objects.filter(dataset=dataset_id, state__in=QUEUED)
    return releases.order_by("starts_at", "requested_at", "pk")


def taken_until(dataset_id: int) -> "QuerySet[Release, datetime]":
    """Returns the moment that the last slot of a queue ends, if there is one."""
    # Slots do not overlap; but a round that is waited for may end after the ones behind it.
    return queue(dataset_id).order_by("-visible_at").values_list("visible_at", flat=True)[:1]


def next_slot(dataset: Dataset, now: datetime, busy_until: datetime | None) -> tuple[datetime, datetime]:
    """Returns `starts_at` and `visible_at` of a release reserved now.

    `busy_until` ends the last slot of the queue (`taken_until`). The caller holds the ledger's lock.
    """
    earliest = now + timedelta(seconds=settings.START_SECONDS)
    starts_at = earliest if busy_until is None else max(earliest, busy_until)
    return starts_at, starts_at + length(dataset)


def has_had_time(release: Release, claimed_at: datetime, dataset: Dataset) -> bool:
    """Tells whether a worker began the draw half a slot before its moment: other work alone decides that."""
    slot = length(dataset)
    return not slot or release.visible_at - claimed_at >= slot / 2


def is_missed(release: Release, now: datetime) -> bool:
    """Tells whether the clock came so late that what is left of the slot is too short."""
    slot = release.visible_at - release.starts_at
    return bool(slot) and now - release.starts_at > max(slot / _TOLERATED_PART, _TOLERATED)
