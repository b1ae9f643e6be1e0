"""Filters events, and coarsens them for readers who are not stewards.

When a draw began and ended is in no event: releases move at public moments (`transitions.slots`). When a data
version came may tell how long its files took to read, so others have the minute of an event, and a hash that
covers a secret salt.
"""

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.db.models import QuerySet

from heatmaps.ledger.facts import NOT_PAID_FOR
from heatmaps.ledger.transitions.moves import FAIL
from heatmaps.models import Dataset, Event, Release

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Selects which events of a ledger; empty: all."""

    kind: str = ""
    person: str = ""  # a username
    day: date | None = None  # UTC


def events_for(dataset: Dataset, *, selection: Selection | None = None) -> QuerySet[Event]:
    """Selects the chain in its order."""
    rows = Event.objects.filter(dataset=dataset).select_related("actor", "dataset").order_by("sequence")
    return rows if selection is None else _selected(rows, selection)


def was_refused(release: Release) -> bool:
    """Tells whether a release was not what its ledger says was paid for, so that nothing was drawn: no
    secret."""
    ends = Event.objects.filter(dataset=release.dataset_id, release=release.pk, kind=FAIL)
    facts = ends.values_list("after", flat=True)
    return any(json.loads(after).get("reason") == NOT_PAID_FOR for after in facts)


def moment(event: Event, *, sees_data: bool) -> str:
    """Writes a moment in UTC: to the second for those who see data, for others to the minute."""
    at = _EPOCH + timedelta(microseconds=event.at_microseconds)
    return at.strftime("%Y-%m-%d %H:%M:%S" if sees_data else "%Y-%m-%d %H:%M")


def shown_hash(event: Event, *, sees_data: bool) -> str:
    """Returns the hash; empty where it could be searched: for others than those who see data, if it covers no
    salt."""
    return event.hash if sees_data or event.salt is not None else ""


def _selected(rows: QuerySet[Event], selection: Selection) -> QuerySet[Event]:
    if selection.kind:
        rows = rows.filter(kind=selection.kind)
    if selection.person:
        rows = rows.filter(actor__username=selection.person)
    if selection.day is not None:
        begin = datetime.combine(selection.day, datetime.min.time(), UTC) - _EPOCH
        first = begin // timedelta(microseconds=1)
        rows = rows.filter(at_microseconds__gte=first, at_microseconds__lt=first + 86_400_000_000)
    return rows
