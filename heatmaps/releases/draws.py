"""Elects who draws a spent release, and holds the outcome until it may be published.

| move | from | to | who |
| --- | --- | --- | --- |
| claim | (none) | running | one worker, ever, while the release is spent |
| finish | running | drawn | that worker, for as long as it renews its lease |
| give up | running | failed | that worker, or the sweep once the lease ran out |

The lease is short, so that the sweep fails what a dead worker left soon; while a worker reads, draws and
stores, a thread of its own process renews it, by an UPDATE that names the state. The thread dies with the
process, ends with the draw, and gives up on a draw that lasts longer than `LONGEST_DRAW_SECONDS`.

None of it is an event or is shown to anybody: the clock (`heatmaps.releases.clock`) tells the outcome at the
release's public moment.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Final
from uuid import UUID

import structlog
from django.conf import settings
from django.db import Error, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from heatmaps.models import Drawing, DrawingState, Release, ReleaseState

RENEWALS: Final = 3  # in the time of one lease: one that comes late, or fails, loses nothing
LONGEST_DRAW_SECONDS: Final = 6 * 3600  # a worker that hangs is dead, although its process lives
_SHORTEST_PAUSE_SECONDS: Final = 0.1
_STOP_SECONDS: Final = 5.0

_log = structlog.stdlib.get_logger(__name__)


class GivenUp(Exception):  # noqa: N818 - what happened
    """The drawing was failed meanwhile; what was drawn is thrown away."""


def claim(release_id: UUID) -> bool:
    """Elect the caller to draw: True for exactly one, ever. Committed before any data are read.

    The release's row is locked: one that ends meanwhile is no longer spent, and never drawn again.
    """
    spent = Release.objects.select_for_update().filter(pk=release_id, state=ReleaseState.SPENT)
    with transaction.atomic(durable=True):
        if not spent.values_list("pk", flat=True).first():
            return False
        begun = {"claimed_at": timezone.now(), "lease_until": lease_end()}
        return Drawing.objects.get_or_create(pk=release_id, defaults=begun)[1]


@contextmanager
def kept(release_id: UUID) -> Iterator[None]:
    """Renew a running drawing's lease, from a thread with a connection of its own, until the block ends."""
    ended = Event()
    thread = Thread(target=_keep, args=(release_id, ended), name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(_STOP_SECONDS)  # a database that does not answer must not hold the worker up


def renew(release_id: UUID) -> bool:
    """One lease more from now on; False when the drawing is not running (any more)."""
    return _running(release_id).update(lease_until=lease_end()) == 1


def finish(release_id: UUID, content: bytes, sha256: str) -> None:
    """Keep what was drawn until its moment. Errors: GivenUp."""
    drawn = {"state": DrawingState.DRAWN, "content": content, "sha256": sha256, "lease_until": None}
    if not _running(release_id).update(**drawn):
        raise GivenUp


def give_up(release_id: UUID) -> bool:
    """There will be no result; False when the drawing had an end already."""
    return _running(release_id).update(state=DrawingState.FAILED, lease_until=None) == 1


def give_up_if_over(release_id: UUID, now: datetime) -> bool:
    """As `give_up`, of a drawing whose lease ran out before `now`; a renewal comes before it, or too late."""
    over = _running(release_id).filter(lease_until__lt=now)
    return over.update(state=DrawingState.FAILED, lease_until=None) == 1


def begin_again(release_id: UUID, now: datetime | None = None) -> bool:
    """Let another worker begin what only reads and draws nothing: a round's messages.

    `now`: only if its lease ran out before then.
    """
    running = _running(release_id)
    return (running if now is None else running.filter(lease_until__lt=now)).delete()[0] == 1


def lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)


def _running(release_id: UUID) -> "QuerySet[Drawing]":
    return Drawing.objects.filter(pk=release_id, state=DrawingState.RUNNING)


def _keep(release_id: UUID, ended: Event) -> None:
    pause = max(settings.LEASE_SECONDS / RENEWALS, _SHORTEST_PAUSE_SECONDS)
    last = time.monotonic() + LONGEST_DRAW_SECONDS
    while not ended.wait(pause) and time.monotonic() < last:
        try:
            if not renew(release_id):
                return
        except Error as error:
            # The class only: a message may hold data. The next renewal tries again.
            _log.warning("lease.not_renewed", release=release_id, cause=type(error))
        finally:
            connection.close()
