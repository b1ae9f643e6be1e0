"""Defines refusals of a server, and what can go wrong on the way to it."""

# ruff: noqa: N818 - domain words; `except BudgetExceeded` says what happened

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from http.client import responses
from typing import Any, Final, NamedTuple


class HazemapError(Exception):
    """Covers anything that this package raises by itself; it never holds a token.

    is_passing: the same request may be answered later, or was carried out already. idempotency_key: that of a
    release that was asked for. It may exist all the same: ask again with this key.
    """

    is_passing = True
    retry_after_s: float | None = None
    idempotency_key: str | None = None


class ConnectionFailed(HazemapError):
    """Says that no answer came."""


class BadAnswer(HazemapError):
    """Says that the answer is not one of a Hazemap server, is too large, or points to another address."""


class WaitedTooLong(HazemapError):
    """Says that a wait ended after `timeout_s` without an outcome."""


class UploadFailed(HazemapError):
    """Says that the server stored nothing of a file; the sentence says why."""


class NotPublished(HazemapError):
    """Says that the release has no result: it is still queued, was cancelled, or has no result."""


class MissingExtra(HazemapError):
    """Says that a package is needed that is not installed."""


class FieldError(NamedTuple):
    """Names the field that was refused, and says why; an empty `field` is the body as a whole."""

    field: str
    detail: str


class Refusal(HazemapError):
    """Says that the server refused; `code` is stable, `detail` is one sentence for people (RFC 9457)."""

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after_s: float | None) -> None:
        self.status = status
        self.code = _text(problem, "code")
        self.detail = _text(problem, "detail") or responses.get(status, "The server refused")
        self.errors = tuple(_field_errors(problem.get("errors")))
        self.retry_after_s = retry_after_s
        self.is_passing = status >= 500 or status == 429
        known_as = f"{status} {self.code}".rstrip()
        super().__init__(f"{self.detail} ({known_as})")


class InvalidRequest(Refusal):
    """Says that a value or a file is not allowed; `errors` names fields."""


class NotAuthenticated(Refusal):
    """Says that the token is missing, was revoked or has expired."""


class Forbidden(Refusal):
    """Says that your role, or the scope of the token, does not allow this."""


class NotFound(Refusal):
    """Says that it does not exist, or that you are not a member of its dataset."""


class Conflict(Refusal):
    """Says that it is not possible now."""


class BudgetExceeded(Conflict):
    """Says that a release costs more than a limit or your allowance has left.
    It holds exact amounts of one account.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after_s: float | None) -> None:
        super().__init__(status, problem, retry_after_s)
        self.account = _text(problem, "account")
        self.requested = _amount(problem, "requested")
        self.available = _amount(problem, "available")
        self.reserved = _amount(problem, "reserved")
        self.largest_epsilon = _text(problem, "largest_epsilon") or None


class BudgetChanged(Refusal):
    """Says that somebody changed the budget since you read it: read it again."""


class RateLimited(Refusal):
    """Says that you ask too often; `retry_after_s` says how long to wait."""


class ServerFailed(Refusal):
    """Says that the server failed, or cannot answer now."""


_KINDS: Final[Mapping[str | int, type[Refusal]]] = {
    "budget_exceeded": BudgetExceeded,
    "allowance_exceeded": BudgetExceeded,
    401: NotAuthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: BudgetChanged,
    429: RateLimited,
}


def refusal(status: int, problem: object, retry_after_s: float | None) -> Refusal:
    """Makes the exception that a status and its problem details stand for."""
    details = problem if isinstance(problem, dict) else {}
    usual = ServerFailed if status >= 500 else InvalidRequest
    kind = _KINDS.get(_text(details, "code")) or _KINDS.get(status, usual)
    return kind(status, details, retry_after_s)


def _text(problem: Mapping[str, Any], name: str) -> str:
    value = problem.get(name)
    # A terminal obeys what does not print.
    return "".join(filter(str.isprintable, value)) if isinstance(value, str) else ""


def _amount(problem: Mapping[str, Any], name: str) -> Decimal | None:
    try:
        return Decimal(_text(problem, name))
    except InvalidOperation:
        return None


def _field_errors(errors: object) -> list[FieldError]:
    rows = errors if isinstance(errors, list) else []
    return [FieldError(_text(row, "field"), _text(row, "detail")) for row in rows if isinstance(row, dict)]
