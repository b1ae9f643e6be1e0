"""Warns at 80, 95 and 100 % of a limit or of one's own allowance, from public balances."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from django.contrib.auth.models import User

from heatmaps.budget import allowances
from heatmaps.ledger.amounts import Charges
from heatmaps.ledger.balances import Balance, balances_of
from heatmaps.models import Account, AccountKind, Dataset
from heatmaps.people.permissions import Person

LEVELS: Final = (100, 95, 80)  # percent

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """Tells how far a limit is used up: `percent` is the highest of `LEVELS` that was reached; `own`: of
    one's allowance, not of the limit."""

    kind: AccountKind
    percent: int
    own: bool

    @property
    def of(self) -> str:
        return "allowance" if self.own else "limit"

    @property
    def sentence(self) -> str:
        of = f"your {self.of}" if self.own else f"the {self.of}"
        if self.percent == 100:
            return f"All of {of} of {self.kind.label} is used."
        return f"At least {self.percent} % of {of} of {self.kind.label} is used."


def alerts_of(dataset: Dataset, person: Person) -> tuple[Alert, ...]:
    """Returns the limits and allowances that have run low, or out, for a member of the dataset."""
    accounts = list(Account.objects.filter(dataset=dataset).order_by("pk"))
    return alerts_on(accounts, balances_of(accounts), person)


def alerts_on(accounts: Sequence[Account], rows: Sequence[Balance], person: Person) -> tuple[Alert, ...]:
    """Returns the alerts of all accounts of a dataset, which were read with their balances."""
    own_allowances = allowances.own_on(accounts, person).values() if isinstance(person, User) else ()
    own_levels = (
        (allowance.kind, level(allowance.committed, allowance.limit)) for allowance in own_allowances
    )
    return (
        *of_balances(rows),
        *(Alert(kind=kind, percent=percent, own=True) for kind, percent in own_levels if percent),
    )


def of_balances(rows: Sequence[Balance]) -> tuple[Alert, ...]:
    """Returns the alerts of the limits alone."""
    levels = ((row.kind, level(row.committed, row.limit)) for row in rows)
    return tuple(Alert(kind=kind, percent=percent, own=False) for kind, percent in levels if percent)


def level(committed: int, limit: int | None) -> int:
    """Returns the highest of `LEVELS` that is reached; 0: none, as where nothing was ever taken."""
    if limit is None or committed <= 0:
        return 0
    return next((percent for percent in LEVELS if 100 * committed >= percent * limit), 0)


def log_crossings(dataset: Dataset, charges: Charges) -> None:
    """Writes one log line for each limit that has just got to a higher level by these charges."""
    for account in Account.objects.filter(dataset=dataset):
        charge = charges[AccountKind(account.kind)] or 0
        before, now = (
            level(committed, account.limit) for committed in (account.committed - charge, account.committed)
        )
        if now > before:
            _log.warning("budget.low", dataset=dataset.pk, account=str(account.kind), percent=now)
