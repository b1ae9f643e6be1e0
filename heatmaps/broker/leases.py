"""Renews a lease while its holder works, from a thread of its own process, with a connection of its own.

The thread dies with the process, ends with the work, and gives up on work that lasts longer than
`LONGEST_WORK_SECONDS`: a worker that hangs is dead, although its process lives.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

import structlog
from django.db import Error, connection

RENEWALS: Final = 3  # in the time of one lease: one that comes late, or fails, loses nothing
LONGEST_WORK_SECONDS: Final = 6 * 3600
_SHORTEST_PAUSE_SECONDS: Final = 0.1
_STOP_SECONDS: Final = 5.0

_log = structlog.stdlib.get_logger(__name__)


@contextmanager
def renewed(renew: Callable[[], bool], *, seconds: float, of: object) -> Iterator[None]:
    """Calls `renew` several times in each lease of so many seconds until the block ends, or it says False.

    of: what the lease is of, for the log.
    """
    ended = Event()
    thread = Thread(target=_keep, args=(renew, seconds, of, ended), name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(_STOP_SECONDS)  # a database that does not answer must not hold the worker up


def _keep(renew: Callable[[], bool], seconds: float, of: object, ended: Event) -> None:
    pause = max(seconds / RENEWALS, _SHORTEST_PAUSE_SECONDS)
    last = time.monotonic() + LONGEST_WORK_SECONDS
    while not ended.wait(pause) and time.monotonic() < last:
        try:
            if not renew():
                return
        except Error as error:
            # The class only: a message may hold data. The next renewal tries again.
            _log.warning("lease.not_renewed", of=of, cause=type(error))
        finally:
            connection.close()
