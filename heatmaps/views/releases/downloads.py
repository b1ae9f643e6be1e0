"""Serves a published release as a file, and its release sheet as a page."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from heatmaps.exports import release_files
from heatmaps.exports.sheet_words import citation, in_words
from heatmaps.http import caching
from heatmaps.models import Release, ReleaseState
from heatmaps.releases.publication import readable_release
from heatmaps.result_kinds.entries import entry_of
from heatmaps.views.releases.map_programs import uses_of
from heatmaps.views.releases.public import open_if_public
from heatmaps.views.releases.release import about, published_for
from heatmaps.views.requests import PersonRequest
from heatmaps.wording import release as wording
from mechanisms.check import ParameterError


@open_if_public
@require_safe
def download(request: PersonRequest, release_id: UUID, suffix: str) -> HttpResponseBase:
    """Serves a file; `suffix`, `look` and `layer`: as in `release_files.download`."""
    release = published_for(request, release_id)
    style = {name: request.GET[name] for name in ("look", "layer") if name in request.GET}
    try:
        file = release_files.download(release, suffix, **style)
    except ParameterError as error:
        raise Http404(str(error)) from error
    return caching.answer(request, request.user, file, by="Cookie")


@open_if_public
@require_safe
def preview(request: PersonRequest, release_id: UUID, name: str) -> HttpResponseBase:
    """Serves a small picture; `name` and `look`: as in `release_files.preview`."""
    release = published_for(request, release_id)
    style = {"look": request.GET["look"]} if "look" in request.GET else {}
    try:
        file = release_files.preview(release, name, **style)
    except ParameterError as error:
        raise Http404(str(error)) from error
    return caching.answer(request, request.user, file, by="Cookie")


@open_if_public
@require_safe
def sheet(request: PersonRequest, release_id: UUID) -> HttpResponse:
    """Shows all that is promised and how it was made; before there is a result, what is known then."""
    release = readable_release(request.user, release_id)
    context = about(request, release)
    context |= {
        "entry": entry_of(release),
        "sentences": wording.for_release(release),
        "total": () if context["outsider"] else wording.for_dataset(release.dataset),
    }
    if release.state == ReleaseState.PUBLISHED:
        content = release_files.sheet_of(release)
        context |= {"sheet": in_words(content), "copied": _texts_to_copy(request, release, content)}
        context["map_programs"] = uses_of(request, release)
    return render(request, "releases/sheet.html", context)


def _texts_to_copy(
    request: PersonRequest, release: Release, content: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Returns (title, text) of what programs and texts need of a published release."""
    kind = release_files.kind_of(release)
    page = request.build_absolute_uri(reverse("release", args=[release.pk]))
    files = [
        (file_format.title, reverse("api:" + kind.stem, args=[release.pk, file_format.name]))
        for file_format in release_files.formats_for(release)
    ]
    addresses = [("In the API", reverse("api:release", args=[release.pk])), *files]
    return [
        ("Citation", citation(content, page)),
        *((title, request.build_absolute_uri(address)) for title, address in addresses),
        ("SHA-256 of the result", content[kind.digest]),
    ]
