"""Shows a dataset's budget: what is left, what took it, and what is promised so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from heatmaps import queries
from heatmaps.budget import alerts, charge_list
from heatmaps.budget.charge_list import ListedCharge, Moment
from heatmaps.budget.history import histories_of, restored_charges
from heatmaps.budget.spending import RESTORED
from heatmaps.ledger.amounts import as_decimal
from heatmaps.ledger.balances import balances_of
from heatmaps.models import Account, AccountKind, Release
from heatmaps.people.permissions import Act, dataset_for, may
from heatmaps.views.budget.budget_chart import budget_chart
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.release import promise_for
from heatmaps.wording.release_line import ReleaseLine, lines_for

CHARGES_A_PAGE: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseCharges:
    """Holds what a release took of each account, and the sum by then; empty where it took nothing."""

    line: ReleaseLine | None  # None: charged after a restore, for what nobody knows
    at: datetime
    cells: tuple[tuple[str, str], ...]  # heading, exact amount


@require_safe
def budget_tab(request: PersonRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug)
    all_accounts = list(Account.objects.filter(dataset=dataset).order_by("pk"))
    balances = balances_of(all_accounts)
    restored = restored_charges(all_accounts)
    histories = histories_of(all_accounts, restored)
    accounts = [account for account in all_accounts if account.pk in histories]
    restored = [charge for charge in restored if charge.account in histories]
    moments: Paginator[Moment] = Paginator(
        charge_list.moments_of(accounts, restored) if accounts else [], CHARGES_A_PAGE
    )
    if len(accounts) == 1:  # each release has one charge, which was counted
        moments.count = histories[accounts[0].pk].charges
    charges = moments.get_page(request.GET.get("charges"))
    listed = charge_list.charges_at(
        list(charges), accounts, histories, restored, is_latest=not charges.has_previous()
    )
    context = {
        "section": "datasets",
        "dataset": dataset,
        "budget": queries.budget_lines(balances),
        "alerts": alerts.alerts_on(all_accounts, balances, request.user),
        "charts": [budget_chart(history) for history in histories.values()],
        "heads": [head for account in accounts for head in _heads(account)],
        "charges": charges,
        "restored": RESTORED,
        "lines": _lines(request, listed, accounts),
        "promise": promise_for(queries.total_guarantee(dataset), dataset, subject="the releases so far"),
        "may_change_limits": may(request.user, dataset, Act.CHANGE_LIMIT),
    }
    return render(request, "budget/budget.html", context)


def _lines(
    request: PersonRequest, listed: Sequence[ListedCharge], accounts: Sequence[Account]
) -> list[ReleaseCharges]:
    releases_shown = [charge.release for charge in listed if charge.release is not None]
    releases = Release.objects.select_related("dataset", "version").in_bulk(releases_shown)
    lines = {
        line.release.pk: line for line in lines_for(request.user, [releases[pk] for pk in releases_shown])
    }
    return [
        ReleaseCharges(
            line=None if charge.release is None else lines[charge.release],
            at=charge.at,
            cells=tuple(cell for account in accounts for cell in _cells(account, charge)),
        )
        for charge in listed
    ]


def _heads(account: Account) -> tuple[str, str]:
    return AccountKind(account.kind).label, "Sum"


def _cells(account: Account, charge: ListedCharge) -> tuple[tuple[str, str], ...]:
    amounts = charge.units.get(account.pk), charge.totals.get(account.pk)
    texts = ("" if units is None else as_decimal(units, AccountKind(account.kind)) for units in amounts)
    return tuple(zip(_heads(account), texts, strict=True))
