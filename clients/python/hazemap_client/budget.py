"""A dataset's budget: what may be spent, what was, and every event of its ledger."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hazemap_client import calls, markup
from hazemap_client.components import Component, Resource
from hazemap_client.markup import bound, limit
from hazemap_client.numbers import Exact, Number, amounts


class Account(Component):
    """Null: no limit, or of `committed` no bound."""

    account: str
    limit: Exact | None
    committed: Exact | None
    available: Exact | None


class Budget(Resource):
    """As it was read: changing it is refused where somebody changed it since (`BudgetChanged`)."""

    accounts: tuple[Account, ...]
    alerts: tuple[Mapping[str, Any], ...]  # limits or allowances of yours that ran low
    etag: str = field(repr=False, compare=False)
    slug: str = field(repr=False, compare=False)

    def __getitem__(self, account: str) -> Account:
        """The account of this name: presence, record, radius or delta."""
        return next(one for one in self.accounts if one.account == account)

    def change(self, limits: Mapping[str, Number | None], *, reason: str) -> "Budget":
        """Change limits, all or none; null: no limit. The reason stays in the ledger. For stewards."""
        body, headers = {"limits": amounts(limits), "reason": reason}, {"If-Match": self.etag}
        return self.connection.one(calls.CHANGE_BUDGET, Budget, body=body, headers=headers, slug=self.slug)

    def _repr_html_(self) -> str:
        heads = ("account", "asked for", "left", "limit")
        rows = (
            (one.account, bound(one.committed), limit(one.available), limit(one.limit))
            for one in self.accounts
        )
        return markup.table(rows, heads=heads) + markup.paragraphs(one["sentence"] for one in self.alerts)


class Event(Component):
    """An event of the ledger, which nobody can change afterwards."""

    sequence: int
    at: str
    actor: str
    kind: str
    title: str
    release: str
    facts: tuple[Mapping[str, str], ...]  # name, before, after
    hash: str
