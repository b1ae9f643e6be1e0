"""Parses limits exactly from text and changes several at once."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final

from heatmaps.ledger import transitions
from heatmaps.ledger.amounts import units_per_one
from heatmaps.ledger.balances import Balance, balances
from heatmaps.models import Account, AccountKind, Dataset
from heatmaps.people.permissions import Act, Person, require
from mechanisms.check import ParameterError, exact_decimal

MAX_EPSILON_LIMIT: Final = 10**6  # far beyond any promise; its units fit the database's integers

# REPLACE: one of the two may be without a limit.
OPTIONAL: Final = (AccountKind.RECORD, AccountKind.RADIUS)


def units(name: str, kind: AccountKind, text: str) -> int:
    """Returns the limit in the account's units, exactly: rounding one up would allow more than was written.

    Errors: `ParameterError` naming `name`.
    """
    high = 1 if kind == AccountKind.DELTA else MAX_EPSILON_LIMIT
    exact = exact_decimal(name, text, low=0, high=high) * units_per_one(kind)
    if exact.denominator != 1:
        places = len(str(units_per_one(kind))) - 1
        raise ParameterError(name, text, f"a decimal number of at most {places} places")
    return exact.numerator


class BudgetMoved(Exception):  # noqa: N818 - as the other domain errors
    """Says that the budget is not the one that was read before it was to be changed."""

    code = "precondition_failed"

    def __init__(self) -> None:
        super().__init__("the budget changed since you read it; read it again, then decide")


def change(
    person: Person,
    dataset: Dataset,
    limits: Mapping[str, str | None],
    *,
    reason: str,
    expected_fingerprint: str | None,
) -> None:
    """Sets the limits of several accounts (None: no limit), all or none, with an event for each.

    `expected_fingerprint` is that of the balances that the caller saw; None: whatever they are.
    Errors: as `permissions.require`; BudgetMoved; `ParameterError` naming `limits.<account>`; InvalidLimit.
    """
    actor = require(person, dataset, Act.CHANGE_LIMIT)
    with transitions.locked(dataset.pk):
        if expected_fingerprint not in {None, fingerprint(balances(dataset))}:
            raise BudgetMoved
        accounts = {account.kind: account for account in Account.objects.filter(dataset=dataset)}
        # One ε account always keeps a limit: the new one is set before the other is lifted.
        for kind, text in sorted(limits.items(), key=lambda item: item[1] is None):
            if kind not in accounts:
                allowed = f"accounts of this dataset: {', '.join(accounts)}"
                raise ParameterError(f"limits.{kind}", kind, allowed)
            account = accounts[kind]
            new = _new_limit(AccountKind(account.kind), text)
            transitions.change_limit(account, new, actor=actor, reason=reason)


def fingerprint(rows_by_account: Sequence[Balance]) -> str:
    """Tells one state of a budget from another: limits and what is committed, all of it public to members."""
    rows = [[str(row.kind), row.limit, row.committed, row.unbounded] for row in rows_by_account]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:32]


def _new_limit(kind: AccountKind, text: str | None) -> int | None:
    name = f"limits.{kind.value}"
    if text is not None:
        return units(name, kind, text)
    if kind in OPTIONAL:
        return None
    raise ParameterError(name, "no limit", "a plain decimal number; this account always has a limit")
