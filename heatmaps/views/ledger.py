"""The ledger of a dataset: its page with filters, and its files."""

from typing import Final

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from heatmaps import alerts, queries
from heatmaps.access import Act, dataset_for, may
from heatmaps.ledger import verification
from heatmaps.ledger_files import file_of
from heatmaps.views.forms.ledger import LedgerFilter
from heatmaps.views.pages import page_of
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.events import event_line

EVENTS_A_PAGE: Final = 25
VERIFIED_UNASKED: Final = 200  # events; longer chains are verified when somebody asks for it


@require_safe
def ledger(request: PersonRequest, slug: str) -> HttpResponse:
    found = dataset_for(request.user, slug, Act.READ_LEDGER)
    sees_data = may(request.user, found, Act.SEE_DATA)
    form = LedgerFilter(found, request.GET)
    chain = queries.events_of(found, sees_data=sees_data)
    total = chain.count()
    events = page_of(
        request,
        queries.events_of(found, sees_data=sees_data, selection=form.selection()),
        "page",
        size=EVENTS_A_PAGE,
    )
    verify = "verify" in request.GET or total <= VERIFIED_UNASKED
    context = {
        "section": "datasets",
        "dataset": found,
        "budget": queries.budget(found),
        "alerts": alerts.alerts_of(found, request.user),
        "form": form,
        "total": total,  # the draws that run now are not counted for those who may not see them
        "events": events,
        "lines": [event_line(event, exact_time=sees_data) for event in events],
        "report": verification.verify(found) if verify else None,
        "sees_data": sees_data,
        "may_change_limits": may(request.user, found, Act.CHANGE_LIMIT),
    }
    return render(request, "ledger/ledger.html", context)


@require_safe
def ledger_file(request: PersonRequest, slug: str, suffix: str) -> StreamingHttpResponse:
    """The whole chain, streamed: for stewards with all that its hashes cover."""
    found = dataset_for(request.user, slug, Act.READ_LEDGER)
    return file_of(found, suffix, sees_data=may(request.user, found, Act.SEE_DATA))
