"""Reads from and sends to servers: https alone, of a limited size, in a limited time, without cookies."""

import json
import time
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPException, HTTPMessage
from typing import IO, Final
from urllib.error import HTTPError
from urllib.parse import SplitResult, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from hazemap_device.errors import DeviceError

TIMEOUT_S: Final = 30.0  # of a step
DEADLINE_S: Final = 300.0  # of a whole answer
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_HEADERS: Final = {"User-Agent": "hazemap-device", "Accept": "*/*"}  # alike for everybody
_MOST_REFUSAL_BYTES: Final = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Holds a status and the bytes that came with it."""

    status: int
    content: bytes = field(repr=False)

    @property
    def code(self) -> str:
        """Returns the `code` of problem details; empty where there is none."""
        try:
            details = json.loads(self.content)
        except (ValueError, RecursionError):
            return ""
        code = details.get("code") if isinstance(details, dict) else None
        return code if isinstance(code, str) else ""


def is_allowed(url: str) -> bool:
    """Returns whether an address is https, or http on this machine; without name, query or fragment in it."""
    try:
        parts = urlsplit(url)
        plain = not (parts.query or parts.fragment or parts.username or parts.password)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        return False
    if not (plain and host and url.isascii() and url.isprintable() and " " not in url):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)


def fetch(url: str, *, most_bytes: int) -> bytes:
    """Gets a text. Errors: `DeviceError` for anything but 200 and at most so many bytes."""
    answer = _answer(Request(_checked(url), headers=_HEADERS), most_bytes=most_bytes)  # noqa: S310
    if answer.status == 404:
        raise DeviceError("unknown_round", "The server knows no such round. Check the link.")
    if answer.status != 200:
        raise DeviceError("server_refused", "The server did not give what was asked. Try again later.")
    return answer.content


def send(url: str, content: bytes, headers: dict[str, str], *, most_bytes: int = 1 << 16) -> Answer:
    """Posts bytes; never twice by itself, and never to where the server points."""
    return _answer(
        Request(_checked(url), data=content, headers={**_HEADERS, **headers}, method="POST"),  # noqa: S310
        most_bytes=most_bytes,
    )


class _SameOrigin(HTTPRedirectHandler):
    """Follows to the same scheme, host and port, and what is posted nowhere."""

    def redirect_request(  # noqa: PLR0917 - as the library calls it
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        here, there = urlsplit(req.full_url), urlsplit(newurl)
        if req.get_method() != "GET" or _origin(here) != _origin(there):
            raise DeviceError(
                "redirected", "The server points to another address. Ask who invited you for a new link."
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def origin_of(url: str) -> tuple[str, str | None, int | None]:
    """Returns scheme, host and port, each in one spelling.

    Text that is no address has an origin that is equal to none.
    """
    try:
        return _origin(urlsplit(url))
    except ValueError:
        return url, None, None


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)


def _checked(url: str) -> str:
    if not is_allowed(url):
        raise DeviceError("bad_address", "Addresses begin with https://. Check the link.")
    return url


def _answer(request: Request, *, most_bytes: int) -> Answer:
    # Later than the deadline a server that sends byte by byte is left.
    deadline = time.monotonic() + DEADLINE_S
    try:
        here = urlsplit(request.full_url).hostname in _LOOPBACK
        with _opener(is_this_machine=here).open(request, timeout=TIMEOUT_S) as response:
            return Answer(status=response.status, content=_read(response, most_bytes, deadline))
    except HTTPError as refusal:
        with refusal:
            return Answer(status=refusal.code, content=_refusal(refusal, deadline))
    except (OSError, HTTPException):
        pass
    # Outside of the handler: what the library said may name an address with a secret in it.
    raise DeviceError("no_connection", "The server cannot be reached. Try again later; nothing is lost.")


def _refusal(response: IO[bytes], deadline: float) -> bytes:
    try:
        return _read(response, _MOST_REFUSAL_BYTES, deadline)
    except (DeviceError, OSError, HTTPException):
        return b""


def _read(response: IO[bytes], most_bytes: int, deadline: float) -> bytes:
    parts, left = [], most_bytes
    while part := response.read(min(left + 1, 1 << 16)):
        parts.append(part)
        left -= len(part)
        if left < 0 or time.monotonic() > deadline:
            raise DeviceError("too_large", "The server sends more than was agreed. Do not take part.")
    return b"".join(parts)


@cache  # certificates are read once
def _opener(*, is_this_machine: bool) -> OpenerDirector:
    """Builds an opener without cookies; of the default handlers only http's and https' are ever reached."""
    return build_opener(ProxyHandler({}), _SameOrigin) if is_this_machine else build_opener(_SameOrigin)
