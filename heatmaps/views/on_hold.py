"""Answers every request with 503 while the installation is on hold.

A database that went back revives ended sessions, tokens and public maps: nothing of it is used before its
operator said what happened.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import loader
from django.urls import Resolver404, resolve
from structlog.contextvars import get_contextvars

from heatmaps.http.health import PATH
from heatmaps.record import hold
from heatmaps.record.hold import OnHold
from heatmaps.views.errors import RETRY_SECONDS, log_away

GetResponse = Callable[[HttpRequest], HttpResponse]

_FOR_PROGRAMS: Final = {"api", "gis"}
_NOT_KEPT: Final = {"Cache-Control": "no-store"}


def refuse_on_hold(get_response: GetResponse) -> GetResponse:
    """Middleware, before sessions are read; a query a request. Health is asked all the same.

    Where the database does not answer, nobody knows whether there is a hold: no view runs either.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        if request.path_info == PATH:
            return get_response(request)
        try:
            cause = hold.cause()
        except (OperationalError, InterfaceError) as error:
            if not _is_for_programs(request):
                raise
            return _database_away(error)
        if cause is None:
            return get_response(request)
        if _is_for_programs(request):
            return _problem(OnHold.code, f"{OnHold()}")
        # No request for the template: who is signed in is nothing to be believed.
        page = loader.get_template("on_hold.html").render({"cause": cause.label})
        return HttpResponse(page, status=HTTPStatus.SERVICE_UNAVAILABLE, headers=_NOT_KEPT)

    return answer


def _is_for_programs(request: HttpRequest) -> bool:
    try:
        return resolve(request.path_info).app_name in _FOR_PROGRAMS
    except Resolver404:
        return False


def _database_away(error: Exception) -> HttpResponse:
    log_away(error)
    number = get_contextvars().get("request_id", "")
    problem = _problem("unavailable", f"the database does not answer; try again soon (request {number})")
    problem["Retry-After"] = str(RETRY_SECONDS)
    return problem


def _problem(code: str, sentence: str) -> HttpResponse:
    """A problem detail as the API's own are (RFC 9457)."""
    status = HTTPStatus.SERVICE_UNAVAILABLE
    body = {
        "type": "about:blank",
        "title": status.phrase,
        "status": int(status),
        "code": code,
        "detail": sentence[0].upper() + sentence[1:],
    }
    return JsonResponse(body, status=status, content_type="application/problem+json", headers=_NOT_KEPT)
