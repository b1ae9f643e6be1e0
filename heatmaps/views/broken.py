"""The page of an error that nobody foresaw, and of a database that does not answer."""

import sys
from typing import Any, Final

import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.views import defaults

RETRY_SECONDS: Final = 15  # a database that is started again answers by then

_log = structlog.stdlib.get_logger(__name__)


def server_error(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:
    """Django's `handler500`, called while the error is handled."""
    error = sys.exc_info()[1]
    if not isinstance(error, OperationalError | InterfaceError):
        return defaults.server_error(request, *arguments, **named)
    _log.error("database.away", cause=error)
    # No request for the template: to say who is signed in would ask the database.
    page = loader.get_template("503.html").render({"seconds": RETRY_SECONDS})
    headers = {"Retry-After": str(RETRY_SECONDS), "Cache-Control": "no-store"}
    return HttpResponse(page, status=503, headers=headers)
