"""Asks the analyser over HTTP; it is not trusted to answer soon, briefly or correctly.

Redirections are not followed: the token would go where they point to.
"""

import hashlib
import http.client
import json
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

STEP_SECONDS: Final = 15.0  # until an answer goes on
ANSWER_SECONDS: Final = 120.0  # until it is whole
LIST_BYTES: Final = 8 * 2**20
FACTS_BYTES: Final = 2**20
TABLE_BYTES: Final = 256 * 2**20
_PIECE_BYTES: Final = 2**18  # of a batch: each has STEP_SECONDS
_ROUNDS: Final = "/api/v1/shuffler/rounds/"


class AnalyserAway(Exception):  # noqa: N818 - reads as what it says
    """Says that it does not answer, or not now; asking again may help."""


class AnalyserRefuses(Exception):  # noqa: N818 - as above
    def __init__(self, status: int, code: str) -> None:
        super().__init__(status)
        self.status, self.code = status, code


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyser:
    """Calls one collection's analyser; `url` is its origin, with a path where it has one."""

    url: str
    token: str = field(repr=False)

    def rounds(self) -> list[dict[str, Any]]:
        """Lists what is planned and what became of it, as it says. Errors: AnalyserAway, AnalyserRefuses."""
        answer = _object(self._ask("GET", _ROUNDS, most=LIST_BYTES))
        rounds = answer.get("results")
        if not isinstance(rounds, list):
            raise AnalyserAway
        return [row for row in rounds if isinstance(row, dict)]

    def commit(self, round_id: UUID, *, key: str, invitations: int, invitations_sha256: str) -> str:
        """Sends the commitment; returns the facts' text. Errors: as `rounds`."""
        commitment = {"key": key, "invitations": invitations, "invitations_sha256": invitations_sha256}
        headers = {"Content-Type": "application/json"}
        content = json.dumps(commitment).encode()
        answer = self._ask(
            "PUT", f"{_ROUNDS}{round_id}/", headers=headers, content=memoryview(content), most=FACTS_BYTES
        )
        facts = _object(answer).get("facts")
        if not isinstance(facts, str):
            raise AnalyserAway
        return facts

    def table(self, round_id: UUID) -> bytes:
        """Returns the table. Errors: as `rounds`."""
        return self._ask("GET", f"{_ROUNDS}{round_id}/table.bin", most=TABLE_BYTES)

    def hand_over(self, round_id: UUID, batch: memoryview, *, reports: int) -> None:
        """Returns when the batch is acknowledged. Errors: as `rounds`."""
        headers = {
            "Content-Type": "application/octet-stream",
            "Hazemap-Batch": hashlib.sha256(batch).hexdigest(),
            "Hazemap-Reports": str(reports),
        }
        self._ask("PUT", f"{_ROUNDS}{round_id}/batch/", headers=headers, content=batch, most=FACTS_BYTES)

    def _ask(
        self,
        method: str,
        path: str,
        *,
        most: int,
        headers: dict[str, str] | None = None,
        content: memoryview | None = None,
    ) -> bytes:
        parts = urlsplit(self.url)
        own = {"Authorization": f"Bearer {self.token}", "Accept-Encoding": "identity"} | (headers or {})
        if content is not None:
            own["Content-Length"] = str(content.nbytes)
        connection = _connection(parts.scheme, parts.netloc)
        try:
            pieces = None if content is None else _pieces(content)
            connection.request(method, parts.path.rstrip("/") + path, body=pieces, headers=own)
            answer = connection.getresponse()
            body = _read(answer, most)
        except (OSError, http.client.HTTPException):
            raise AnalyserAway from None
        finally:
            connection.close()
        if answer.status in (200, 201):
            return body
        if 400 <= answer.status < 500 and answer.status != 429:
            raise AnalyserRefuses(answer.status, _code(body))
        raise AnalyserAway


def _connection(scheme: str, host: str) -> http.client.HTTPConnection:
    if scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, timeout=STEP_SECONDS, context=context)
    return http.client.HTTPConnection(host, timeout=STEP_SECONDS)


def _pieces(content: memoryview) -> Iterator[memoryview]:
    for start in range(0, content.nbytes, _PIECE_BYTES):
        yield content[start : start + _PIECE_BYTES]


def _read(answer: http.client.HTTPResponse, most: int) -> bytes:
    """Reads an answer. Errors: AnalyserAway where it is too large or takes too long."""
    end = time.monotonic() + ANSWER_SECONDS
    body = bytearray()
    while piece := answer.read1(_PIECE_BYTES):
        body += piece
        if len(body) > most or time.monotonic() > end:
            raise AnalyserAway
    if answer.length:
        raise AnalyserAway  # it ended before it was whole
    return bytes(body)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise AnalyserAway from None
    if not isinstance(value, dict):
        raise AnalyserAway
    return value


def _code(body: bytes) -> str:
    try:
        return str(_object(body).get("code", ""))
    except AnalyserAway:
        return ""
