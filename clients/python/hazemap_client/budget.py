"""Reads a dataset's budget: what may be spent, what was, and every event of its ledger."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hazemap_client import calls, markup
from hazemap_client.components import Component, Resource
from hazemap_client.markup import bound, limit
from hazemap_client.numbers import Exact, Number, amounts


class Account(Component):
    """Holds an account's amounts. Null: no limit, or of `committed` no bound."""

    account: str
    limit: Exact | None
    committed: Exact | None
    available: Exact | None


class Budget(Resource):
    """Shows the budget as it was read; a change since then makes yours refused (`BudgetChanged`)."""

    accounts: tuple[Account, ...]
    alerts: tuple[Mapping[str, Any], ...]  # limits or allowances of yours that ran low
    etag: str = field(repr=False, compare=False)
    slug: str = field(repr=False, compare=False)

    def __getitem__(self, account: str) -> Account:
        """Returns the account of this name: presence, record, radius or delta."""
        return next(row for row in self.accounts if row.account == account)

    def change(self, limits: Mapping[str, Number | None], *, reason: str) -> "Budget":
        """Changes limits, all or none; null: no limit. The reason stays in the ledger. For stewards."""
        body, headers = {"limits": amounts(limits), "reason": reason}, {"If-Match": self.etag}
        return self.connection.load(calls.CHANGE_BUDGET, Budget, body=body, headers=headers, slug=self.slug)

    def _repr_html_(self) -> str:
        heads = ("account", "asked for", "left", "limit")
        rows = (
            (row.account, bound(row.committed), limit(row.available), limit(row.limit))
            for row in self.accounts
        )
        return markup.table(rows, heads=heads) + markup.paragraphs(alert["sentence"] for alert in self.alerts)


class Event(Component):
    """Holds an event of the ledger, which nobody can change afterwards."""

    sequence: int
    at: str
    actor: str
    kind: str
    title: str
    release: str
    facts: tuple[Mapping[str, str], ...]  # name, before, after
    hash: str
