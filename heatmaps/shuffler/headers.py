"""Sets the content security policy of every answer, and what may be kept of it.

Only the contributor page and its files may load anything: from here, and facts from the analysers of the
collections that were joined.
"""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse

from heatmaps.front.headers import NOTHING_LOADED
from heatmaps.shuffler.life import analysers
from heatmaps.shuffler.models import Collection

GetResponse = Callable[[HttpRequest], HttpResponse]

PAGE: Final = "/contribute/"
_POLICY: Final = "Content-Security-Policy"
_FEATURES: Final = "Permissions-Policy"


def add_policy(get_response: GetResponse) -> GetResponse:
    """Adds the page's policy; outside of `heatmaps.front.headers`, of whose values it has some of its own."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.setdefault("Cache-Control", "no-store")
        response[_POLICY] = NOTHING_LOADED
        response["X-Frame-Options"] = "DENY"
        if request.path_info.startswith(PAGE) and response.status_code in (200, 304):
            response[_POLICY] = _of_page()
            # The page asks where the device is: the only place that is, and only on its own origin.
            response[_FEATURES] = response[_FEATURES].replace("geolocation=()", "geolocation=(self)")
        return response

    return answer


def _of_page() -> str:
    urls = Collection.objects.order_by("pk").values_list("analyser_url", flat=True)
    origins = dict.fromkeys(analysers.origin(url) for url in urls)
    directives = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "font-src": "'self'",
        "connect-src": " ".join(["'self'", *origins]),
        "worker-src": "'self'",
        "manifest-src": "'self'",
        "frame-ancestors": "'none'",
        "form-action": "'none'",
        "base-uri": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in directives.items())
