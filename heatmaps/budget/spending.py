"""Sums charges of releases by person, mechanism and day."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Final

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import TruncDate

from heatmaps.models import Account, AccountKind, Charge, Dataset, ReleaseState, RestoredCharge
from heatmaps.people.permissions import Act, Person, may

YOU: Final = "you"
OTHERS: Final = "others"
RESTORED: Final = "not known (the database was restored)"
BY: Final[Mapping[str, str]] = {"person": "By person", "mechanism": "By mechanism", "day": "By day (UTC)"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingPart:
    """Holds what one person, mechanism or day took of an account, in its units, in how many releases."""

    kind: AccountKind
    name: str
    units: int
    releases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Holds one account: parts by each of `BY`, the largest first, days in order.

    `unbounded`: as in `Balance`.
    """

    kind: AccountKind
    committed: int
    limit: int | None
    unbounded: bool
    parts: Mapping[str, tuple[SpendingPart, ...]]


def spending_of(dataset: Dataset, person: Person) -> tuple[Spending, ...]:
    """Returns the committed amounts and whose they are; names are for those who may read the ledger."""
    names = may(person, dataset, Act.READ_LEDGER)
    accounts = Account.objects.filter(dataset=dataset).order_by("pk")
    return tuple(_spending(account, person, names=names) for account in accounts)


def _spending(account: Account, person: Person, *, names: bool) -> Spending:
    charges = Charge.objects.filter(account=account).exclude(release__state=ReleaseState.CANCELLED)
    kind = AccountKind(account.kind)
    people = _parts(kind, charges, "release__requested_by__username")
    restored = _restored(account)
    days = _parts(kind, charges.annotate(day=TruncDate("release__requested_at", tzinfo=UTC)), "day")
    return Spending(
        kind=kind,
        committed=account.committed,
        limit=account.limit,
        unbounded=account.unbounded,
        parts={
            "person": (people if names else _nameless(people, person)) + restored,
            "mechanism": _parts(kind, charges, "release__mechanism") + restored,
            "day": tuple(sorted(days, key=lambda part: part.name)) + restored,
        },
    )


def _restored(account: Account) -> tuple[SpendingPart, ...]:
    """Sums what was charged after restores, for what nobody knows."""
    rows = RestoredCharge.objects.filter(account=account, amount__gt=0)
    units = rows.aggregate(total=Sum("amount"))["total"] or 0
    return (
        (SpendingPart(kind=AccountKind(account.kind), name=RESTORED, units=units, releases=0),)
        if units
        else ()
    )


def _parts(kind: AccountKind, charges: QuerySet[Charge], column: str) -> tuple[SpendingPart, ...]:
    rows = charges.order_by().values_list(column).annotate(units=Sum("amount"), releases=Count("pk"))
    parts = [
        SpendingPart(kind=kind, name=str(name), units=units or 0, releases=releases)
        for name, units, releases in rows
    ]
    return tuple(sorted(parts, key=lambda part: (-part.units, part.name)))


def _nameless(people: tuple[SpendingPart, ...], person: Person) -> tuple[SpendingPart, ...]:
    own = [part for part in people if part.name == person.get_username()]
    rest = [part for part in people if part.name != person.get_username()]
    return tuple(
        SpendingPart(
            kind=parts[0].kind,
            name=name,
            units=sum(part.units for part in parts),
            releases=sum(part.releases for part in parts),
        )
        for name, parts in ((YOU, own), (OTHERS, rest))
        if parts
    )
