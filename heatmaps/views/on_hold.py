"""Answers every request with 503 while the installation is on hold.

A database that went back revives ended sessions, tokens and public maps: nothing of it is used before its
operator said what happened.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final, NoReturn

from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import loader
from django.urls import Resolver404, resolve

from heatmaps.http.health import PATH
from heatmaps.models import HoldCause
from heatmaps.record import hold
from heatmaps.record.hold import OnHold

GetResponse = Callable[[HttpRequest], HttpResponse]

STATUS: Final = HTTPStatus.SERVICE_UNAVAILABLE
_FOR_PROGRAMS: Final = {"api", "gis"}
_NOT_KEPT: Final = {"Cache-Control": "no-store"}


def refuse_on_hold(get_response: GetResponse) -> GetResponse:
    """Refuses, as middleware before sessions are read, with a query a request. Health is asked all the
    same."""

    def answer(request: HttpRequest) -> HttpResponse:
        if request.path_info == PATH:
            return get_response(request)
        try:
            cause = hold.cause()
        except (OperationalError, InterfaceError) as error:
            # Whether there is a hold is not known: the database stays away for all of this request.
            with connection.execute_wrapper(_away(error)):
                return get_response(request)
        return get_response(request) if cause is None else _refusal(request, cause)

    return answer


def _away(error: Exception) -> Callable[..., NoReturn]:
    def refuse(*_arguments: Any) -> NoReturn:
        raise error

    return refuse


def _refusal(request: HttpRequest, cause: HoldCause) -> HttpResponse:
    if _is_for_programs(request):
        return _problem(str(OnHold()))
    # No request for the template: who is signed in is nothing to be believed.
    page = loader.get_template("on_hold.html").render({"cause": cause.label})
    return HttpResponse(page, status=STATUS, headers=_NOT_KEPT)


def _is_for_programs(request: HttpRequest) -> bool:
    try:
        return resolve(request.path_info).app_name in _FOR_PROGRAMS
    except Resolver404:
        return False


def _problem(sentence: str) -> HttpResponse:
    """Returns a problem detail as the API's own are (RFC 9457)."""
    body = {
        "type": "about:blank",
        "title": STATUS.phrase,
        "status": int(STATUS),
        "code": OnHold.code,
        "detail": sentence[0].upper() + sentence[1:],
    }
    return JsonResponse(body, status=STATUS, content_type="application/problem+json", headers=_NOT_KEPT)
