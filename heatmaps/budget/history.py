"""Follows each account over time: what was taken by then, in steps as fine as a picture of it.

A charge counts from the moment its release was asked for, as it does in balances; those of cancelled releases
went back and count nowhere. So the last total is the balance. Of many charges the database sums up those in
one part of the time, so that a page takes about as long with many releases as with few.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import BigIntegerField, Count, Func, Max, Min, QuerySet, Sum
from django.db.models.sql.compiler import SQLCompiler

from heatmaps.models import Account, AccountKind, Charge, ReleaseState, RestoredCharge

MOST_STEPS: Final = 143  # of releases; more are no wider than two units of the picture each
_LEAST_MARGIN: Final = timedelta(minutes=30)  # before the first and behind the last charge
_MARGIN: Final = 0.08  # of the time between them


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetStep:
    """Holds everything that was charged until a moment, in the account's units; that of a charge."""

    at: datetime
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """Holds what was charged to an account after a restore."""

    account: int
    at: datetime
    units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    kind: AccountKind
    limit: int | None
    first: datetime  # of the charges
    last: datetime
    charges: int
    steps: tuple[BudgetStep, ...]  # in their order; at least one

    @property
    def span(self) -> tuple[datetime, datetime]:
        """Returns moments a little before the first charge and a little after the last one."""
        margin = _margin(self.first, self.last)
        return self.first - margin, self.last + margin


def counted_charges(accounts: Sequence[Account]) -> QuerySet[Charge]:
    """Returns what releases took of accounts."""
    rows = Charge.objects.filter(account__in=[account.pk for account in accounts], amount__gt=0)
    return rows.exclude(release__state=ReleaseState.CANCELLED).order_by()


def restored_charges(accounts: Sequence[Account]) -> list[Restored]:
    rows = RestoredCharge.objects.filter(account__in=[account.pk for account in accounts], amount__gt=0)
    return [
        Restored(account=account, at=at, units=units or 0)
        for account, at, units in rows.values_list("account_id", "restoration__resumed_at", "amount")
    ]


def histories_of(accounts: Sequence[Account], restored: Sequence[Restored]) -> dict[int, History]:
    """Returns the history of each account that was charged, by its primary key, without those whose charges
    have no sum.

    restored: theirs.
    """
    summed = [account for account in accounts if account.committed and not account.unbounded]
    spans = counted_charges(summed).values_list("account_id")
    moments, charges = dict[int, list[datetime]](), dict[int, int]()
    for account_id, first, last, count in spans.annotate(
        first=Min("release__requested_at"), last=Max("release__requested_at"), count=Count("pk")
    ):
        moments[account_id], charges[account_id] = [first, last], count
    for charge in restored:
        moments.setdefault(charge.account, []).append(charge.at)
    return {
        account.pk: _history(
            account,
            moments[account.pk],
            [charge for charge in restored if charge.account == account.pk],
            releases=charges.get(account.pk, 0),
        )
        for account in summed
        if account.pk in moments
    }


def _history(
    account: Account, moments: Sequence[datetime], restored: Sequence[Restored], *, releases: int
) -> History:
    """releases: how many were charged."""
    first, last = min(moments), max(moments)
    charged_units = [(charge.at, charge.units) for charge in restored]
    charges = counted_charges([account])
    if releases <= MOST_STEPS:
        charged_units += [
            (at, units or 0) for at, units in charges.values_list("release__requested_at", "amount")
        ]
    else:
        time = last - first + 2 * _margin(first, last)
        part = _Part(
            "release__requested_at",
            start=int(first.timestamp()),
            width=int(time.total_seconds()) // MOST_STEPS + 1,
        )
        parts = charges.values_list(part).annotate(at=Max("release__requested_at"), units=Sum("amount"))
        charged_units += [(at, int(units)) for _, at, units in parts]
    steps, total = [], 0
    for at, units in sorted(charged_units):
        total += units
        steps.append(BudgetStep(at=at, total=total))
    return History(
        kind=AccountKind(account.kind),
        limit=account.limit,
        first=first,
        last=last,
        charges=releases + len(restored),
        steps=tuple(steps),
    )


def _margin(first: datetime, last: datetime) -> timedelta:
    return max((last - first) * _MARGIN, _LEAST_MARGIN)


class _Part(Func):
    """Numbers equal parts of the time by a moment's whole seconds.

    start: where the first one begins, in seconds since 1970; width: of each, in seconds. Both are in the text
    and no parameters: PostgreSQL groups by an expression that it sees twice.
    """

    output_field = BigIntegerField()

    def __init__(self, moment: str, *, start: int, width: int) -> None:
        super().__init__(moment, start=int(start), width=int(width))

    def as_sqlite(self, compiler: SQLCompiler, connection: Any, **context: Any) -> Any:
        seconds = "CAST(strftime('%%%%s', %(expressions)s) AS INTEGER)"
        template = f"({seconds} - %(start)s) / %(width)s"
        return self.as_sql(compiler, connection, template=template, **context)

    def as_postgresql(self, compiler: SQLCompiler, connection: Any, **context: Any) -> Any:
        seconds = "CAST(FLOOR(EXTRACT(EPOCH FROM %(expressions)s)) AS bigint)"
        template = f"({seconds} - %(start)s) / %(width)s"
        return self.as_sql(compiler, connection, template=template, **context)
