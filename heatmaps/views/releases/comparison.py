"""Compares two released maps: chooses the other one, shows both and what changed."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from heatmaps.districts.files import files_of
from heatmaps.exports.comparison import comparison_of
from heatmaps.maps.comparison import comparison_document
from heatmaps.maps.streets import streets_of
from heatmaps.models import Release
from heatmaps.releases.comparison import comparable_with, is_comparable, overlap_of
from heatmaps.releases.publication import is_outsider
from heatmaps.views.basemap import allow_tiles
from heatmaps.views.dataset.districts import panel_file
from heatmaps.views.releases.public import open_if_public
from heatmaps.views.releases.release import published_for
from heatmaps.views.requests import PersonRequest
from heatmaps.wording.comparison import differences, names
from heatmaps.wording.release_line import line_for, lines_for


@open_if_public
@require_safe
def comparable(request: PersonRequest, release_id: UUID) -> HttpResponse:
    """Lists the maps that one can be compared with."""
    release = published_for(request, release_id)
    releases = comparable_with(request.user, release) if is_comparable(release) else []
    lines = lines_for(request.user, releases)
    context = _release_context(request, release) | {"comparable": is_comparable(release), "lines": lines}
    return render(request, "releases/comparable.html", context)


@open_if_public
@require_safe
def comparison(request: PersonRequest, release_id: UUID, other_id: UUID) -> HttpResponse:
    """Shows two maps, and what differs in how they were made."""
    first, second = _both(request, release_id, other_id)
    context = _release_context(request, first) | {
        "other": second,
        "names": names(first, second),
        "lines": lines_for(request.user, [first, second]),
        "differences": differences(first, second),
        "is_part": any(
            overlap_of(first, second) != overlap_of(release, release) for release in (first, second)
        ),
        "has_map": comparison_of(first, second) is not None,
        "address": request.build_absolute_uri(request.path),
    }
    return render(request, "releases/comparison.html", context)


@open_if_public
@require_safe
def comparison_map(request: PersonRequest, release_id: UUID, other_id: UUID) -> HttpResponseBase:
    """Serves both maps as a document of its own, for the frame of the comparison's page."""
    first, second = _both(request, release_id, other_id)
    parts = comparison_of(first, second)
    if parts is None:
        raise Http404("these maps have no comparison")
    streets = streets_of(public=any(is_outsider(request.user, release) for release in (first, second)))
    by_dataset = {release.dataset_id: release for release in (first, second)}
    text = comparison_document(
        parts,
        nonce=str(request.csp_nonce),
        title=" and ".join(names(first, second)),
        streets=streets,
        districts=[panel_file(at, file) for at in by_dataset.values() for file in files_of(at.dataset)],
    )
    return allow_tiles(HttpResponse(text), streets)


def _both(request: PersonRequest, release_id: UUID, other_id: UUID) -> tuple[Release, Release]:
    """Returns two different maps that share ground. Errors: Http404."""
    first, second = published_for(request, release_id), published_for(request, other_id)
    if (
        first == second
        or not (is_comparable(first) and is_comparable(second))
        or overlap_of(first, second) is None
    ):
        raise Http404("these maps have no comparison")
    return first, second


def _release_context(request: PersonRequest, release: Release) -> dict[str, Any]:
    return {
        "section": "datasets",
        "release": release,
        "dataset": release.dataset,
        "line": line_for(request.user, release),
        "outsider": is_outsider(request.user, release),
    }
