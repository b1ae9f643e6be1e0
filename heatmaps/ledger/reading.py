"""Events as others than stewards may read them, and the selections of a list.

Run times are data. To whoever may not see data an event has its minute and a hash that covers a secret
salt; the beginning of a draw has no time, and is not told before its end: polling would show how long it ran.
What is left is the order of events: a draw began between two other moves, whose minutes are told. That bounds
a run time by what else happened in the dataset meanwhile; where nothing did, it says nothing that the minutes
of reservation and result do not.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.db.models import QuerySet

from heatmaps.ledger.transitions import SPEND
from heatmaps.models import Dataset, Event, Release, ReleaseState

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which events of a ledger; empty: all."""

    kind: str = ""
    person: str = ""  # a username
    day: date | None = None  # UTC


def events_for(dataset: Dataset, *, sees_data: bool, selection: Selection | None = None) -> QuerySet[Event]:
    """The chain in its order. `sees_data`: also the draws that run now."""
    rows = Event.objects.filter(dataset=dataset).select_related("actor").order_by("sequence")
    if not sees_data:
        running = Release.objects.filter(dataset=dataset, state=ReleaseState.SPENT)
        rows = rows.exclude(kind=SPEND, release__in=running.values("pk"))
    return rows if selection is None else _selected(rows, selection, sees_data=sees_data)


def moment(event: Event, *, sees_data: bool) -> str:
    """UTC: to the second for those who see data; for others to the minute, empty for the start of a draw."""
    if sees_data:
        return _at(event).strftime("%Y-%m-%d %H:%M:%S")
    return "" if event.kind == SPEND else _at(event).strftime("%Y-%m-%d %H:%M")


def shown_hash(event: Event, *, sees_data: bool) -> str:
    """Empty where it could be searched: for others than those who see data, if it covers no salt."""
    return event.hash if sees_data or event.salt is not None else ""


def _at(event: Event) -> datetime:
    return _EPOCH + timedelta(microseconds=event.at_microseconds)


def _selected(rows: QuerySet[Event], selection: Selection, *, sees_data: bool) -> QuerySet[Event]:
    if selection.kind:
        rows = rows.filter(kind=selection.kind)
    if selection.person:
        rows = rows.filter(actor__username=selection.person)
    if selection.day is not None:
        begin = datetime.combine(selection.day, datetime.min.time(), UTC) - _EPOCH
        first = begin // timedelta(microseconds=1)
        rows = rows.filter(at_microseconds__gte=first, at_microseconds__lt=first + 86_400_000_000)
        if not sees_data:  # a draw may begin on one day and end on the next
            rows = rows.exclude(kind=SPEND)
    return rows
