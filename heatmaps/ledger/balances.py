"""The read side of the budget: what is left, held and spent on each account."""

from dataclasses import dataclass

from django.db.models import Sum

from heatmaps.ledger.transitions import QUEUED
from heatmaps.models import Account, AccountKind, Charge, Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """One account, in its own units (`amounts.as_decimal` turns them into text for people).

    committed = reserved + spent. Reserved is what queued releases hold, whether their draw has begun or
    not: when it begins and ends would tell how long it ran, which depends on the data. Without a limit,
    `limit` and `available` are None. `unbounded`: some charge had no bound, so that the sum says nothing.
    """

    kind: AccountKind
    limit: int | None
    committed: int
    reserved: int
    spent: int
    unbounded: bool

    @property
    def available(self) -> int | None:
        return None if self.limit is None else self.limit - self.committed


def balances(dataset: Dataset) -> list[Balance]:
    """The balances of a dataset's accounts, in the order they were opened."""
    held = dict(
        Charge.objects.filter(account__dataset=dataset, release__state__in=QUEUED)
        .values_list("account_id")
        .annotate(total=Sum("amount"))
    )
    accounts = Account.objects.filter(dataset=dataset).order_by("pk")
    return [_balance(account, held.get(account.pk) or 0) for account in accounts]


def _balance(account: Account, reserved: int) -> Balance:
    return Balance(
        kind=AccountKind(account.kind),
        limit=account.limit,
        committed=account.committed,
        reserved=reserved,
        spent=account.committed - reserved,
        unbounded=account.unbounded,
    )
