"""Serves the streets under maps, and lets pages show tiles of another host where settings say so."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from heatmaps.http import byte_ranges
from heatmaps.http.rate_limits import limited_visits
from heatmaps.maps.pmtiles import VECTOR, Archive, NotReadable
from heatmaps.maps.streets import Streets, streets_of

# Whoever asks names the version in the address: `heatmaps.maps.streets`.
_CACHE: Final = "public, max-age=86400"


@login_not_required
@require_safe
def archive(request: HttpRequest) -> HttpResponseBase:
    """Serves the file of vector tiles, by byte ranges. It is a public map: anybody may read it."""
    pmtiles = _archive()
    if pmtiles.kind != VECTOR:
        raise Http404
    file = pmtiles.path.open("rb")
    answer = byte_ranges.answer(request, file, content_type="application/vnd.pmtiles", cache=_CACHE)
    # Maps ask for parts; a whole city may be hundreds of megabytes.
    counted = _count_visit(request, answer) if answer.streaming else answer
    if counted is not answer:
        file.close()
    return counted


@limited_visits
def _count_visit(_: HttpRequest, answer: HttpResponseBase) -> HttpResponseBase:
    return answer


@login_not_required
@require_safe
def tile(request: HttpRequest, zoom: int, x: int, y: int) -> HttpResponse:
    """Serves one picture of a file of pictures."""
    pmtiles = _archive()
    if pmtiles.kind == VECTOR:
        raise Http404
    head = HttpResponse(content_type=f"image/{pmtiles.kind}")
    head["ETag"], head["Cache-Control"] = f'"{pmtiles.version}"', _CACHE
    settled = get_conditional_response(request, etag=head["ETag"], response=head)
    if settled is not None and settled is not head:
        return settled
    try:
        head.content = pmtiles.tile(zoom, x, y)
    except NotReadable as error:
        raise Http404 from error
    if not head.content:
        raise Http404
    if pmtiles.packed == "gzip":
        head["Content-Encoding"] = "gzip"
    return head


def with_streets(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Makes a page for members that has a map in a form show the streets under it."""

    @wraps(view)
    def wrapper(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        return allow_tiles(view(request, *arguments, **named), streets_of(public=False))

    return wrapper


def allow_tiles(answer: HttpResponseBase, streets: Streets) -> HttpResponseBase:
    """Returns the answer, whose policy lets pictures come from the host of the streets, if there is one."""
    if streets.origin:
        vars(answer)["_csp_update"] = {"img-src": [streets.origin]}  # as django-csp's decorators do
    return answer


def _archive() -> Archive:
    """Opens the file of the streets. Errors: Http404."""
    if settings.BASEMAP is None:
        raise Http404
    try:
        return Archive.open(settings.BASEMAP)
    except (OSError, NotReadable) as error:
        raise Http404 from error
