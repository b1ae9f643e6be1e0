"""Types requests of signed-in people (`LoginRequiredMiddleware` ensures it)."""

from django.contrib.auth.models import User
from django.http import HttpRequest


class PersonRequest(HttpRequest):
    """Types a request of somebody who is signed in."""

    user: User
    csp_nonce: str


def wants_json(request: HttpRequest) -> bool:
    """Tells whether a page's own script asks, rather than a person."""
    return request.headers.get("Accept", "").startswith("application/json")
