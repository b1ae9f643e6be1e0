"""Shows a dataset's budget: what is left, what took it, and what is promised so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from heatmaps import queries
from heatmaps.budget import alerts
from heatmaps.budget.history import BudgetStep, History, histories_of
from heatmaps.budget.spending import RESTORED
from heatmaps.ledger.amounts import as_decimal
from heatmaps.models import Release
from heatmaps.people.permissions import Act, dataset_for, may
from heatmaps.views.budget.budget_chart import budget_chart
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.release import promise_for
from heatmaps.wording.release_line import ReleaseLine, lines_for

CHARGES_A_PAGE: Final = 6

_Charge: TypeAlias = tuple[datetime, UUID | None]  # None: after a restore


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseCharges:
    """Holds what a release took of each account, and the sum by then; empty where it took nothing."""

    line: ReleaseLine | None  # None: charged after a restore, for what nobody knows
    at: datetime
    cells: tuple[tuple[str, str], ...]  # heading, exact amount


@require_safe
def budget_tab(request: PersonRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug)
    histories = histories_of(dataset)
    steps = _by_charge(histories)
    charges = Paginator(list(reversed(steps)), CHARGES_A_PAGE).get_page(request.GET.get("charges"))
    context = {
        "section": "datasets",
        "dataset": dataset,
        "budget": queries.budget(dataset),
        "alerts": alerts.alerts_of(dataset, request.user),
        "charts": [budget_chart(history) for history in histories],
        "heads": [head for history in histories for head in _heads(history)],
        "charges": charges,
        "restored": RESTORED,
        "lines": _lines(request, list(charges.object_list), histories, steps),
        "promise": promise_for(queries.total_guarantee(dataset), dataset, subject="the releases so far"),
        "may_change_limits": may(request.user, dataset, Act.CHANGE_LIMIT),
    }
    return render(request, "budget/budget.html", context)


def _by_charge(histories: Sequence[History]) -> dict[_Charge, dict[str, BudgetStep]]:
    """Groups steps by account, in the order they were taken; what was charged after one restore is
    together."""
    steps = sorted(
        (step.at, str(step.release), history.kind, step) for history in histories for step in history.steps
    )
    charges: dict[_Charge, dict[str, BudgetStep]] = {}
    for at, _, kind, step in steps:
        charges.setdefault((at, step.release), {})[kind] = step
    return charges


def _lines(
    request: PersonRequest,
    page_charges: Sequence[_Charge],
    histories: Sequence[History],
    charges: dict[_Charge, dict[str, BudgetStep]],
) -> list[ReleaseCharges]:
    releases_shown = [release for _, release in page_charges if release is not None]
    releases = Release.objects.select_related("dataset", "version").in_bulk(releases_shown)
    lines = {
        line.release.pk: line for line in lines_for(request.user, [releases[pk] for pk in releases_shown])
    }
    return [
        ReleaseCharges(
            line=None if charge[1] is None else lines[charge[1]],
            at=charge[0],
            cells=tuple(
                cell for history in histories for cell in _cells(history, charges[charge].get(history.kind))
            ),
        )
        for charge in page_charges
    ]


def _heads(history: History) -> tuple[str, str]:
    return history.kind.label, "Sum"


def _cells(history: History, step: BudgetStep | None) -> tuple[tuple[str, str], ...]:
    amounts = ("", "") if step is None else (step.units, step.total)
    texts = (as_decimal(units, history.kind) if isinstance(units, int) else "" for units in amounts)
    return tuple(zip(_heads(history), texts, strict=True))
