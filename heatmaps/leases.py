"""A spent release belongs to one worker for as long as that worker renews its lease.

The lease is short, so that the sweep fails what a dead worker left soon; while a worker reads, draws and
publishes, a thread of its own process renews it, by an UPDATE that names the state. The thread dies with
the process, ends with the draw, and gives up on a draw that lasts longer than `LONGEST_DRAW_SECONDS`.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Final
from uuid import UUID

import structlog
from django.conf import settings
from django.db import Error, connection
from django.utils import timezone

from heatmaps.ledger import transitions
from heatmaps.models import Release, ReleaseState

RENEWALS: Final = 3  # in the time of one lease: one that comes late, or fails, loses nothing
LONGEST_DRAW_SECONDS: Final = 6 * 3600  # a worker that hangs is dead, although its process lives
_SHORTEST_PAUSE_SECONDS: Final = 0.1
_STOP_SECONDS: Final = 5.0

_log = structlog.stdlib.get_logger(__name__)


@contextmanager
def kept(release_id: UUID, *, also: Callable[[], bool] = lambda: True) -> Iterator[None]:
    """Renew a spent release's lease, from a thread with a connection of its own, until the block ends.

    `also` renews what else the worker holds; False when that is lost, and nothing is renewed any more.
    """
    ended = Event()
    thread = Thread(target=_keep, args=(release_id, also, ended), name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(_STOP_SECONDS)  # a database that does not answer must not hold the worker up


def renew(release_id: UUID) -> bool:
    """One lease more from now on; False when the release is not spent (any more): another ended it."""
    until = timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
    spent = Release.objects.filter(pk=release_id, state=ReleaseState.SPENT)
    return spent.update(lease_until=until) == 1


def fail_if_over(release: Release, now: datetime) -> bool:
    """Fail a spent release whose lease ran out before `now`; a renewal comes before it or finds it failed."""
    over = Release.objects.select_for_update().filter(
        pk=release.pk, state=ReleaseState.SPENT, lease_until__lt=now
    )
    with transitions.locked(release.dataset_id):
        if not list(over.values_list("pk", flat=True)):
            return False
        transitions.fail(release.pk)
    return True


def _keep(release_id: UUID, also: Callable[[], bool], ended: Event) -> None:
    pause = max(settings.LEASE_SECONDS / RENEWALS, _SHORTEST_PAUSE_SECONDS)
    last = time.monotonic() + LONGEST_DRAW_SECONDS
    while not ended.wait(pause) and time.monotonic() < last:
        try:
            if not (renew(release_id) and also()):
                return
        except Error as error:
            # The class only: a message may hold data. The next renewal tries again.
            _log.warning("lease.not_renewed", release=release_id, cause=type(error))
        finally:
            connection.close()
