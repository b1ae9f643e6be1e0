"""Serves the contributor page as its files stand, and the list of them that browsers install.

`places.json` names the towns of all regions that rounds have now; a file of that name in the state folder, if
the operator puts one there, stands for it.
"""

import hashlib
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from heatmaps.page_bundle import PAGE, SEALING_FOLDER, bundle, canonical
from heatmaps.shuffler import headers, problems, settings, towns

TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
SERVICE_WORKER: Final = "service-worker.js"
BUNDLE: Final = "bundle.json"
PLACES: Final = "places.json"
_PAGE: Final = ""


@require_safe
def file(request: HttpRequest, name: str = _PAGE) -> HttpResponse:
    """Serves the page, the same for everybody (its round stands behind the link's #), or a file of it."""
    content = _places() if name == PLACES else _files().get(name)
    if content is None:
        return problems.answer(problems.Refusal("not_found"))
    etag = f'"{hashlib.sha256(content).hexdigest()}"'
    response = get_conditional_response(request, etag=etag)
    if response is None:
        suffix = ".html" if name == _PAGE else PurePosixPath(name).suffix
        response = HttpResponse(content, content_type=TYPES.get(suffix, "application/octet-stream"))
    response["ETag"] = etag
    response["Cache-Control"] = "no-cache"
    if name == SERVICE_WORKER:
        response["Service-Worker-Allowed"] = headers.PAGE
    return response


@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """Returns whether this process and its database answer."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


def _files() -> dict[str, bytes]:
    """Returns content by address below /contribute/: what the bundle lists, so no address leads elsewhere."""
    try:
        return _bundled()
    except FileNotFoundError:  # its packages are not installed
        return {}


def _places() -> bytes:
    """Returns cities for whatever page asks, at whatever moment: nothing in it depends on who asks."""
    own = settings.STATE_DIR / PLACES
    return own.read_bytes() if own.is_file() else towns.listed()


@cache
def _bundled() -> dict[str, bytes]:
    """Reads once: devices would refuse files that are not those of their list."""
    manifest, _ = bundle(settings.PAGE_DIR, settings.HPKE_DIR)
    files = {BUNDLE: canonical(manifest)}
    for name, _ in manifest:
        files[name] = _path(name).read_bytes()
    return files


def _path(name: str) -> Path:
    if name == _PAGE:
        return PAGE
    if name.startswith(SEALING_FOLDER):
        return settings.HPKE_DIR / name.removeprefix(SEALING_FOLDER)
    return settings.PAGE_DIR / name
