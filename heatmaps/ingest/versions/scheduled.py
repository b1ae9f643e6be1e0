"""Makes the data versions of a public schedule, whether anything changed or not.

So a version tells nothing of what came in, or when. A steward cannot advance out of turn; lifting or
changing the schedule is an act of its own, with a reason, in the ledger. After a downtime there is one
version, for the latest moment that was missed: those before it would have held the same.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

import structlog
from django.contrib.auth.models import User
from django.utils import timezone

from heatmaps.ingest.versions.schedule import Schedule
from heatmaps.ledger import transitions
from heatmaps.ledger.facts import schedule_fact
from heatmaps.ledger.transitions import moves
from heatmaps.ledger.transitions.moves import LONGEST_REASON
from heatmaps.models import Dataset, DataVersion
from heatmaps.people.permissions import Act, Person, require
from mechanisms.check import ParameterError

AT_CREATION: Final = "set when the dataset was made"

_log = structlog.stdlib.get_logger(__name__)


def fix(dataset: Dataset, schedule: Schedule, *, actor: User) -> None:
    """Sets the schedule of a dataset that is just being made, in the caller's transaction."""
    with transitions.locked(dataset.pk):
        _set(dataset, schedule, actor=actor, reason=AT_CREATION)


def change(person: Person, dataset: Dataset, schedule: Schedule | None, *, reason: str) -> None:
    """Sets another schedule, or none, from now on. A version that is due already is made first.

    Errors: as `permissions.require`; `ParameterError` without a reason.
    """
    with public_rule(person, dataset, reason) as steward:
        if dataset.schedule != _text(schedule):
            _set(dataset, schedule, actor=steward, reason=reason.strip())


@contextmanager
def public_rule(person: Person, dataset: Dataset, reason: str) -> Iterator[User]:
    """Opens a transaction in which a steward changes a rule of versions: those due already followed the old
    one.

    The reason is asked for whether there were uploads or not, which is data. Errors: as `change`.
    """
    steward = require(person, dataset, Act.UPLOAD)
    if not 1 <= len(reason.strip()) <= LONGEST_REASON or not reason.isprintable():
        raise ParameterError("reason", reason, f"1 to {LONGEST_REASON} visible characters in one line")
    with transitions.locked(dataset.pk):
        _advance(dataset.pk, timezone.now())
        dataset.refresh_from_db(fields=["schedule", "next_version_at", "retention_days"])
        yield steward


def advance_due(dataset_id: int, now: datetime) -> DataVersion | None:
    """Makes the version that is due, once however many ask for it at the same moment; None when none is."""
    with transitions.locked(dataset_id):
        return _advance(dataset_id, now)


def sweep() -> None:
    """Makes every version that is due. A dataset in trouble does not hold up the others."""
    now = timezone.now()
    due = Dataset.objects.filter(next_version_at__lte=now).order_by("next_version_at")
    for dataset_id in list(due.values_list("pk", flat=True)):
        try:
            advance_due(dataset_id, now)
        except Exception as error:  # noqa: BLE001 - the next sweep tries again
            _log.error("version.not_made", dataset=dataset_id, cause=error)


def _advance(dataset_id: int, now: datetime) -> DataVersion | None:
    """Makes the version that is due. The caller holds the ledger's lock: what is due is read behind it."""
    dataset = Dataset.objects.get(pk=dataset_id)
    schedule = Schedule.parse(dataset.schedule)
    if schedule is None or dataset.next_version_at is None or dataset.next_version_at > now:
        return None
    due_at = schedule.last_until(now)
    step = dataset.origin.next_version(dataset, actor=None, due_at=due_at)
    Dataset.objects.filter(pk=dataset_id).update(next_version_at=schedule.next_after(now))
    return step if isinstance(step, DataVersion) else None  # a survey makes its version later


def _set(dataset: Dataset, schedule: Schedule | None, *, actor: User, reason: str) -> None:
    before = schedule_fact(dataset)
    dataset.schedule = _text(schedule)
    dataset.next_version_at = schedule.next_after(timezone.now()) if schedule else None
    dataset.save(update_fields=["schedule", "next_version_at"])
    transitions.record(
        dataset,
        moves.SCHEDULE,
        actor=actor,
        before={"schedule": before},
        after={"schedule": schedule_fact(dataset), "reason": reason},
    )


def _text(schedule: Schedule | None) -> str:
    return schedule.text if schedule else ""
