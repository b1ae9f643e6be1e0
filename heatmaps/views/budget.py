"""Shows a dataset's budget: what is left, what took it, and what is promised so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from heatmaps import queries
from heatmaps.budget import alerts
from heatmaps.budget.history import History, Step, histories_of
from heatmaps.ledger.amounts import as_decimal
from heatmaps.models import Release
from heatmaps.people.permissions import Act, dataset_for, may
from heatmaps.views.budget_chart import budget_chart
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.release import promise_for
from heatmaps.wording.release_line import ReleaseLine, lines_for

CHARGES_A_PAGE: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeLine:
    """What a release took of each account, and what was taken by then; empty where it took nothing."""

    line: ReleaseLine
    cells: tuple[tuple[str, str], ...]  # heading, exact amount


@require_safe
def budget_tab(request: PersonRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug)
    histories = histories_of(dataset)
    steps = _by_release(histories)
    charges = Paginator(list(reversed(steps)), CHARGES_A_PAGE).get_page(request.GET.get("charges"))
    context = {
        "section": "datasets",
        "dataset": dataset,
        "budget": queries.budget(dataset),
        "alerts": alerts.alerts_of(dataset, request.user),
        "charts": [budget_chart(history) for history in histories],
        "heads": [head for history in histories for head in _heads(history)],
        "charges": charges,
        "lines": _lines(request, list(charges.object_list), histories, steps),
        "promise": promise_for(queries.total_guarantee(dataset), dataset, subject="the releases so far"),
        "may_change_limits": may(request.user, dataset, Act.CHANGE_LIMIT),
    }
    return render(request, "ledger/budget.html", context)


def _by_release(histories: Sequence[History]) -> dict[UUID, dict[str, Step]]:
    """Each release's steps by account, in the order they were taken."""
    steps = sorted(
        (
            (step.at, step.release, history.kind, step)
            for history in histories
            for step in history.steps
            if step.release is not None
        ),
        key=lambda row: row[:2],
    )
    found: dict[UUID, dict[str, Step]] = {}
    for _, release, kind, step in steps:
        found.setdefault(release, {})[kind] = step
    return found


def _lines(
    request: PersonRequest,
    shown: Sequence[UUID],
    histories: Sequence[History],
    steps: dict[UUID, dict[str, Step]],
) -> list[ChargeLine]:
    releases = Release.objects.select_related("dataset", "version").in_bulk(shown)
    return [
        ChargeLine(
            line=line,
            cells=tuple(
                cell
                for history in histories
                for cell in _cells(history, steps[line.release.pk].get(history.kind))
            ),
        )
        for line in lines_for(request.user, [releases[release] for release in shown])
    ]


def _heads(history: History) -> tuple[str, str]:
    return history.kind.label, "Sum"


def _cells(history: History, step: Step | None) -> tuple[tuple[str, str], ...]:
    amounts = ("", "") if step is None else (step.units, step.total)
    texts = (as_decimal(units, history.kind) if isinstance(units, int) else "" for units in amounts)
    return tuple(zip(_heads(history), texts, strict=True))
