"""A dataset's budget: what may be spent, what was, and every event of its ledger."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self, TypeVar

from hazemap_client import calls, markup
from hazemap_client.connection import Answer, Connection
from hazemap_client.decoding import LOCAL, decoded
from hazemap_client.numbers import Exact, Number, written

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Null: no limit, or of `committed` no bound."""

    component: ClassVar = "AccountOut"
    account: str
    limit: Exact | None
    committed: Exact | None
    available: Exact | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """A limit, or an allowance of yours, that ran low."""

    component: ClassVar = "AlertOut"
    account: str
    percent: int
    of: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """As it was read: changing it is refused where somebody changed it since (`BudgetChanged`)."""

    component: ClassVar = "BudgetOut"
    accounts: tuple[Account, ...]
    alerts: tuple[Alert, ...]
    etag: str = field(repr=False, compare=False, metadata=LOCAL)
    slug: str = field(repr=False, compare=False, metadata=LOCAL)
    connection: Connection = field(repr=False, compare=False, metadata=LOCAL)

    def __getitem__(self, account: str) -> Account:
        """The account of this name: presence, record, radius or delta."""
        return next(one for one in self.accounts if one.account == account)

    def change(self, limits: Mapping[str, Number | None], *, reason: str) -> Self:
        """Change limits, all or none; null: no limit. The reason stays in the ledger. For stewards."""
        exact = {name: None if value is None else written(value) for name, value in limits.items()}
        answer = self.connection.ask(
            calls.CHANGE_BUDGET,
            body={"limits": exact, "reason": reason},
            headers={"If-Match": self.etag},
            slug=self.slug,
        )
        return _read(type(self), answer, self.connection, self.slug)

    def _repr_html_(self) -> str:
        rows = [
            (one.account, markup.bound(one.committed), *map(_limit, (one.available, one.limit)))
            for one in self.accounts
        ]
        table = markup.table(("account", "asked for", "left", "limit"), rows)
        return table + markup.paragraphs(one.sentence for one in self.alerts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event of the ledger, which nobody can change afterwards."""

    component: ClassVar = "EventOut"
    sequence: int
    at: str
    actor: str
    kind: str
    title: str
    release: str
    facts: tuple[Mapping[str, str], ...]  # name, before, after
    hash: str


def read(connection: Connection, slug: str) -> Budget:
    """The budget as it is now."""
    return _read(Budget, connection.ask(calls.READ_BUDGET, slug=slug), connection, slug)


def _read(kind: type[T], answer: Answer, connection: Connection, slug: str) -> T:
    etag = answer.headers.get("ETag", "")
    return decoded(kind, answer.json(), connection=connection, etag=etag, slug=slug)


def _limit(amount: Exact | None) -> str:
    return "no limit" if amount is None else str(amount)
