"""Shows the pages of unexpected errors, an unreachable database and a busy server."""

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.template import loader
from django.views import defaults

from heatmaps.children.turns import Busy
from heatmaps.exports.file_cache import NotRendered
from heatmaps.ledger.errors import LedgerClosed, LedgerDamaged
from heatmaps.people.permissions import is_administrator
from heatmaps.people.sign_in import FactorKeyChanged
from heatmaps.record.hold import OnHold
from heatmaps.record.place import RecordError
from heatmaps.sources.sources_file import SourcesFileError

RETRY_SECONDS: Final = 15  # a database that is started again answers by then
_REFUSALS: Final[tuple[tuple[type[Exception] | tuple[type[Exception], ...], str, int], ...]] = (
    (NotRendered, "This file is too large", 422),
    ((OnHold, RecordError), "On hold", 503),
    ((LedgerDamaged, LedgerClosed), "Ledger damaged", 409),
    (FactorKeyChanged, "Codes cannot be checked", 503),
)

_log = structlog.stdlib.get_logger(__name__)


def server_error(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:
    """Answers as Django's `handler500`, called while the error is handled."""
    error = sys.exc_info()[1]
    if not isinstance(error, OperationalError | InterfaceError):
        return defaults.server_error(request, *arguments, **named)
    _log.error("database.away", cause=error)
    # No request for the template: to say who is signed in would ask the database.
    page = loader.get_template("503.html").render({"seconds": RETRY_SECONDS})
    headers = {"Retry-After": str(RETRY_SECONDS), "Cache-Control": "no-store"}
    return HttpResponse(page, status=503, headers=headers)


def no_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answers as Django's `handler404`, which looks for the token of forms, also in a form that cannot be
    read."""
    with suppress(MultiPartParserError):
        _ = request.POST  # read once in vain, it is empty from then on
    return defaults.page_not_found(request, exception)


class SaysBusy:
    """Answers, as middleware, for pages that come later and files that are not made, each with a reason to
    read."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answers what is no fault; None for everything else."""
        for kinds, heading, status in _REFUSALS:
            if isinstance(error, kinds):
                return render(request, "busy.html", {"heading": heading, "error": error}, status=status)
        if isinstance(error, SourcesFileError):
            sentence = error.text_for(administrator=is_administrator(request.user))
            return render(
                request, "busy.html", {"heading": "Lakes cannot be read", "error": sentence}, status=503
            )
        if not isinstance(error, Busy):
            return None
        page = render(request, "busy.html", {"heading": "Busy", "error": error}, status=error.status)
        page["Retry-After"], page["Cache-Control"] = str(error.retry_seconds), "no-store"
        return page
