"""One release: its page, its map, its files."""

from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from heatmaps import maps, publication, published, queries, releases
from heatmaps.access import Act, may
from heatmaps.ledger.errors import LedgerError
from heatmaps.models import Release, ReleaseState
from heatmaps.views.public import open_if_public
from heatmaps.views.requests import PersonRequest
from heatmaps.wording import release as wording
from heatmaps.wording.distances import distances_words
from heatmaps.wording.zones import shares_words
from mechanisms import catalogue
from mechanisms.places import PlaceDistances
from mechanisms.point import Point
from mechanisms.zones import ZoneShares

TABLE_ROWS: Final = 15


@open_if_public
@require_safe
def release(request: PersonRequest, release_id: UUID) -> HttpResponse:
    found = publication.readable_release(request.user, release_id)
    outsider = publication.is_outsider(request.user, found)
    context = {
        "section": "datasets",
        "release": found,
        "dataset": found.dataset,
        "entry": catalogue.get(found.mechanism),
        "result_word": wording.result_word(found.mechanism),
        "parameters": wording.parameter_words(found),
        "outsider": outsider,  # somebody who reads it only because it is public
        "charges": [] if outsider else queries.charges_of(found),
        "sentences": wording.for_release(found),
        "total": () if outsider else wording.for_dataset(found.dataset),
        "expected_error": wording.error_words(found.expected_error, queries.released_region(found)),
        "may_cancel": _may_cancel(request, found),
        "may_publish": may(request.user, found.dataset, Act.PUBLISH),
        "may_read_ledger": may(request.user, found.dataset, Act.READ_LEDGER),
    }
    if found.state == ReleaseState.PUBLISHED:
        context |= _published(found)
    return render(request, "releases/detail.html", context)


@never_cache
@require_safe
def release_state(request: PersonRequest, release_id: UUID) -> JsonResponse:
    """The public state, for the script of a queued release's page."""
    return JsonResponse({"state": queries.release_for(request.user, release_id).public_state})


@open_if_public
@require_safe
def release_map(request: PersonRequest, release_id: UUID) -> HttpResponse:
    """The map as a document of its own, for the frame of the release's page."""
    found = published_for(request, release_id)
    title = f"{found.dataset.title}, {catalogue.get(found.mechanism).title}"
    result, region = releases.result_of(found), queries.released_region(found)
    nonce = str(request.csp_nonce)
    if isinstance(result, ZoneShares):
        parts = maps.zone_parts(result, region)
        return HttpResponse(maps.rings_document(parts, nonce=nonce, title=title))
    if isinstance(result, PlaceDistances):
        parts = maps.distance_parts(result, region)
        return HttpResponse(maps.rings_document(parts, nonce=nonce, title=title))
    if isinstance(result, Point):
        return HttpResponse(maps.point_document(result, region, nonce=nonce, title=title))
    return HttpResponse(maps.document(result, region, nonce=nonce, title=title))


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


def _published(found: Release) -> dict[str, Any]:
    """What there is to look at and to download, by kind."""
    result = releases.result_of(found)
    context: dict[str, Any] = {"formats": published.formats_for(found)}
    if isinstance(result, Point):
        return context | {"point": maps.point_words(result)}
    if isinstance(result, ZoneShares):
        return context | {"shares": shares_words(result)}
    if isinstance(result, PlaceDistances):
        return context | {"distances": distances_words(result)}
    region = queries.released_region(found)
    return context | {
        "rows": maps.top_regions(result, region, most=TABLE_ROWS),
        "centres": len(maps.centres_of(result, region)),
        "regions": result.values.size,
    }


def _may_cancel(request: PersonRequest, found: Release) -> bool:
    own = found.requested_by_id == request.user.pk
    return own and found.public_state == "queued" and may(request.user, found.dataset, Act.RELEASE)
