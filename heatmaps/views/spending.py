"""Why a budget is where it is: by person, by mechanism, by day."""

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from heatmaps import alerts, queries, spending
from heatmaps.access import Act, dataset_for, may
from heatmaps.spending import Part, Spending
from heatmaps.views.requests import PersonRequest


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
    }
    return render(request, "ledger/spending.html", context)


def _account(one: Spending) -> AccountLines:
    return AccountLines(
        title=one.kind.label,
        taken=queries.amount_text(one.committed, one.kind),
        limit=queries.amount_text(one.limit, one.kind, missing=queries.NO_LIMIT),
        unbounded=one.unbounded,
        tables=tuple(
            (title, tuple(_part(part, one) for part in one.parts[by])) for by, title in spending.BY.items()
        ),
    )


def _part(part: Part, one: Spending) -> PartLine:
    return PartLine(
        name=part.name,
        amount=queries.amount_text(part.units, one.kind),
        percent=queries.percent_of(part.units, one.committed),
        releases=part.releases,
    )
