"""Shows a dataset's ledger with filters, and serves its files."""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from heatmaps import queries
from heatmaps.budget import alerts
from heatmaps.http.ledger_download import file_of
from heatmaps.ledger import verification
from heatmaps.models import Event, Release
from heatmaps.people.permissions import Act, dataset_for, may
from heatmaps.views.budget.forms.ledger import LedgerFilter
from heatmaps.views.pages import page_of
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.events import event_line
from heatmaps.wording.release_line import lines_for

EVENTS_A_PAGE: Final = 8  # three screens of a telephone
VERIFIED_UNASKED: Final = 200  # events; longer chains are verified when somebody asks for it


@require_safe
def ledger(request: PersonRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, Act.READ_LEDGER)
    sees_data = may(request.user, dataset, Act.SEE_DATA)
    form = LedgerFilter(dataset, request.GET)
    chain = queries.events_of(dataset)
    total = chain.count()
    events = page_of(
        request,
        queries.events_of(dataset, selection=form.selection()),
        "page",
        size=EVENTS_A_PAGE,
    )
    titles = _titles(request, events)
    verify = "verify" in request.GET or total <= VERIFIED_UNASKED
    context = {
        "section": "datasets",
        "dataset": dataset,
        "alerts": alerts.alerts_of(dataset, request.user),
        "form": form,
        "filters": form.narrows or "filter" in request.GET,
        "total": total,  # the draws that run now are not counted for those who may not see them
        "events": events,
        "rows": [(event_line(event, exact_time=sees_data), titles.get(event.release)) for event in events],
        "report": verification.verify(dataset) if verify else None,
        "sees_data": sees_data,
    }
    return render(request, "budget/ledger.html", context)


def _titles(request: PersonRequest, events: Iterable[Event]) -> dict[UUID | None, str]:
    """Returns titles of the releases that events are about."""
    named = {event.release for event in events if event.release is not None}
    releases = Release.objects.filter(pk__in=named).select_related("dataset", "version")
    return {line.release.pk: line.title for line in lines_for(request.user, releases)}


@require_safe
def ledger_file(request: PersonRequest, slug: str, suffix: str) -> StreamingHttpResponse:
    """Streams the whole chain: for stewards with all that its hashes cover."""
    dataset = dataset_for(request.user, slug, Act.READ_LEDGER)
    return file_of(dataset, suffix, sees_data=may(request.user, dataset, Act.SEE_DATA))
