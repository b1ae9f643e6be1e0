"""Elects who reads a lake for a spent release, again where that one died, and who of them may draw.

Reading draws nothing: whoever reads takes a new tag and a lease, and when the lease ran out another may read,
for the same charge, `MOST_ATTEMPTS` times in all. To draw, the tag is taken away in one statement that must
find it, in the transaction that elects the draw (`heatmaps.releases.draws`): after it every failure is final.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from heatmaps.broker import leases
from heatmaps.ledger.transitions.locks import locked_release
from heatmaps.ledger.version_commitments import VersionChanged
from heatmaps.models import Drawing, DrawingState, Release, SourceReading
from heatmaps.record import elections
from heatmaps.releases import draws
from heatmaps.releases.engine import BrokenPromise
from heatmaps.releases.payment import Payment
from heatmaps.sources.engine import ServerAway, ServerRefused
from heatmaps.sources.manifest import FilesAway, FilesChanged
from heatmaps.sources.sources_file import SourcesFileError

MOST_ATTEMPTS: Final = 3
PAUSE: Final = timedelta(seconds=20)  # after a failed attempt: a Spark that starts again needs some time
LONG_PAUSE: Final = timedelta(minutes=5)  # where nothing was asked: somebody has to mend something first
NOT_ASKED: Final = (ServerAway, ServerRefused, FilesAway, SourcesFileError)
FINAL: Final = (FilesChanged, BrokenPromise, VersionChanged)  # another attempt would fail as well


def begin(release_id: UUID) -> UUID | None:
    """Returns the tag of the caller, who reads alone while it keeps its lease; None: nothing to read.

    Once all attempts died there is no result.
    """
    now = timezone.now()
    with transaction.atomic(durable=True):
        if not _is_spent(release_id):
            return None
        SourceReading.objects.get_or_create(pk=release_id, defaults={"begun_at": now})
        reading = SourceReading.objects.select_for_update().get(pk=release_id)
        if reading.lease_until is not None and reading.lease_until >= now:
            return None
        if reading.attempts >= MOST_ATTEMPTS:
            _end(reading, DrawingState.FAILED)
            return None
        reading.tag, reading.attempts = uuid4(), reading.attempts + 1
        reading.lease_until = draws.lease_end()
        reading.save()
        return reading.tag


@contextmanager
def lease(release_id: UUID, tag: UUID) -> Iterator[None]:
    """Renews the caller's lease until the block ends."""

    def renew() -> bool:
        return _own_rows(release_id, tag).update(lease_until=draws.lease_end()) == 1

    with leases.renewed(renew, seconds=settings.LEASE_SECONDS, of=release_id):
        yield


def claim(release: Release, tag: UUID) -> bool:
    """Elects the caller to draw what it read of this release, as `draws.claim` does: True for one, ever."""
    payment = Payment(release)
    with (
        elections.electing(release.pk) as candidate,
        locked_release(release.pk, durable=True) as ledger,
    ):
        reading = _reading(release.pk, tag)
        if reading is None:
            return False
        state = draws.outcome(payment, ledger, candidate)
        return _end(reading, state, candidate) and state == DrawingState.RUNNING


def give_up(release_id: UUID, tag: UUID) -> bool:
    """Ends a reading without a result: another attempt would fail as well."""
    with transaction.atomic(durable=True):
        reading = _reading(release_id, tag)
        return reading is not None and _end(reading, DrawingState.FAILED)


def let_go(release_id: UUID, tag: UUID, *, was_asked: bool) -> None:
    """Lets another try, after a pause; there is no result if this was the last attempt."""
    pause = PAUSE if was_asked else LONG_PAUSE
    rows = _own_rows(release_id, tag)
    if rows.filter(attempts__gte=MOST_ATTEMPTS).exists():
        give_up(release_id, tag)
    else:
        rows.update(lease_until=timezone.now() + pause)


def forget_leases() -> None:
    """Ends all leases at the start of the only process that reads: whoever held one is dead."""
    SourceReading.objects.update(lease_until=None)


def _reading(release_id: UUID, tag: UUID) -> SourceReading | None:
    """Returns the caller's reading, while its release may end; locks the release's row."""
    return _own_rows(release_id, tag).first() if _is_spent(release_id) else None


def _end(reading: SourceReading, state: DrawingState, candidate: elections.Candidate | None = None) -> bool:
    """Makes a reading a drawing, once, in the caller's transaction, which locks the release's row."""
    if not SourceReading.objects.filter(pk=reading.pk, tag=reading.tag).delete()[0]:
        return False
    # It began when the lake was first asked: how long that takes depends on the data.
    return draws.enter(reading.release, state, claimed_at=reading.begun_at, candidate=candidate)


def _is_spent(release_id: UUID) -> bool:
    """Locks the release's row."""
    return draws.is_spent(release_id) and not Drawing.objects.filter(pk=release_id).exists()


def _own_rows(release_id: UUID, tag: UUID) -> "QuerySet[SourceReading]":
    return SourceReading.objects.filter(pk=release_id, tag=tag)
