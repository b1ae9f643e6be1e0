"""Follows each account over time: what every release took of it, and what was taken by then.

A charge counts from the moment its release was asked for, as it does in balances; those of cancelled releases
went back and count nowhere. So the last total is the balance.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from heatmaps.models import Account, AccountKind, Charge, Dataset, ReleaseState, RestoredCharge


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetStep:
    """Holds one charge, and everything up to it, in the account's units.

    release: None for what was charged after a restore.
    """

    release: UUID | None
    at: datetime
    units: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    kind: AccountKind
    limit: int | None
    steps: tuple[BudgetStep, ...]  # in their order; at least one


def histories_of(dataset: Dataset) -> tuple[History, ...]:
    """Returns the history of each account that was charged, without those whose charges have no sum."""
    accounts = Account.objects.filter(dataset=dataset, committed__gt=0, unbounded=False).order_by("pk")
    return tuple(
        History(kind=AccountKind(account.kind), limit=account.limit, steps=_steps(account))
        for account in accounts
    )


def _steps(account: Account) -> tuple[BudgetStep, ...]:
    charges = Charge.objects.filter(account=account, amount__gt=0)
    rows = charges.exclude(release__state=ReleaseState.CANCELLED).values_list(
        "release_id", "release__requested_at", "amount"
    )
    charge_rows: list[tuple[datetime, UUID | None, int]] = [
        (at, release, units or 0) for release, at, units in rows
    ]
    restored = RestoredCharge.objects.filter(account=account, amount__gt=0)
    charge_rows += [
        (at, None, units or 0) for at, units in restored.values_list("restoration__resumed_at", "amount")
    ]
    steps, total = [], 0
    for at, release, units in sorted(charge_rows, key=lambda step: (step[0], str(step[1]))):
        total += units
        steps.append(BudgetStep(release=release, at=at, units=units, total=total))
    return tuple(steps)
