"""Sets headers of every answer beside the content security policy, the server's own refusals included.

`docs/reference/headers.md` lists them with their values.
"""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from heatmaps.http import elsewhere

GetResponse = Callable[[HttpRequest], HttpResponse]

FRAMES: Final = "X-Frame-Options"  # the page for other websites says its own
RESOURCES: Final = "Cross-Origin-Resource-Policy"
HSTS: Final = "Strict-Transport-Security"
HSTS_SECONDS: Final = 365 * 24 * 3600
# What no page needs, so that nothing injected into one could ask for it.
UNUSED_FEATURES: Final = (
    "accelerometer",
    "autoplay",
    "camera",
    "display-capture",
    "geolocation",
    "gyroscope",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "usb",
)
ALWAYS: Final = {
    "X-Content-Type-Options": "nosniff",
    FRAMES: "SAMEORIGIN",  # the map of a release is a frame of its page
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    RESOURCES: "same-origin",
    "Permissions-Policy": ", ".join(f"{feature}=()" for feature in UNUSED_FEATURES),
}
# Of an answer that has no policy of its own: the server's refusals, which load nothing.
NOTHING_LOADED: Final = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


def add_headers(get_response: GetResponse) -> GetResponse:
    """Adds headers, outside of whatever middleware may answer."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        for name, value in of_answers(secure=request.is_secure()).items():
            if name != FRAMES:
                response[name] = value
            elif not getattr(response, "xframe_options_exempt", False):
                response.setdefault(name, value)
        if getattr(response, elsewhere.SHOWN, False):
            response[RESOURCES] = "cross-origin"
        return response

    return answer


def of_answers(*, secure: bool) -> dict[str, str]:
    """Returns headers. `secure`: by TLS; a browser that hears HSTS comes by nothing else for a year."""
    if not (secure and settings.HTTPS):
        return dict(ALWAYS)
    subdomains = "; includeSubDomains" if settings.HSTS_SUBDOMAINS else ""
    return ALWAYS | {HSTS: f"max-age={HSTS_SECONDS}{subdomains}"}
