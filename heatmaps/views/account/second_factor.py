"""Leads people to set up a second factor where administrators require one."""

from collections.abc import Callable
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from rest_framework.authentication import SessionAuthentication

from heatmaps.people import accounts

# Names of the pages by which somebody sets one up, or leaves.
OPEN: Final = {
    "account_login",
    "account_logout",
    "account_reauthenticate",
    "account-confirm-provider",
    "mfa_index",
    "mfa_activate_totp",
    "mfa_add_webauthn",
    "mfa_list_webauthn",
}
_WORDS: Final = "This server requires a second factor. Set one up to go on."


class AsksForSecondFactor:
    """Leads, as middleware, from every page that knows who is signed in to there, until they have one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], _arguments: Any, _named: Any
    ) -> HttpResponse | None:
        if not _knows_people(view) or request.user.is_anonymous:
            return None
        page = request.resolver_match
        if not accounts.lacks_second_factor(request.user) or (page is not None and page.view_name in OPEN):
            return None
        messages.warning(request, _WORDS)
        return redirect("mfa_index")


def _knows_people(view: Callable[..., Any]) -> bool:
    # Pages that are the same for everybody do not even look at the session.
    ways = getattr(getattr(view, "cls", None), "authentication_classes", ())  # of an address of the API
    by_session = any(issubclass(way, SessionAuthentication) for way in ways)
    return by_session or getattr(view, "login_required", True) or getattr(view, "knows_people", False)
