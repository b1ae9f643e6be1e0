"""Serves the scripts of pages with a map, each joined of its modules into one file."""

import hashlib
from typing import Final

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from heatmaps.maps.scripts import ENTRIES, script_of

_CACHE: Final = "public, max-age=60"  # as static files have it


@login_not_required
@require_safe
def map_script(request: HttpRequest, name: str) -> HttpResponse:
    """Serves the script that is joined from the module of this name; like a static file, to everybody."""
    if name not in ENTRIES:
        raise Http404
    content = script_of(name).encode()
    answer = HttpResponse(content, content_type="text/javascript; charset=utf-8")
    answer["ETag"], answer["Cache-Control"] = f'"{hashlib.sha256(content).hexdigest()}"', _CACHE
    return get_conditional_response(request, etag=answer["ETag"], response=answer) or answer
