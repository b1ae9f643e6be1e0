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
    taken: str
    limit: str
    unbounded: bool
    tables: tuple[tuple[str, tuple[PartLine, ...]], ...]


@require_safe
def spending_page(request: PersonRequest, slug: str) -> HttpResponse:
    found = dataset_for(request.user, slug)
    context = {
        "section": "datasets",
        "dataset": found,
        "accounts": [_account(one) for one in spending.spending_of(found, request.user)],
        "alerts": alerts.alerts_of(found, request.user),
        "names": may(request.user, found, Act.READ_LEDGER),
        "total": for_dataset(found),
    }
    return render(request, "ledger/spending.html", context)


def _account(one: Spending) -> AccountLines:
    return AccountLines(
        title=one.kind.label,
        taken=queries.amount_text(one.committed, one.kind),
        limit=queries.amount_text(one.limit, one.kind, missing=queries.NO_LIMIT),
        unbounded=one.unbounded,
        tables=tuple(
            (title, tuple(_part(part, one, by) for part in one.parts[by]))
            for by, title in spending.BY.items()
        ),
    )


def _part(part: SpendingPart, one: Spending, by: str) -> PartLine:
    return PartLine(
        name=mechanism_title(part.name) if by == "mechanism" else part.name,
        amount=queries.amount_text(part.units, one.kind),
        percent=queries.percent_of(part.units, one.committed),
        releases=part.releases,
    )
