"""Shows one release: its page, its map, its files."""

from datetime import timedelta
from math import ceil
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from heatmaps import queries
from heatmaps.districts.files import files_of
from heatmaps.exports import district_sums, release_files
from heatmaps.exports.sheet_words import citation
from heatmaps.ledger.errors import LedgerError
from heatmaps.ledger.reading import was_refused
from heatmaps.ledger.transitions.moves import QUEUED
from heatmaps.maps.document import document
from heatmaps.maps.streets import streets_of
from heatmaps.models import Release, ReleaseState
from heatmaps.people.permissions import Act, may
from heatmaps.record import hold
from heatmaps.releases import lifecycle, publication
from heatmaps.releases.comparison import is_comparable
from heatmaps.releases.names import may_rename
from heatmaps.views.basemap import allow_tiles
from heatmaps.views.dataset.districts import districts_beside, panel_file
from heatmaps.views.releases.public import open_if_public
from heatmaps.views.requests import PersonRequest
from heatmaps.wording import release as wording
from heatmaps.wording.collection import title_of
from heatmaps.wording.guides import line_of
from heatmaps.wording.heatmap import GUIDE_FITS, SET_ASIDE
from heatmaps.wording.release_line import line_for, release_line


@open_if_public
@require_safe
def release(request: PersonRequest, release_id: UUID) -> HttpResponse:
    release = publication.readable_release(request.user, release_id)
    context = about(request, release) | {
        "promise": wording.promise_of(release),
        "rename_at": reverse("release-name", args=[release.pk]) if may_rename(request.user, release) else "",
        "may_cancel": _may_cancel(request, release),
        "seconds_left": seconds_left(release),
        "may_publish": may(request.user, release.dataset, Act.PUBLISH),
        "waits_for_operator": _waits_for_operator(request, release),
        "was_refused": release.state == ReleaseState.FAILED and was_refused(release),
    }
    if release.state == ReleaseState.PUBLISHED:
        context |= _result_context(release) | _sharing_context(request, release)
        context["districts"] = districts_beside(request, release)
    return render(request, "releases/detail.html", context)


def about(request: PersonRequest, release: Release) -> dict[str, Any]:
    """Returns the facts on pages about a release of any state, and how it is made."""
    outsider = publication.is_outsider(request.user, release)
    line = line_for(request.user, release)
    return {
        "section": "datasets",
        "release": release,
        "dataset": release.dataset,
        "line": line,
        "start": line_of(release, member=line.is_for_member),
        "start_at": _start_at(release, outsider=outsider),
        "result_word": wording.result_word(release.mechanism, runs_on=release.dataset.origin.runs_on),
        "parameters": wording.parameter_words(release),
        "outsider": outsider,  # somebody who reads it only because it is public
        "charges": [] if outsider else queries.charges_of(release),
        "together": "" if outsider else wording.losses_together(release.dataset),
        "expected_error": wording.error_words(
            release.mechanism,
            release.expected_error,
            queries.released_region(release),
            runs_on=release.dataset.origin.runs_on,
        ),
        "may_read_ledger": may(request.user, release.dataset, Act.READ_LEDGER),
    }


@never_cache
@require_safe
def release_state(request: PersonRequest, release_id: UUID) -> JsonResponse:
    """Tells the public state and when it ends, for the script of a queued release's page."""
    release = queries.release_for(request.user, release_id)
    return JsonResponse({"state": release.public_state, "seconds": seconds_left(release)})


@open_if_public
@require_safe
def release_map(request: PersonRequest, release_id: UUID) -> HttpResponseBase:
    """Serves the map as a document of its own, for the frame of the release's page."""
    release = published_for(request, release_id)
    title = f"{release.dataset.title}, {title_of(release)}"
    parts = release_files.parts_of(release)
    streets = streets_of(public=publication.is_outsider(request.user, release))
    files = files_of(release.dataset) if district_sums.has_sums(release) else ()
    text = document(
        parts,
        nonce=str(request.csp_nonce),
        title=title,
        streets=streets,
        districts=[panel_file(release, file) for file in files],
    )
    return allow_tiles(HttpResponse(text), streets)


@require_POST
def cancel(request: PersonRequest, release_id: UUID) -> HttpResponse:
    release = queries.release_for(request.user, release_id)
    try:
        lifecycle.cancel(request.user, release)
        messages.success(request, "The release is cancelled; its charge is back in the budget.")
    except LedgerError as refusal:
        messages.error(request, f"Nothing was changed: {refusal}.")
    return redirect("release", release_id=release.pk)


def published_for(request: PersonRequest, release_id: UUID) -> Release:
    """Returns the published release of that name, for those who may see it. Errors: Http404,
    PermissionDenied."""
    return queries.published_for(request.user, release_id)


def _start_at(release: Release, *, outsider: bool) -> str:
    """Returns the page of the map that it started from; empty where it is none, or the reader may not open
    it."""
    start = release.guide_release
    if start is None:
        return ""
    is_own = start.dataset_id == release.dataset_id and not outsider
    return reverse("release", args=[start.pk]) if is_own or publication.is_public(start.pk) else ""


def seconds_left(release: Release) -> int:
    """Counts the seconds until its outcome is told; here, as a reader's clock may be wrong."""
    return max(0, ceil((release.visible_at - timezone.now()) / timedelta(seconds=1)))


def _waits_for_operator(request: PersonRequest, release: Release) -> bool:
    """Tells a fact of the server to those who may ask its operator."""
    is_queued = release.state in QUEUED and hold.keeps_back(release)
    return is_queued and may(request.user, release.dataset, Act.MANAGE_MEMBERS)


def _result_context(release: Release) -> dict[str, Any]:
    """Returns the result to look at and to download."""
    return {
        "formats": release_files.formats_for(release),
        "table": release_files.table_of(release),
        "comparable": is_comparable(release),
        "table_template": release_files.kind_of(release).table_template,
    }


def _sharing_context(request: PersonRequest, release: Release) -> dict[str, Any]:
    """Returns what a published release is linked, embedded and cited by, and what its sheet says of its
    start."""
    sheet = release_files.sheet_of(release)
    addresses = {
        name: request.build_absolute_uri(reverse(page, args=[release.pk]))
        for name, page in (("page", "release"), ("embed", "embed"), ("image", "release-og-image"))
    }
    return {
        "public_line": release_line(release),  # for programs that show links
        "is_open": release.is_public,
        "addresses": addresses,
        "sheet_title": sheet["title"],
        "set_aside": "" if sheet.get(GUIDE_FITS, True) else SET_ASIDE,
        "citation": citation(sheet, addresses["page"]),
    }


def _may_cancel(request: PersonRequest, release: Release) -> bool:
    own = release.requested_by_id == request.user.pk
    return own and lifecycle.may_be_cancelled(release) and may(request.user, release.dataset, Act.RELEASE)
