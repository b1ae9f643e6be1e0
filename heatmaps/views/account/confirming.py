"""Asks people who are signed in for a password or code again, before what a found session shall not do."""

from collections.abc import Callable
from typing import Final

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from allauth.core.exceptions import ReauthenticationRequired
from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, resolve_url
from django.utils.http import urlencode

View = Callable[..., HttpResponseBase]

_NO_WAY: Final = "your account has no password or passkey to confirm this with; ask an administrator"


def confirmed(view: View) -> View:
    """Opens a page only to somebody who entered a password or code of theirs in the last minutes."""
    checked: View = reauthentication_required(view, app="allauth.account")
    return checked


class AsksToConfirm:
    """Leads, as middleware, to the page that asks, and back to the page that was asked for.

    allauth would keep what a form sent in the session, passwords and cookies in clear; here it is sent again.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, ReauthenticationRequired):
            return None
        ways = get_adapter().get_reauthentication_methods(request.user)
        if request.user.is_authenticated and not ways:
            raise PermissionDenied(_NO_WAY)
        page = ways[0]["url"] if ways else resolve_url(settings.LOGIN_URL)
        return redirect(f"{page}?{urlencode({REDIRECT_FIELD_NAME: request.get_full_path()})}")
