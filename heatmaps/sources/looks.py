"""Looks at files for a while only: a mount whose server is gone answers no question about a file, ever.

Who waits for requests and moments (web and clock) must not wait for that.
"""

from collections.abc import Callable
from threading import Thread
from typing import Final, TypeVar

import structlog

LONGEST_SECONDS: Final = 2.0

_Result = TypeVar("_Result")
_given_up: dict[str, Thread] = {}  # looks that go on, as a call of the system cannot be ended

_log = structlog.stdlib.get_logger(__name__)


def result_in_time(source: str, look: Callable[[], _Result]) -> _Result | None:
    """Returns `look`'s result within `LONGEST_SECONDS`; None where it, or an earlier one, takes longer.

    source: whose files they are; those of another one may be on another mount. Errors: those of `look`.
    """
    earlier = _given_up.get(source)
    if earlier is not None and earlier.is_alive():
        return None
    results: list[_Result] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(look())
        except Exception as error:  # noqa: BLE001 - raised again, where it is waited for
            errors.append(error)

    thread = Thread(target=run, name="look", daemon=True)
    thread.start()
    thread.join(LONGEST_SECONDS)
    if thread.is_alive():
        _given_up[source] = thread
        _log.error("source.folder_hangs", source=source, seconds=LONGEST_SECONDS)
        return None
    if errors:
        raise errors[0]
    return results[0]
