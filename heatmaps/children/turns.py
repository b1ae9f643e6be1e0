"""Limits how many slow calls run at once, so that they never take all web threads."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import ClassVar, Final

AT_ONCE: Final = 2  # of the web's four threads
WAIT_SECONDS: Final = 2.0
RETRY_SECONDS: Final = 5


class Busy(Exception):  # noqa: N818 - reads as what it says
    """Asks to come again in a few seconds: the server does as much of this as it does at once."""

    code: ClassVar[str] = "busy"
    status: ClassVar[int] = 503

    def __init__(self, reason: str, *, retry_seconds: int = RETRY_SECONDS) -> None:
        self.retry_seconds = retry_seconds
        super().__init__(f"{reason}; try again in {retry_seconds} seconds")


_turns, _waiting = BoundedSemaphore(AT_ONCE), BoundedSemaphore(1)


@contextmanager
def turn() -> Iterator[None]:
    """Holds one of few turns that this process has for long work. Errors: Busy."""
    if not (_turns.acquire(blocking=False) or _waited()):
        raise Busy("the server is busy with other files and quotes")
    try:
        yield
    finally:
        _turns.release()


def _waited() -> bool:
    """Lets one request wait a little; were there more, they would take the threads that are left."""
    if not _waiting.acquire(blocking=False):
        return False
    try:
        return _turns.acquire(timeout=WAIT_SECONDS)
    finally:
        _waiting.release()
