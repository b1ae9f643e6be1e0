"""Shows where a budget went: by person, by mechanism, by day."""

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from heatmaps import queries
from heatmaps.budget import alerts, spending
from heatmaps.budget.spending import Spending, SpendingPart
from heatmaps.people.permissions import Act, dataset_for, may
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.mechanisms import mechanism_title
from heatmaps.wording.release import for_dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class PartLine:
    name: str
    amount: str
    percent: str  # of what is taken, to two places
    releases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountLines:
    title: str
    used: str
    limit: str
    unbounded: bool
    tables: tuple[tuple[str, tuple[PartLine, ...]], ...]


@require_safe
def spending_page(request: PersonRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug)
    context = {
        "section": "datasets",
        "dataset": dataset,
        "accounts": [_account(account) for account in spending.spending_of(dataset, request.user)],
        "alerts": alerts.alerts_of(dataset, request.user),
        "names": may(request.user, dataset, Act.READ_LEDGER),
        "total": for_dataset(dataset),
    }
    return render(request, "budget/spending.html", context)


def _account(account: Spending) -> AccountLines:
    return AccountLines(
        title=account.kind.label,
        used=queries.amount_text(account.committed, account.kind),
        limit=queries.amount_text(account.limit, account.kind, missing=queries.NO_LIMIT),
        unbounded=account.unbounded,
        tables=tuple(
            (title, tuple(_part(part, account, by) for part in account.parts[by]))
            for by, title in spending.BY.items()
        ),
    )


def _part(part: SpendingPart, account: Spending, by: str) -> PartLine:
    return PartLine(
        name=mechanism_title(part.name) if by == "mechanism" else part.name,
        amount=queries.amount_text(part.units, account.kind),
        percent=queries.percent_of(part.units, account.committed),
        releases=part.releases,
    )
