"""Changes how long a dataset keeps check-ins, with a reason and as an event.

A change counts from the next data version on, in both directions: nothing is deleted before it, and what
an earlier version left out stays out.
"""

from typing import Final

from django.contrib.auth.models import User

from heatmaps.ingest.versions import retention, scheduled
from heatmaps.ledger import transitions
from heatmaps.ledger.facts import retention_fact
from heatmaps.ledger.transitions import moves
from heatmaps.models import Dataset
from heatmaps.people.permissions import Person

AT_CREATION: Final = scheduled.AT_CREATION


def fix(dataset: Dataset, days: int, *, actor: User) -> None:
    """Sets the rule of a dataset that is just being made, in the caller's transaction."""
    with transitions.locked(dataset.pk):
        _set(dataset, days, actor=actor, reason=AT_CREATION)


def change(person: Person, dataset: Dataset, days: int | None, *, reason: str) -> None:
    """Keeps check-ins for so many days, or for ever (None), from the next data version on.

    A version that is due already is made first, by the old rule. Errors: as `permissions.require`;
    `ParameterError` for the days, or without a reason.
    """
    with scheduled.public_rule(person, dataset, reason) as steward:
        if days is not None:
            dataset.origin.check_retention(dataset, days)
        if dataset.retention_days != retention.check(days):
            _set(dataset, days, actor=steward, reason=reason.strip())


def _set(dataset: Dataset, days: int | None, *, actor: User, reason: str) -> None:
    before = retention_fact(dataset)
    dataset.retention_days = days
    dataset.save(update_fields=["retention_days"])
    transitions.record(
        dataset,
        moves.RETENTION,
        actor=actor,
        before={"retention": before},
        after={"retention": retention_fact(dataset), "reason": reason},
    )
