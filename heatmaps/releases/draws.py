"""Elects who draws a spent release, and holds the outcome until it may be published.

| move | from | to | who |
| --- | --- | --- | --- |
| claim | (none) | running | one worker, ever, while the release is spent |
| finish | running | drawn | that worker, for as long as it renews its lease |
| give up | running | failed | that worker, or the sweep once the lease ran out |

The lease is short, so that the sweep fails what a dead worker left soon; while a worker reads, draws and
stores, a thread of its own process renews it (`heatmaps.leases`), by an UPDATE that names the state.

None of it is an event or is shown to anybody: the clock (`heatmaps.releases.clock`) tells the outcome at the
release's public moment.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from heatmaps import leases
from heatmaps.models import Drawing, DrawingState, Release, ReleaseState


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
    """Renew a running drawing's lease until the block ends."""
    with leases.renewed(lambda: renew(release_id), seconds=settings.LEASE_SECONDS, of=release_id):
        yield


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
