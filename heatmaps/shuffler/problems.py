"""Answers refusals as problem details (RFC 9457) with the codes of docs/explanation/collections.md."""

from http import HTTPStatus
from typing import Final

from django.http import HttpRequest, HttpResponse, JsonResponse

STATUSES: Final = {
    "unknown_round": HTTPStatus.NOT_FOUND,
    "not_found": HTTPStatus.NOT_FOUND,
    "round_not_open": HTTPStatus.CONFLICT,
    "round_closed": HTTPStatus.GONE,
    "wrong_size": HTTPStatus.UNPROCESSABLE_ENTITY,
    "unknown_invitation": HTTPStatus.FORBIDDEN,
    "cross_site": HTTPStatus.FORBIDDEN,
    "invitation_used": HTTPStatus.CONFLICT,
    "too_many_requests": HTTPStatus.TOO_MANY_REQUESTS,
    "bad_request": HTTPStatus.BAD_REQUEST,
    "internal_error": HTTPStatus.INTERNAL_SERVER_ERROR,
}


class Refusal(Exception):  # noqa: N818 - an answer, seldom a fault
    """Refuses a request. `wait_seconds`: when asking again may help; 0 where that is not known."""

    def __init__(self, code: str, *, wait_seconds: int = 0) -> None:
        super().__init__(code)
        self.code, self.wait_seconds = code, wait_seconds


def answer(refusal: Refusal) -> HttpResponse:
    """Answers with problem details; repeats nothing of the request."""
    status = STATUSES[refusal.code]
    details = {"type": "about:blank", "title": status.phrase, "status": int(status), "code": refusal.code}
    response = JsonResponse(details, status=status, content_type="application/problem+json")
    if refusal.wait_seconds:
        response["Retry-After"] = str(refusal.wait_seconds)
    return response


def not_found(_request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django gives it
    return answer(Refusal("not_found"))


def bad_request(_request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - as above
    return answer(Refusal("bad_request"))


def server_error(_request: HttpRequest) -> HttpResponse:
    return answer(Refusal("internal_error"))
