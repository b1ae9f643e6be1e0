"""Warns at 80, 95 and 100 % of a limit or of one's own allowance, from public balances."""

from dataclasses import dataclass
from typing import Final

import structlog
from django.contrib.auth.models import User

from heatmaps.budget import allowances
from heatmaps.ledger.amounts import Charges
from heatmaps.ledger.balances import Balance, balances
from heatmaps.models import Account, AccountKind, Dataset
from heatmaps.people.permissions import Person

LEVELS: Final = (100, 95, 80)  # percent

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """`percent` is the highest of `LEVELS` that was reached; `own`: of one's allowance, not of the limit."""

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
    """For a member of the dataset: what has run low, or out."""
    found = of_balances(balances(dataset))
    own = allowances.own(dataset, person).values() if isinstance(person, User) else ()
    mine = ((one.kind, level(one.taken, one.limit)) for one in own)
    return (*found, *(Alert(kind=kind, percent=percent, own=True) for kind, percent in mine if percent))


def of_balances(held: list[Balance]) -> tuple[Alert, ...]:
    """Of the limits alone."""
    levels = ((row.kind, level(row.committed, row.limit)) for row in held)
    return tuple(Alert(kind=kind, percent=percent, own=False) for kind, percent in levels if percent)


def level(taken: int, limit: int | None) -> int:
    """The highest of `LEVELS` that is reached; 0: none, as where nothing was ever taken."""
    if limit is None or taken <= 0:
        return 0
    return next((percent for percent in LEVELS if 100 * taken >= percent * limit), 0)


def log_crossings(dataset: Dataset, charges: Charges) -> None:
    """One log line for each limit that has just got to a higher level by these charges."""
    for account in Account.objects.filter(dataset=dataset):
        charge = charges[AccountKind(account.kind)] or 0
        before, now = (
            level(taken, account.limit) for taken in (account.committed - charge, account.committed)
        )
        if now > before:
            _log.warning("budget.low", dataset=dataset.pk, account=str(account.kind), percent=now)
