"""Lists what each release took of each account, the latest first, with what was taken by then."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, Sum, UUIDField, Value

from heatmaps.budget.history import History, Restored, counted_charges
from heatmaps.models import Account, Release, Restoration

Moment: TypeAlias = tuple[datetime, UUID]
RESTORE: Final = UUID(int=0)  # stands for what nobody knows, charged after a restore


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCharge:
    """Holds what was charged at a moment, and everything up to it, by account and in its units.

    Accounts that nothing was taken of are in neither. release: None for what was charged after a restore.
    """

    at: datetime
    release: UUID | None
    units: Mapping[int, int]
    totals: Mapping[int, int]


def moments_of(accounts: Sequence[Account], restored: Sequence[Restored]) -> QuerySet[Any, Moment]:
    """Returns when something was charged and by which release, the latest first.

    accounts: of one dataset, at least one. restored: theirs.
    """
    charges = counted_charges(accounts).filter(release=OuterRef("pk"))
    releases = Release.objects.filter(Exists(charges), dataset=accounts[0].dataset_id).order_by()
    rows: QuerySet[Any, Moment] = releases.values_list("requested_at", "pk")
    if restored:  # of one moment they are one
        after = Restoration.objects.filter(resumed_at__in={charge.at for charge in restored}).order_by()
        name = Value(RESTORE, output_field=UUIDField())
        rows = rows.union(after.filter(dataset=accounts[0].dataset_id).values_list("resumed_at", name))
    return rows.order_by("-requested_at", "-pk" if not restored else "-id")


def charges_at(
    moments: Sequence[Moment],
    accounts: Sequence[Account],
    histories: Mapping[int, History],
    restored: Sequence[Restored],
    *,
    is_latest: bool,
) -> list[ListedCharge]:
    """Returns what was charged at moments that follow each other in `moments_of`.

    is_latest: they begin with the latest, so that nothing has to be summed up before them.
    """
    if not moments:
        return []
    totals = Counter({account: history.steps[-1].total for account, history in histories.items()})
    if not is_latest:
        totals.subtract(_later(moments[0], accounts, restored))
    units: dict[Moment, Counter[int]] = {moment: Counter() for moment in moments}
    charges = counted_charges(accounts).filter(release__in=[release for _, release in moments])
    for at, release, account, amount in charges.values_list(
        "release__requested_at", "release_id", "account_id", "amount"
    ):
        units[at, release][account] += amount or 0
    for charge in restored:
        if (charge.at, RESTORE) in units:
            units[charge.at, RESTORE][charge.account] += charge.units
    listed = []
    for at, release in moments:
        account_units = units[at, release]
        listed.append(
            ListedCharge(
                at=at,
                release=None if release == RESTORE else release,
                units=account_units,
                totals={account: totals[account] for account in account_units},
            )
        )
        totals.subtract(account_units)
    return listed


def _later(moment: Moment, accounts: Sequence[Account], restored: Sequence[Restored]) -> Counter[int]:
    """Sums up by account what was charged after a moment."""
    at, release = moment
    after = Q(release__requested_at__gt=at) | Q(release__requested_at=at, release__gt=release)
    rows = counted_charges(accounts).filter(after).values_list("account_id")
    sums = Counter({account: int(units) for account, units in rows.annotate(units=Sum("amount"))})
    for charge in restored:
        if (charge.at, RESTORE) > moment:
            sums[charge.account] += charge.units
    return sums
