"""Maps refusals to answers: RFC 9457 problem details with a stable `code`.

Domain errors carry a readable message and public data only, so both are shown as they are; of anything
unforeseen nothing is shown but its status.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from math import ceil
from typing import Any, Final, TypeAlias

import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError
from django.http import Http404, UnreadablePostError
from django.utils import timezone
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback
from structlog.contextvars import get_contextvars

from api.refusals import TooMuch
from heatmaps.budget.limits import BudgetMoved
from heatmaps.children.turns import Busy
from heatmaps.exports.file_cache import NotRendered
from heatmaps.exports.sheet import exact_text
from heatmaps.ingest.errors import UploadError
from heatmaps.ledger.amounts import as_decimal
from heatmaps.ledger.errors import (
    AllowanceExceeded,
    BudgetExceeded,
    IdempotencyConflict,
    InvalidLimit,
    LedgerError,
    LimitMoved,
    QueueTooLong,
    TooManyQuestions,
)
from heatmaps.masses.column_copies import NotGivenUp
from heatmaps.people.permissions import is_administrator
from heatmaps.people.refusals import MemberError
from heatmaps.pseudonyms.keys import KeyFileError
from heatmaps.record.hold import OnHold
from heatmaps.record.place import RecordError
from heatmaps.releases.names import NameMoved
from heatmaps.releases.publication import PublicationRefused
from heatmaps.sources.sources_file import SourcesFileError
from mechanisms.check import ParameterError

PROBLEM_JSON: Final = "application/problem+json"
RETRY_SECONDS: Final = 15  # a database that is started again answers by then
_PLAIN_WORD: Final = re.compile(
    r"^[a-z]+(?=[ ,;]|$)"
)  # a sentence begins with it; names of fields end in a colon

_log = structlog.stdlib.get_logger("heatmaps.api")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    status: int
    code: str
    detail: str
    members: Mapping[str, object] = field(default_factory=dict)  # beside those of every problem
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> Response:
        body = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": int(self.status),
            "code": self.code,
            "detail": _PLAIN_WORD.sub(lambda word: word[0].capitalize(), self.detail, count=1),
            **self.members,
        }
        return Response(body, self.status, headers=dict(self.headers), content_type=PROBLEM_JSON)


def handle(error: Exception, context: Mapping[str, Any]) -> Response:
    """Answers as Django REST framework's exception handler."""
    set_rollback()
    if isinstance(error, SourcesFileError):
        detail = error.text_for(administrator=is_administrator(context["request"].user))
        return Problem(status=503, code=error.code, detail=detail).response()
    return (_describe(error) or _unforeseen(error, context)).response()


def _describe(error: Exception) -> Problem | None:
    describers = (describe for kind, describe in _DESCRIBED if isinstance(error, kind))
    describe = next(describers, None)
    return None if describe is None else describe(error)


def _unforeseen(error: Exception, context: Mapping[str, Any]) -> Problem:
    got_request_exception.send(sender=None, request=context["request"])
    _log.error("api.broke", cause=error)
    number = get_contextvars().get("request_id", "")
    detail = f"the program failed; this server's operator finds request {number} in the log"
    return Problem(status=500, code="internal_error", detail=detail)


def _database_away(error: Exception) -> Problem:
    """Tells nothing of the error: it names hosts, and rows."""
    _log.error("database.away", cause=error)
    number = get_contextvars().get("request_id", "")
    detail = f"the database does not answer; try again soon (request {number})"
    headers = {"Retry-After": str(RETRY_SECONDS)}
    return Problem(status=503, code="unavailable", detail=detail, headers=headers)


def _framework(error: exceptions.APIException) -> Problem:
    headers = {}
    if header := getattr(error, "auth_header", ""):
        headers["WWW-Authenticate"] = header
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait) + 1)
    code = error.get_codes()
    detail = str(error.detail)
    return Problem(status=error.status_code, code=str(code), detail=detail, headers=headers)


def _shape(error: exceptions.ValidationError) -> Problem:
    errors = [{"field": name, "detail": text} for name, text in _flat(error.detail)]
    first = errors[0]
    detail = f"{first['field']}: {first['detail']}" if first["field"] else first["detail"]
    return Problem(status=400, code="invalid_request", detail=detail, members={"errors": errors})


def _flat(detail: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Yields (field, message): names and positions joined by dots, "" for the body as a whole."""
    if isinstance(detail, Mapping):
        for key, inner in detail.items():
            yield from _flat(inner, name if key == "non_field_errors" else f"{name}.{key}".lstrip("."))
    elif isinstance(detail, list):
        for position, inner in enumerate(detail):
            nested = isinstance(inner, Mapping | list)
            yield from _flat(inner, f"{name}.{position}".lstrip(".") if nested else name)
    else:
        yield name, str(detail)


def _parameter(error: ParameterError) -> Problem:
    return _field(error.code, error.parameter, f"{error.value} is not allowed; allowed: {error.allowed}")


def _field(code: str, name: str, detail: str) -> Problem:
    errors = [{"field": name, "detail": detail}]
    return Problem(status=422, code=code, detail=f"{name}: {detail}", members={"errors": errors})


def _over_budget(error: BudgetExceeded | AllowanceExceeded) -> Problem:
    amounts = {"requested": error.requested, "available": error.available}
    if isinstance(error, BudgetExceeded):
        amounts["reserved"] = error.reserved
    members: dict[str, object] = {"account": str(error.account_kind.value)}
    members |= {name: as_decimal(units, error.account_kind) for name, units in amounts.items()}
    return Problem(status=409, code=error.code, detail=str(error), members=members)


def _too_much(error: TooMuch) -> Problem:
    problem = _describe(error.refusal)
    if problem is None:
        raise TypeError("a refusal of the ledger is described")
    fits = error.largest_epsilon
    more = {} if fits is None else {"largest_epsilon": exact_text(fits)}
    return replace(problem, members={**problem.members, **more})


def _upload(error: UploadError) -> Problem:
    return Problem(status=_UPLOAD_STATUS.get(error.code, 422), code=error.code, detail=str(error))


def _busy(error: Busy) -> Problem:
    headers = {"Retry-After": str(error.retry_seconds)}
    return Problem(status=error.status, code=error.code, detail=str(error), headers=headers)


def _too_often(error: TooManyQuestions | QueueTooLong) -> Problem:
    wait = ceil((error.again_at - timezone.now()).total_seconds())
    return Problem(status=429, code=error.code, detail=str(error), headers={"Retry-After": str(max(1, wait))})


def _plain(status: int) -> Callable[[Any], Problem]:
    return lambda error: Problem(status=status, code=error.code, detail=str(error))


def _fixed(status: int, code: str, detail: str) -> Callable[[Exception], Problem]:
    return lambda _error: Problem(status=status, code=code, detail=detail)


_CONFLICTS: Final = (
    "duplicate_upload",
    "not_undoable",
    "scheduled",
    "not_opted_out",
    "reads_a_source",
    "survey_under_way",
)
_UPLOAD_STATUS: Final = {"too_large": 413} | dict.fromkeys(_CONFLICTS, 409)

_Kinds: TypeAlias = type[Exception] | tuple[type[Exception], ...]
# The first class that fits decides.
_DESCRIBED: Final[tuple[tuple[_Kinds, Callable[[Any], Problem]], ...]] = (
    ((OperationalError, InterfaceError), _database_away),
    (exceptions.ValidationError, _shape),
    (exceptions.APIException, _framework),
    (Http404, lambda error: Problem(status=404, code="not_found", detail=str(error) or "not found")),
    (PermissionDenied, lambda error: Problem(status=403, code="permission_denied", detail=str(error))),
    (ParameterError, _parameter),
    (TooMuch, _too_much),
    ((BudgetExceeded, AllowanceExceeded), _over_budget),
    ((TooManyQuestions, QueueTooLong), _too_often),
    ((BudgetMoved, LimitMoved), _plain(412)),
    (IdempotencyConflict, _plain(422)),
    (InvalidLimit, lambda error: _field(error.code, error.field, str(error))),
    ((LedgerError, MemberError, NameMoved, NotGivenUp, PublicationRefused), _plain(409)),
    (UploadError, _upload),
    ((KeyFileError, OnHold, RecordError), _plain(503)),
    (NotRendered, _plain(422)),
    (Busy, _busy),
    (RequestDataTooBig, _fixed(413, "too_large", "the body is too large")),
    (SuspiciousOperation, _fixed(400, "invalid_request", "this request cannot be read")),
    (UnreadablePostError, _fixed(400, "invalid_request", "the body ended too early")),
)
