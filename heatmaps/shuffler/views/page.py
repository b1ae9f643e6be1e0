"""Serves the contributor page and its files: those of two folders, and nothing beside them."""

import hashlib
from pathlib import Path
from typing import Final

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from heatmaps.shuffler import headers, problems, settings

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


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The page is the same for everybody: which round it is about stands behind the link's #."""
    response = render(request, "contribute/page.html")
    response["Cache-Control"] = "no-cache"
    return response


@require_safe
def file(request: HttpRequest, name: str) -> HttpResponse:
    """One of the page's files."""
    path = _files().get(name)
    if path is None:
        return problems.answer(problems.Refusal("not_found"))
    content = path.read_bytes()
    etag = f'"{hashlib.sha256(content).hexdigest()}"'
    response = get_conditional_response(request, etag=etag)
    if response is None:
        response = HttpResponse(content, content_type=TYPES[path.suffix])
    response["ETag"] = etag
    response["Cache-Control"] = "no-cache"
    if name == SERVICE_WORKER:
        response["Service-Worker-Allowed"] = headers.PAGE
    return response


@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """Whether this process and its database answer."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


def _files() -> dict[str, Path]:
    """Address of each file: walked, so that no address leads out of the folders."""
    found = {}
    for folder, under in ((settings.PAGE_DIR, ""), (settings.HPKE_DIR, "hpke/")):
        for path in sorted(folder.rglob("*")):
            if path.suffix in TYPES and path.is_file() and not path.is_symlink():
                found[under + path.relative_to(folder).as_posix()] = path
    return found
