"""One release: its page, its map, its files."""

from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from heatmaps import maps, published, queries, releases
from heatmaps.access import Act, may
from heatmaps.ledger.errors import LedgerError
from heatmaps.models import Release, ReleaseState
from heatmaps.views.requests import PersonRequest
from heatmaps.wording import release as wording
from mechanisms import catalogue

TABLE_ROWS: Final = 15


@require_safe
def release(request: PersonRequest, release_id: UUID) -> HttpResponse:
    found = queries.release_for(request.user, release_id)
    context = {
        "section": "datasets",
        "release": found,
        "dataset": found.dataset,
        "entry": catalogue.get(found.mechanism),
        "parameters": wording.parameter_words(found),
        "charges": queries.charges_of(found),
        "sentences": wording.for_release(found),
        "total": wording.for_dataset(found.dataset),
        "expected_error": wording.error_words(found.expected_error, queries.region_of(found.dataset)),
        "may_cancel": _may_cancel(request, found),
        "may_read_ledger": may(request.user, found.dataset, Act.READ_LEDGER),
    }
    if found.state == ReleaseState.PUBLISHED:
        heatmap = releases.heatmap_of(found)
        region = queries.region_of(found.dataset)
        context["rows"] = maps.top_regions(heatmap, region, most=TABLE_ROWS)
        context["regions"] = heatmap.values.size
        context["formats"] = published.formats_for(found)
    return render(request, "releases/detail.html", context)


@never_cache
@require_safe
def release_state(request: PersonRequest, release_id: UUID) -> JsonResponse:
    """The public state, for the script of a queued release's page."""
    return JsonResponse({"state": queries.release_for(request.user, release_id).public_state})


@require_safe
def release_map(request: PersonRequest, release_id: UUID) -> HttpResponse:
    """The map as a document of its own, for the frame of the release's page."""
    found = published_for(request, release_id)
    title = f"{found.dataset.title}, {catalogue.get(found.mechanism).title}"
    html = maps.document(
        releases.heatmap_of(found),
        queries.region_of(found.dataset),
        nonce=str(request.csp_nonce),
        title=title,
    )
    return HttpResponse(html)


@require_POST
def cancel(request: PersonRequest, release_id: UUID) -> HttpResponse:
    found = queries.release_for(request.user, release_id)
    try:
        releases.cancel(request.user, found)
        messages.success(request, "The release is cancelled; its charge is back in the budget.")
    except LedgerError as refusal:
        messages.error(request, f"Nothing was changed: {refusal}.")
    return redirect("release", release_id=found.pk)


def published_for(request: PersonRequest, release_id: UUID) -> Release:
    """The published release of that name, for those who may see it. Errors: Http404, PermissionDenied."""
    return queries.published_for(request.user, release_id)


def _may_cancel(request: PersonRequest, found: Release) -> bool:
    own = found.requested_by_id == request.user.pk
    return own and found.public_state == "queued" and may(request.user, found.dataset, Act.RELEASE)
