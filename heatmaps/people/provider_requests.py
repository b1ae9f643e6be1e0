"""Asks the sign-in provider: only hosts that settings name, no redirection, little time, short answers.

A provider that answers slowly, or without an end, takes few of the server's threads: each question has one of
its own, and no more wait for theirs than `MOST_AT_ONCE`, who are fewer than the threads that answer pages.
"""

from threading import BoundedSemaphore, Thread
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.http import Http404
from requests import PreparedRequest, Response, Session
from requests.exceptions import ConnectionError as NotConnected
from requests.exceptions import InvalidURL, Timeout, TooManyRedirects

MOST_BYTES: Final = 2**20
MOST_AT_ONCE: Final = 2
PATIENCE_SECONDS: Final = 0.5  # for one of those places
_CHUNK_BYTES: Final = 2**14

_places = BoundedSemaphore(MOST_AT_ONCE)


def the_provider() -> Any:
    """Returns the provider of settings (`heatmaps.config.sign_in_provider`).

    Errors: Http404 where there is none.
    """
    if settings.SIGN_IN_PROVIDER is None:
        raise Http404("no provider")
    return settings.SIGN_IN_PROVIDER


class ProviderSession(Session):
    """Sends requests of `requests` for allauth. `origins`: of the hosts that may be asked.

    Errors of its methods: `requests.RequestException`.
    """

    def __init__(self, origins: tuple[str, ...]) -> None:
        super().__init__()
        self._origins = origins
        self.auth = _as_it_is  # else a .netrc of the machine would say who we are

    def request(self, method: str | bytes, url: str | bytes, *arguments: Any, **options: Any) -> Response:
        """Sends a request as that of `requests` does; `PROVIDER_SECONDS` of settings for all of an answer."""
        parts = urlsplit(url if isinstance(url, str) else url.decode())
        if f"{parts.scheme}://{parts.netloc}" not in self._origins:
            raise InvalidURL("the provider names a host that HAZEMAP_OIDC_HOSTS does not list")
        if not _places.acquire(timeout=PATIENCE_SECONDS):
            raise NotConnected("the provider has not answered those who asked before")
        options |= {"timeout": settings.PROVIDER_SECONDS, "allow_redirects": False, "stream": True}
        question = _Question(
            lambda: super(ProviderSession, self).request(str(method), url, *arguments, **options)
        )
        question.start()
        return question.answer()


class _Question(Thread):
    """Asks one question in a thread of its own, which may outlive whoever waits for the answer."""

    def __init__(self, ask: Any) -> None:
        super().__init__(daemon=True)
        self._ask = ask
        self._answer: Response | None = None
        self._error: Exception | None = None

    def run(self) -> None:
        try:
            self._answer = _read(self._ask())
        except Exception as error:  # noqa: BLE001 - it is raised where somebody waits for it
            self._error = error
        finally:
            _places.release()

    def answer(self) -> Response:
        self.join(settings.PROVIDER_SECONDS)
        if self._error is not None:
            raise self._error
        if self._answer is None:
            raise Timeout("the provider did not answer in time")
        return self._answer


def _read(response: Response) -> Response:
    """Reads all of an answer, in memory."""
    if response.is_redirect:
        raise TooManyRedirects("the provider answers with another address")
    end, content = monotonic() + settings.PROVIDER_SECONDS, bytearray()
    with response:
        for chunk in response.iter_content(_CHUNK_BYTES):
            content += chunk
            if len(content) > MOST_BYTES or monotonic() > end:
                raise NotConnected("the provider's answer is too long")
    response._content = bytes(content)
    return response


def _as_it_is(request: PreparedRequest) -> PreparedRequest:
    return request
