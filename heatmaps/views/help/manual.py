"""Serves the manual that `make docs` built."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe
from django.views.static import serve

FIRST_PAGE = "index.html"
MEASUREMENTS = "explanation/measurements.html"


def is_built() -> bool:
    return (settings.MANUAL_DIR / FIRST_PAGE).is_file()


@login_not_required
@require_safe
def manual(request: HttpRequest, path: str = FIRST_PAGE) -> HttpResponseBase:
    """Serves a page or file of the manual, for everybody. Errors: 404 where it has none, or none was
    built."""
    answer = serve(request, path, document_root=str(settings.MANUAL_DIR))
    if isinstance(answer, FileResponse) and answer["Content-Type"].startswith("text/"):
        answer["Content-Type"] += "; charset=utf-8"
    # Asked for anew each time, mostly answered by 304: another build has other pages at these addresses.
    patch_cache_control(answer, public=True, no_cache=True)
    return answer


@require_safe
def measurements(request: HttpRequest, anchor: str = "") -> HttpResponse:
    """Sends to the manual's comparison of methods, or says how the manual is built."""
    # A manual of before may lack the page.
    if not (settings.MANUAL_DIR / MEASUREMENTS).is_file():
        return render(request, "help/mechanisms.html", {"section": "help"})
    address = reverse("manual-page", args=[MEASUREMENTS])
    return redirect(f"{address}#{anchor}" if anchor else address)
