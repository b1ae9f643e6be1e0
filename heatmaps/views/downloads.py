"""A published release as a file, and its release sheet as a page."""

from uuid import UUID

from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from heatmaps import caching, published
from heatmaps.exports.sheet_words import in_words
from heatmaps.publication import is_outsider
from heatmaps.views.public import open_if_public
from heatmaps.views.releases import published_for
from heatmaps.views.requests import PersonRequest
from mechanisms.check import ParameterError


@open_if_public
@require_safe
def download(request: PersonRequest, release_id: UUID, suffix: str) -> HttpResponseBase:
    """`suffix`: as in `published.download`."""
    found = published_for(request, release_id)
    try:
        file = published.download(found, suffix)
    except ParameterError as error:
        raise Http404(str(error)) from error
    answer = FileResponse(file.stream, as_attachment=True, filename=file.name, content_type=file.content_type)
    caching.mark(answer, request.user, found, by="Cookie")
    return caching.unless_known(request, answer, file.stream)


@open_if_public
@require_safe
def sheet(request: PersonRequest, release_id: UUID) -> HttpResponse:
    """What was promised and how it was made, to read."""
    found = published_for(request, release_id)
    context = {
        "section": "datasets",
        "release": found,
        "dataset": found.dataset,
        "outsider": is_outsider(request.user, found),
        "sheet": in_words(published.sheet_of(found)),
    }
    return render(request, "releases/sheet.html", context)
