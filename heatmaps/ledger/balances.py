"""Reads what is left, held and spent on each account."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Sum

from heatmaps.ledger.transitions.moves import QUEUED
from heatmaps.models import Account, AccountKind, Charge, Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """Holds one account, in its own units (`amounts.as_decimal` turns them into text for people).

    Committed is what was asked for and not cancelled; `reserved` of it is held by queued releases. Without a
    limit, `limit` and `available` are None. `unbounded`: some charge had no bound, so that the sum says
    nothing.
    """

    kind: AccountKind
    limit: int | None
    committed: int
    reserved: int
    unbounded: bool

    @property
    def available(self) -> int | None:
        return None if self.limit is None else self.limit - self.committed


def balances(dataset: Dataset) -> list[Balance]:
    """Returns the balances of a dataset's accounts, in the order they were opened."""
    return balances_of(list(Account.objects.filter(dataset=dataset).order_by("pk")))


def balances_of(accounts: Sequence[Account]) -> list[Balance]:
    """Returns the balances of all accounts of a dataset, which were read."""
    reserved = dict(
        Charge.objects.filter(account__in=[account.pk for account in accounts], release__state__in=QUEUED)
        .values_list("account_id")
        .annotate(total=Sum("amount"))
    )
    return [_balance(account, reserved.get(account.pk) or 0) for account in accounts]


def _balance(account: Account, reserved: int) -> Balance:
    return Balance(
        kind=AccountKind(account.kind),
        limit=account.limit,
        committed=account.committed,
        reserved=reserved,
        unbounded=account.unbounded,
    )
