"""Asks a server: over https, for one origin only, with a token that nothing prints."""

import json
import os
import ssl
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, Never, Self, TypeAlias, TypeVar
from urllib.parse import quote, urlsplit

import httpx

from hazemap_client.calls import Call
from hazemap_client.decoding import decoded, parsed
from hazemap_client.errors import BadAnswer, ConnectionFailed, Refusal, refusal
from hazemap_client.numbers import plain

MOST_JSON_BYTES: Final = 64 << 20
MOST_FILE_BYTES: Final = 1 << 30  # in memory; files on the disk may be larger
ROWS_A_PAGE: Final = 200
PAUSES_S: Final = (0.5, 2.0, 8.0)  # before an attempt is repeated
LONGEST_PAUSE_S: Final = 30.0  # of a server that says when to come back; a longer one is yours to decide
_LOST: Final = (httpx.TransportError, httpx.DecodingError)  # no whole answer came
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")

Query: TypeAlias = Mapping[str, Any] | None  # what is None is left out
File: TypeAlias = str | os.PathLike[str]
T = TypeVar("T")


class Answer(NamedTuple):
    """Holds the body and the headers of a success."""

    body: bytes
    headers: Mapping[str, str]


class Token(httpx.Auth):
    """Signs requests with the given token, or that of HAZEMAP_TOKEN; it prints as nothing.
    None reads what is public.
    """

    def __init__(self, token: str | None) -> None:
        self._secret = (os.environ.get("HAZEMAP_TOKEN", "") if token is None else token).strip()

    @property
    def is_plain(self) -> bool:
        """Returns whether it may be one: tokens are letters and digits."""
        return not self._secret or (self._secret.isascii() and self._secret.isalnum())

    def __repr__(self) -> str:
        return "Token(…)"

    def __reduce__(self) -> Never:
        raise TypeError("a token is not stored; make a new Client instead")

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Adds the token to one request."""
        if self._secret:
            request.headers["Authorization"] = f"Bearer {self._secret}"
        yield request


class Connection:
    """Sends requests to one server; safe ones, and those that cannot count twice, are repeated."""

    url = ""  # also of one that could not be made: a traceback may show it

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = 60.0,
        allow_http: bool = False,
        ca_file: File | None = None,
    ) -> None:
        hidden = Token(token)
        del token  # a traceback may show what a frame holds
        if not hidden.is_plain:
            raise ValueError("token is not allowed; allowed: the letters and digits that were shown once")
        self.url = _checked(url, allow_http=allow_http)
        self._http = httpx.Client(
            auth=hidden,
            timeout=timeout_s,
            verify=True if ca_file is None else ssl.create_default_context(cafile=ca_file),
            follow_redirects=False,  # nowhere else does the token go
            # A proxy of the environment would see what stays on this machine.
            trust_env=urlsplit(self.url).hostname not in _LOOPBACK,
            headers={"User-Agent": "hazemap-client"},
        )
        self._ahead = timedelta()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the session."""
        self._http.close()

    def seconds_until(self, moment: datetime) -> float:
        """Returns the seconds until a moment by the server's clock, as its last answer told it."""
        return (moment - datetime.now(UTC) - self._ahead).total_seconds()

    def ask(self, call: Call, **arguments: Any) -> Answer:
        """Asks, with the names in the call's path; with a `query`, `headers` and a `body`, which is sent as
        JSON, or streamed where it is an iterator of bytes.

        Errors: `Refusal`, `ConnectionFailed`, `BadAnswer`.
        """
        sink, most = BytesIO(), MOST_JSON_BYTES if call.answer else MOST_FILE_BYTES
        headers = self._into(sink, most, call, **arguments)
        return Answer(sink.getvalue(), headers)

    def load(self, call: Call, kind: type[T], **arguments: Any) -> T:
        """Asks for one object. Its local fields are this connection, the ETag, and what was asked with."""
        body, headers = self.ask(call, **arguments)
        return decoded(kind, parsed(body), {**arguments, "connection": self, "etag": headers.get("ETag", "")})

    def rows(self, call: Call, kind: type[T], *, query: Query = None, **names: Any) -> Iterator[T]:
        """Yields all rows of a list, page by page as they are needed."""
        number, more = 1, True
        while more:
            page = {**(query or {}), "page": number, "page_size": ROWS_A_PAGE}
            body = parsed(self.ask(call, query=page, **names).body)
            if not isinstance(body, dict) or not isinstance(body.get("results"), list):
                raise BadAnswer("The server's answer is not a page of a list. Is this a Hazemap server?")
            yield from (decoded(kind, row, {"connection": self}) for row in body["results"])
            # A page without rows is the last one, whatever it says.
            number, more = number + 1, bool(body["results"]) and body.get("next") is not None

    def save(self, call: Call, path: File, **arguments: Any) -> Path:
        """Streams the file that the path's suffix names, which is there as a whole or not at all."""
        to = Path(path)
        # The last suffix, the one that `.zip` packs, and the two of `.cells.csv`.
        start = -1 - (to.suffix == ".zip") - to.name.removesuffix(".zip").endswith(".cells.csv")
        draft = tempfile.NamedTemporaryFile(dir=to.parent, prefix=f".{to.name}.", delete=False)  # noqa: SIM115
        try:
            with draft:
                self._into(draft, None, call, suffix="".join(to.suffixes[start:])[1:], **arguments)
            return Path(draft.name).replace(to)
        finally:
            Path(draft.name).unlink(missing_ok=True)

    def _into(self, sink: IO[bytes], most: int | None, call: Call, **arguments: Any) -> Mapping[str, str]:
        """Writes a success's body into the sink and returns its headers. Errors: as of `ask`."""
        request = self._request(call, **arguments)
        pauses = iter(PAUSES_S if call.is_repeatable or call.method == "GET" else ())
        while True:
            try:
                return self._once(request, sink, most)
            except (Refusal, ConnectionFailed) as error:
                wait, pause = error.retry_after_s or 0.0, next(pauses, None)
                if pause is None or wait > LONGEST_PAUSE_S or not error.is_passing:
                    raise
            time.sleep(max(pause, wait))

    def _request(
        self, call: Call, *, body: Any = None, query: Query = None, headers: Query = None, **names: str
    ) -> httpx.Request:
        content = body
        if body is not None and not isinstance(body, Iterator):
            content = json.dumps(body, allow_nan=False, default=plain).encode()
            headers = {"Content-Type": "application/json", **(headers or {})}
        url = self.url + call.path.format_map({name: quote(value, safe="") for name, value in names.items()})
        params = {name: value for name, value in (query or {}).items() if value is not None}
        return self._http.build_request(call.method, url, params=params, content=content, headers=headers)

    def _once(self, request: httpx.Request, sink: IO[bytes], most: int | None) -> Mapping[str, str]:
        with suppress(*_LOST), closing(self._http.send(request, stream=True)) as response:
            self._note_time(response)
            if response.next_request is not None:
                there = response.next_request.url
                origin = f"{there.scheme}://{there.netloc.decode()}"
                raise BadAnswer(f"The server points to {origin}. Use it as url if you trust it.")
            if not response.is_success:
                raise _refused(response)
            _copy(response, sink, most)
            return response.headers
        # Outside of the handler: the library's error holds the request, and with it the token.
        raise ConnectionFailed("The server cannot be reached, or its answer was cut off. Try again later.")

    def _note_time(self, response: httpx.Response) -> None:
        with suppress(ValueError, OverflowError):
            there = parsedate_to_datetime(response.headers.get("Date", ""))
            self._ahead = there.astimezone(UTC) - datetime.now(UTC)


def _checked(url: str, *, allow_http: bool) -> str:
    parts = urlsplit(url)
    allowed = ("https", "http") if allow_http or parts.hostname in _LOOPBACK else ("https",)
    if parts.scheme not in allowed or not parts.hostname or set(url) & set("@?#"):
        raise ValueError("url is not allowed; allowed: https://host, and http://host on this machine")
    return url.rstrip("/")


def _copy(response: httpx.Response, sink: IO[bytes], most: int | None) -> None:
    sink.seek(0)  # what an earlier attempt left
    sink.truncate()
    for part in response.iter_bytes():
        sink.write(part)
        if most is not None and sink.tell() > most:
            raise BadAnswer(f"The server's answer is larger than {most} bytes. Save it to a file instead.")


def _refused(response: httpx.Response) -> Refusal:
    sink, problem = BytesIO(), None
    with suppress(BadAnswer):
        _copy(response, sink, MOST_JSON_BYTES)
        problem = parsed(sink.getvalue())
    after = response.headers.get("Retry-After", "")
    return refusal(response.status_code, problem, float(after) if after.isdecimal() else None)
