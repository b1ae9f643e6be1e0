"""Gives every request an id: in its answer's header, on error pages and in its log lines."""

import secrets
from collections.abc import Callable
from typing import Final

import structlog
from django.http import HttpRequest, HttpResponse
from structlog.contextvars import bind_contextvars, clear_contextvars

HEADER: Final = "X-Request-ID"
METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
# Letters that are easy to read out and make no words; no digits, which somebody could take for data.
LETTERS: Final = "bcdfghjkmnpqrstvwxz"
GROUPS, GROUP_LETTERS = 3, 4

_log = structlog.stdlib.get_logger("heatmaps.requests")

GetResponse = Callable[[HttpRequest], HttpResponse]


def name_requests(get_response: GetResponse) -> GetResponse:
    """Names requests, first of all middleware. The id is ours: a client's could carry anything into logs."""

    def answer(request: HttpRequest) -> HttpResponse:
        # Not cleared at the end: Django logs the status of an answer after its middleware.
        clear_contextvars()
        request_id = new_id()
        bind_contextvars(request_id=request_id)
        response = get_response(request)
        response[HEADER] = request_id
        _tell(request, response)
        return response

    return answer


def new_id() -> str:
    """Makes an id such as "kfzt-pmdq-wrbx": one of 2e15."""
    groups = ("".join(secrets.choice(LETTERS) for _ in range(GROUP_LETTERS)) for _ in range(GROUPS))
    return "-".join(groups)


def _tell(request: HttpRequest, response: HttpResponse) -> None:
    """Logs which of our pages, not which address: names of datasets and query strings stay out."""
    if match := request.resolver_match:
        method = request.method if request.method in METHODS else "other"
        page = match.view_name or "unnamed"
        _log.info("request.answered", page=page, method=method, status=response.status_code)
