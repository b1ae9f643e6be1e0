"""Opens a dataset's ledger, and writes events that move no release and no balance."""

from collections.abc import Mapping
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from heatmaps.ledger import events, facts
from heatmaps.ledger.amounts import ACCOUNTS
from heatmaps.ledger.errors import InvalidLimit
from heatmaps.ledger.events import Facts
from heatmaps.ledger.transitions.limits import check_limit, check_some_limit
from heatmaps.ledger.transitions.locks import locked
from heatmaps.ledger.transitions.moves import (
    ALLOWANCE,
    CLOSE,
    CONFIRMED,
    LATE,
    LIMIT,
    MOVES,
    OPEN,
    POSTPONE,
    RESTORED,
)
from heatmaps.models import Account, AccountKind, Dataset
from mechanisms.guarantee import Relation


def open_ledger(dataset: Dataset, *, actor: User, limits: Mapping[AccountKind, int | None]) -> None:
    """Makes the accounts and the first event of a new dataset, in the caller's transaction.

    `limits` names exactly the accounts of the dataset's relation; at least one ε account has a limit.
    """
    with transaction.atomic():
        expected = ACCOUNTS[Relation(dataset.relation)]
        if set(limits) != set(expected):
            raise InvalidLimit("limits", f"the accounts of this relation are {', '.join(expected)}")
        for limit in limits.values():
            check_limit(limit)
        check_some_limit(limits)
        accounts = [
            Account.objects.create(dataset=dataset, kind=kind, limit=limits[kind]) for kind in expected
        ]
        after: Facts = {"dataset": facts.dataset_facts(dataset), "limits": facts.limits(accounts)}
        ledger = events.new_ledger(dataset)
        events.append(ledger, OPEN, actor=actor, release=None, before={}, after=after)


def record(
    dataset: Dataset,
    kind: str,
    *,
    actor: User | None,
    before: Facts,
    after: Facts,
    at: datetime | None = None,
) -> None:
    """Writes an event that moves no release and no balance, e.g. a new data version: public facts only.

    at: what it is stamped with; None: now.
    """
    if kind in {*MOVES, OPEN, LIMIT, ALLOWANCE, LATE, POSTPONE, RESTORED, CONFIRMED, CLOSE}:
        raise ValueError(f"kind is {kind}, which only its own transition writes")
    with locked(dataset.pk) as ledger:
        events.append(ledger, kind, actor=actor, release=None, before=before, after=after, at=at)
