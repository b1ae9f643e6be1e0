"""Delays large bodies until the program wants them.

The view runs without its body: what it answers before it reads any of it (sign in, no member, too large, too
often) is the answer, and the body never comes in. The first read is the welcome. Then the view runs a second
time, with the body, and what it counts it has counted (`was_admitted`).
"""

import json
from typing import Any, Final, NoReturn

from django.core.signals import request_finished
from waitress.channel import ClientDisconnected
from waitress.task import ErrorTask, WSGITask

from heatmaps.front.headers import NOTHING_LOADED, of_answers
from heatmaps.front.proxy import is_proxy
from heatmaps.http.content_length import ADMITTED

CODES: Final = {400: "bad_request", 413: "too_large", 431: "header_too_large", 501: "not_implemented"}
DETAILS: Final = {
    400: "the request is not HTTP as it is understood here",
    413: "the body is too large",
    431: "the header is larger than what is taken here",
    501: "transfer codings other than chunked are not understood here",
}


class BodyWanted(BaseException):
    """Says that the program would read the body: no error, which nothing on its way may take it for."""


class Unread:
    """Stands for a body that has not come yet."""

    def read(self, _size: int = -1) -> NoReturn:
        raise BodyWanted

    readline = readlines = __iter__ = read


class AdmissionTask(WSGITask):  # type: ignore[misc]  # waitress carries no types
    """Asks about the request without its body, which may be on its way: an answer ends the connection."""

    def start(self) -> None:
        super().start()
        self.set_close_on_finish()

    def get_environment(self) -> dict[str, Any]:
        environ: dict[str, Any] = super().get_environment()
        environ["CONTENT_LENGTH"] = str(self.request.content_length or 1)  # of chunks it is not known
        environ["wsgi.input"] = Unread()
        return environ


class Admission:
    """Asks about one request in the server's threads, and tells its connection."""

    def __init__(self, connection: Any, request: Any) -> None:
        self._connection, self._request = connection, request

    def service(self) -> None:
        welcome = False
        try:
            AdmissionTask(self._connection, self._request).service()
        except BodyWanted:
            welcome = True
            request_finished.send(sender=type(self))  # gives the database connection back
        except ClientDisconnected:
            pass
        finally:
            self._connection.decided(welcome=welcome)

    def cancel(self) -> None:
        self._connection.cancel()


class AnswerTask(WSGITask):  # type: ignore[misc]  # as above
    """Answers the request with its body."""

    def get_environment(self) -> dict[str, Any]:
        environ: dict[str, Any] = super().get_environment()
        if self.request.admitted:
            environ[ADMITTED] = True
        return environ


class RefusalTask(ErrorTask):  # type: ignore[misc]  # as above
    """Answers for the server itself; it repeats nothing of the request."""

    def execute(self) -> None:
        error = self.request.error
        self.status = f"{error.code} {error.reason}"
        kind, body = _described(error.code, error.reason, getattr(self.request, "path", ""))
        headers = of_answers(secure=self.channel.is_encrypted or is_proxy(self.channel.addr[0]))
        headers |= {
            "Content-Type": kind,
            "Content-Security-Policy": NOTHING_LOADED,
            "Cache-Control": "no-store",
        }
        self.response_headers.extend(headers.items())
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


def _described(status: int, reason: str, path: str) -> tuple[str, bytes]:
    """Returns type and text: for programs as the API's own refusals are."""
    detail = DETAILS.get(status, reason)
    if not path.startswith("/api/"):
        return "text/plain; charset=utf-8", f"{status} {reason}: {detail}.\n".encode()
    code = CODES.get(status, "internal_error")
    details = {"type": "about:blank", "title": reason, "status": status, "code": code, "detail": detail}
    return "application/problem+json", json.dumps(details).encode()
