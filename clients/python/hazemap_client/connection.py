"""Asks a server: over https, for one origin only, with a token that nothing prints."""

import json
import os
import ssl
import tempfile
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Final, Never, TypeAlias, TypeVar
from urllib.parse import quote, urlsplit

import httpx

from hazemap_client.calls import Call
from hazemap_client.decoding import decoded
from hazemap_client.errors import BadAnswer, ConnectionFailed, Refusal, refusal

MOST_JSON_BYTES: Final = 64 << 20
MOST_FILE_BYTES: Final = 1 << 30  # in memory; files on the disk may be larger
ROWS_A_PAGE: Final = 200
PAUSES_S: Final = (0.5, 2.0, 8.0)  # before an attempt is repeated
LONGEST_PAUSE_S: Final = 30.0  # of a server that says when to come back; a longer one is yours to decide
_CONNECT_S: Final = 10.0
_MOST_PROBLEM_BYTES: Final = 1 << 20
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_PASSING: Final = (429, 502, 503, 504)

Query: TypeAlias = Mapping[str, str | int | bool | None]
File: TypeAlias = str | os.PathLike[str]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """The body and the headers of a success."""

    body: bytes
    headers: Mapping[str, str]

    def json(self) -> Any:
        """Errors: `BadAnswer`."""
        return parsed(self.body)


class Token(httpx.Auth):
    """A token that prints as nothing."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        self._secret = secret

    @property
    def is_plain(self) -> bool:
        """Whether it may be one: tokens are letters and digits."""
        return self._secret.isascii() and self._secret.isalnum()

    def __repr__(self) -> str:
        return "Token(…)"

    def __reduce__(self) -> Never:
        raise TypeError("a token is not stored; make a new Client instead")

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Adds the token to one request."""
        request.headers["Authorization"] = f"Bearer {self._secret}"
        yield request


class Connection:
    """Requests to one server; safe ones, and those that cannot count twice, are repeated."""

    url = ""  # also of one that could not be made

    def __init__(
        self, url: str, token: Token | None, *, timeout_s: float, allow_http: bool, ca_file: File | None
    ) -> None:
        self.url = _checked(url, allow_http=allow_http)
        self._http = httpx.Client(
            auth=token,
            timeout=httpx.Timeout(timeout_s, connect=min(_CONNECT_S, timeout_s)),
            verify=True if ca_file is None else ssl.create_default_context(cafile=ca_file),
            follow_redirects=False,  # nowhere else does the token go
            # A proxy of the environment would see what stays on this machine.
            trust_env=urlsplit(self.url).hostname not in _LOOPBACK,
            headers={"User-Agent": "hazemap-client", "Accept": "*/*"},
        )
        self._ahead = timedelta()

    def __repr__(self) -> str:
        return f"Connection({self.url!r})"

    def close(self) -> None:
        """Ends the connections."""
        self._http.close()

    def seconds_until(self, moment: datetime) -> float:
        """How long until a moment by the server's clock, as its last answer told it."""
        return (moment - datetime.now(UTC) - self._ahead).total_seconds()

    def ask(
        self,
        call: Call,
        *,
        body: object = None,
        content: Iterable[bytes] | None = None,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
        **names: str,
    ) -> Answer:
        """Asks with a JSON body, with content that is streamed once, or with neither.

        Errors: `Refusal`, `ConnectionFailed`, `BadAnswer`.
        """
        sent: Any = content
        if body is not None:
            sent = json.dumps(body, allow_nan=False).encode()
            headers = {"Content-Type": "application/json", **(headers or {})}
        sink, most = BytesIO(), MOST_JSON_BYTES if call.answer else MOST_FILE_BYTES
        request = self._request(call, names, query, content=sent, headers=headers)
        found = self._answer_into(sink, call, request, most)
        return Answer(sink.getvalue(), found)

    def save(self, call: Call, path: Path, *, query: Query | None = None, **names: str) -> Path:
        """Streams an answer to a file, which is there as a whole or not at all."""
        draft = tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False)  # noqa: SIM115
        try:
            with draft:
                self._answer_into(draft, call, self._request(call, names, query), None)
            Path(draft.name).replace(path)
        finally:
            Path(draft.name).unlink(missing_ok=True)
        return path

    def rows(self, call: Call, kind: type[T], *, query: Query | None = None, **asked: Any) -> Iterator[T]:
        """All rows of a list, page by page as they are needed."""
        number, more = 1, True
        while more:
            page = {"page": number, "page_size": ROWS_A_PAGE}
            body = self.ask(call, query={**(query or {}), **page}, **asked).json()
            if not isinstance(body, dict) or not isinstance(body.get("results"), list):
                raise BadAnswer("The server's answer is not a page of a list. Is this a Hazemap server?")
            yield from (decoded(kind, row, connection=self) for row in body["results"])
            # A page without rows is the last one, whatever it says.
            number, more = number + 1, bool(body["results"]) and body.get("next") is not None

    def one(self, call: Call, kind: type[T], **asked: Any) -> T:
        """Asks for one object, which goes on asking over this connection."""
        return decoded(kind, self.ask(call, **asked).json(), connection=self)

    def _request(
        self, call: Call, names: Mapping[str, str], query: Query | None, **sent: Any
    ) -> httpx.Request:
        path = call.path.format_map({name: quote(value, safe="") for name, value in names.items()})
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        return self._http.build_request(call.method, self.url + path, params=asked, **sent)

    def _answer_into(
        self, sink: IO[bytes], call: Call, request: httpx.Request, most: int | None
    ) -> Mapping[str, str]:
        for pause in (*PAUSES_S, None) if call.is_repeatable else (None,):
            sink.seek(0)
            sink.truncate()
            headers, refused = self._once(request, sink, most)
            if headers is not None:
                return headers
            wait = 0.0 if refused is None else _wait(refused)
            if pause is None or wait is None:
                break
            time.sleep(max(pause, wait))
        raise refused or ConnectionFailed(
            "The server cannot be reached, or its answer was cut off. Try again later."
        )

    def _once(
        self, request: httpx.Request, sink: IO[bytes], most: int | None
    ) -> tuple[Mapping[str, str] | None, Refusal | None]:
        """The headers of a success, or a refusal, or neither where no whole answer came."""
        try:
            with closing(self._http.send(request, stream=True)) as response:
                self._note_time(response)
                if response.is_redirect:
                    raise _redirected(response)
                if not response.is_success:
                    return None, _refused(response)
                _copy(response, sink, most)
                return response.headers, None
        except (httpx.TransportError, httpx.DecodingError):
            return None, None

    def _note_time(self, response: httpx.Response) -> None:
        try:
            there = parsedate_to_datetime(response.headers.get("Date", ""))
            self._ahead = there.astimezone(UTC) - datetime.now(UTC)
        except (ValueError, OverflowError):
            self._ahead = timedelta()


def parsed(body: bytes) -> Any:
    """What JSON says. Errors: `BadAnswer`."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        pass
    # Outside of the handler: the library's error holds the whole answer.
    raise BadAnswer("The server's answer is not JSON. Is this the address of a Hazemap server?")


def token_of(given: str | None) -> Token | None:
    """The token that is given, or that of HAZEMAP_TOKEN; none reads what is public."""
    secret = os.environ.get("HAZEMAP_TOKEN", "") if given is None else given
    return Token(secret.strip()) if secret.strip() else None


def _checked(url: str, *, allow_http: bool) -> str:
    parts = urlsplit(url)
    here = parts.hostname in _LOOPBACK
    if parts.username or parts.password or parts.query or parts.fragment or not parts.hostname:
        raise ValueError("url is not allowed; allowed: https://host, without a name, a query or a fragment")
    if parts.scheme != "https" and not (parts.scheme == "http" and (here or allow_http)):
        raise ValueError(f"url {parts.scheme}://… is not allowed; allowed: https, or http on this machine")
    return url.rstrip("/")


def _copy(response: httpx.Response, sink: IO[bytes], most: int | None) -> None:
    size = 0
    for part in response.iter_bytes():
        size += len(part)
        if most is not None and size > most:
            raise BadAnswer(f"The server's answer is larger than {most} bytes. Save it to a file instead.")
        sink.write(part)


def _refused(response: httpx.Response) -> Refusal:
    sink = BytesIO()
    try:
        _copy(response, sink, _MOST_PROBLEM_BYTES)
        problem = json.loads(sink.getvalue())
    except (BadAnswer, ValueError, RecursionError):
        problem = None
    after = response.headers.get("Retry-After", "")
    return refusal(response.status_code, problem, float(after) if after.isdecimal() else None)


def _wait(refused: Refusal) -> float | None:
    """Seconds after which the same request may be answered; None: asking again is of no use."""
    asked = refused.retry_after_s or 0.0
    return asked if refused.status in _PASSING and asked <= LONGEST_PAUSE_S else None


def _redirected(response: httpx.Response) -> BadAnswer:
    origin = "another address"
    with suppress(ValueError):
        there = urlsplit(response.headers.get("Location", ""))
        if there.scheme in {"http", "https"}:
            origin = f"{there.scheme}://{there.netloc}"
    return BadAnswer(
        f"The server points to {origin!a}. Nothing was sent there: use it as url if you trust it."
    )
