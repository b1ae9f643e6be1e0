"""Closes a ledger whose chain does not verify: for good, as nothing before it can be taken for true."""

import hashlib
import re
from typing import Final

from django.utils import timezone

from heatmaps.ledger import events
from heatmaps.ledger.transitions.limits import check_reason
from heatmaps.ledger.transitions.locks import locked
from heatmaps.ledger.transitions.moves import CLOSE, QUEUED
from heatmaps.ledger.transitions.restoring import end
from heatmaps.models import Dataset, Event, Ledger, Release, SourceSurvey, Upload, UploadState

_NUMBERS: Final = 2**62  # sequences that leave room for what follows
_NO_ROWS: Final = {"rows_accepted": 0, "rows_rejected": 0, "rows_outside": 0}


def take_up(dataset: Dataset) -> int:
    """Moves the head to the last stored event, whatever it says, so that events can follow; returns its
    sequence.

    Only the owner of the tables may. The caller closes the ledger in the same transaction.
    """
    if not Ledger.objects.filter(pk=dataset.pk).exists():
        events.new_ledger(dataset)
    with locked(dataset.pk) as ledger:
        last = Event.objects.filter(dataset=dataset, sequence__lt=_NUMBERS).order_by("-sequence").first()
        if last is not None:
            ledger.last_sequence, ledger.last_hash = last.sequence, _hash(last.hash)
            ledger.save(update_fields=["last_sequence", "last_hash"])
        return ledger.last_sequence


def close(dataset: Dataset, *, last: int, first_bad: int | None, reason: str) -> int:
    """Closes a ledger for good by an event that says from where on it does not verify; returns its sequence.

    last: the event that was the last one. first_bad: where `verify` stopped, if at an event. What is queued
    ends without a result, its charge kept; no version follows. Uploads that no version includes are undone;
    the others stay as their versions have them. Check-ins of both go (`heatmaps.ingest.undoing`).
    Errors: InvalidLimit without a reason.
    """
    check_reason(reason)
    with locked(dataset.pk) as ledger:
        now = timezone.now()
        releases = Release.objects.filter(dataset=dataset, state__in=QUEUED).order_by("starts_at", "pk")
        for release in releases.only("state"):  # whatever else its row says, and whether that can be read
            end(ledger, release, now)
        SourceSurvey.objects.filter(dataset=dataset).delete()
        Dataset.objects.filter(pk=dataset.pk).update(schedule="", next_version_at=None)
        ready = Upload.objects.filter(dataset=dataset, state=UploadState.READY, version=None)
        ready.update(state=UploadState.UNDONE, finished_at=now, **_NO_ROWS)
        facts_of_end = {} if first_bad is None else {"first_bad": first_bad}
        after: events.Facts = {"last_unverified": last, "reason": reason.strip(), **facts_of_end}
        return events.append(ledger, CLOSE, actor=None, release=None, before={}, after=after).sequence


def _hash(text: str) -> str:
    """Returns a stored hash, or the hash of whatever stands in its place."""
    is_hash = re.fullmatch("[0-9a-f]{64}", text)
    return text if is_hash else hashlib.sha256(text.encode(errors="replace")).hexdigest()
