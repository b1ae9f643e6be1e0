"""Rate-limits anonymous pages.

They are counted together with the same requests at the API (`heatmaps.http.attempt_limits`).
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers

from heatmaps.http import attempt_limits

View = Callable[..., HttpResponseBase]


def typed_name(request: HttpRequest) -> str:
    """Returns the name that the form of the sign-in page sends."""
    return request.POST.get("login", "")


def limited_sign_in(view: View, name_of: Callable[[HttpRequest], str] = typed_name) -> View:
    """Limits a page whose form sends a password or code; counts before anybody looks whether it is right.

    name_of: whose it would be. Whoever gets in by it was not guessing, and is forgotten; who was in already
    may not end a count by it.
    """

    @wraps(view)
    def checked(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        if request.method != "POST":
            return view(request, *arguments, **named)
        was_inside = request.user.is_authenticated
        who = name_of(request), attempt_limits.address_of(request)
        if wait := attempt_limits.sign_in(*who):
            return come_again(request, wait, sign_in=True)
        answer = view(request, *arguments, **named)
        if request.user.is_authenticated and not was_inside:
            attempt_limits.forget_sign_in(*who)
        return answer

    return checked


def limited_attempts(view: View) -> View:
    """Limits a way to sign in that names nobody beforehand: counts by its address."""

    @wraps(view)
    def checked(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        if request.method == "POST" and (
            wait := attempt_limits.sign_in(None, attempt_limits.address_of(request))
        ):
            return come_again(request, wait, sign_in=True)
        return view(request, *arguments, **named)

    return checked


def limited_visits(view: View) -> View:
    """Limits a page that needs no account: counts those who have none by their address."""

    @wraps(view)
    def checked(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        if not request.user.is_authenticated and (
            wait := attempt_limits.visit(attempt_limits.address_of(request))
        ):
            return come_again(request, wait)
        return view(request, *arguments, **named)

    checked.knows_people = True  # type: ignore[attr-defined]  # for `heatmaps.views.account.second_factor`
    return checked


def limited_addresses(view: View) -> View:
    """Limits a page that knows nobody: counts every request by its address, and looks at no session."""

    @wraps(view)
    def checked(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        if wait := attempt_limits.visit(attempt_limits.address_of(request)):
            return come_again(request, wait)
        return view(request, *arguments, **named)

    return checked


def try_later(request: HttpRequest, *_arguments: Any, **_named: Any) -> HttpResponseBase:
    """Answers as a limit of allauth's own would, were one switched on."""
    return come_again(request, attempt_limits.PERIOD_SECONDS, sign_in=True)


def come_again(
    request: HttpRequest, seconds: int, *, sign_in: bool = False, files: bool = False
) -> HttpResponseBase:
    """Answers with the page that says how long to wait.

    files: somebody signed in sent or asked for too many of them.
    """
    context = {"seconds": seconds, "sign_in": sign_in, "files": files}
    answer = render(request, "429.html", context, status=429)
    answer["Retry-After"] = str(seconds)
    add_never_cache_headers(answer)
    return answer
