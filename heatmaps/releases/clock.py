"""Moves releases at their public moments, in order of reservation, dataset by dataset.

It reads no check-ins and draws nothing, so what it does and when does not depend on the data.
"""

import time
from collections.abc import Callable
from datetime import datetime
from threading import Event
from typing import Final
from uuid import UUID

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.models import Min, Q
from django.utils import timezone

from heatmaps.broker import queue
from heatmaps.ledger import transitions
from heatmaps.ledger.errors import IllegalTransition
from heatmaps.ledger.transitions import moves, slots
from heatmaps.models import Dataset, Drawing, DrawingState, Release, ReleaseState
from heatmaps.origins import ORIGINS, where
from heatmaps.record import hold
from heatmaps.releases import draws, lifecycle

TICK_SECONDS: Final = 0.2
_LONGEST_WAIT_SECONDS: Final = 5.0  # between two looks, where every attempt fails
_STARTED_AT: Final = timezone.now()

_log = structlog.stdlib.get_logger(__name__)


def run(stopping: Event, *, ticked: Callable[[], None] = lambda: None) -> None:
    """Ticks until told to stop, and sends the sweep at once and now and then; whatever fails is tried a
    little later.

    `ticked` is called after each tick that went well.
    """
    pause, sweep_at = TICK_SECONDS, time.monotonic()  # an older database is to be seen soon
    while not stopping.wait(pause):
        try:
            # Before the tick, so that one that fails every time does not keep the sweep back.
            if time.monotonic() >= sweep_at:
                sweep_at = time.monotonic() + settings.SWEEP_SECONDS
                queue.send(queue.SWEEP)
            tick()
            ticked()
            pause = TICK_SECONDS
        except Exception as error:  # noqa: BLE001 - nothing else moves releases: it must not end
            # The class only: a message may hold data.
            _log.warning("clock.stopped_for_a_while", cause=type(error))
            connection.close()
            pause = min(2 * pause, _LONGEST_WAIT_SECONDS)


def tick() -> None:
    """Begins, ends, delays and expires whatever is due. Safe to run beside anything, itself included.

    Nothing moves while the installation is on hold.
    """
    if hold.cause() is not None:
        return
    now = timezone.now()
    for origin in ORIGINS:
        origin.appear(now)
    for dataset_id in _due(now):
        _advance_alone(dataset_id, now)


def complete(release_id: UUID) -> None:
    """Draws here, and waits for the release's public moments: for commands, which nothing else works for.

    Errors: `OnHold`.
    """
    queued = Release.objects.filter(pk=release_id, state__in=moves.QUEUED)
    while queued.exists():
        if hold.cause() is not None:
            raise hold.OnHold
        tick()
        if queued.filter(state=ReleaseState.SPENT, drawing=None).exists():
            lifecycle.run(release_id)
        tick()
        time.sleep(TICK_SECONDS)


def _due(now: datetime) -> list[int]:
    """Returns the datasets in which something has to move, the one that waits longest first."""
    begin = Q(state=ReleaseState.RESERVED) & (Q(starts_at__lte=now) | Q(expires_at__lt=now))
    end = Q(state=ReleaseState.SPENT, visible_at__lte=now)
    rows = Release.objects.filter(begin | end).values("dataset").annotate(first=Min("starts_at"))
    return list(rows.order_by("first", "dataset").values_list("dataset", flat=True))


def _advance_alone(dataset_id: int, now: datetime) -> None:
    """Moves one dataset: whatever is wrong with its rows, the moments of the others come."""
    try:
        _advance(dataset_id, now)
    except (InterfaceError, OperationalError):
        raise  # the database is away: waited for
    except Exception as error:  # noqa: BLE001 - the clock must not stop
        # The class only: a message may hold data.
        _log.error("clock.dataset_stopped", dataset=dataset_id, cause=type(error))


def _advance(dataset_id: int, now: datetime) -> None:
    """Moves the queue from its head on, as far as it is due."""
    _expire_rounds(dataset_id, now)
    for release in slots.queue(dataset_id).select_related("dataset", "version"):
        if hold.keeps_back(release):
            return
        if release.state == ReleaseState.SPENT:
            if release.visible_at > now or not _end(release):
                return
        elif release.expires_at < now:
            transitions.cancel(release.pk, actor=None)
        elif release.starts_at > now or not _begin(release):
            return


def _expire_rounds(dataset_id: int, now: datetime) -> None:
    """Cancels rounds that no shuffler joined, wherever they stand: earlier ones may be open for months."""
    queued = slots.queue(dataset_id).filter(
        where("has_fixed_moments", "dataset"), state=ReleaseState.RESERVED
    )
    for release_id in queued.filter(expires_at__lt=now).values_list("pk", flat=True):
        transitions.cancel(release_id, actor=None)


def _begin(release: Release) -> bool:
    """Spends a release and has it drawn; True where the queue goes on, as its promise could not be kept."""
    # Working a promise out may take seconds, in which all datasets wait: only where another version of the
    # program may have made it. Whoever draws looks again.
    if not _has_place(release.dataset):
        return False
    if release.requested_at < _STARTED_AT and not lifecycle.is_as_promised(release):
        return transitions.cancel(release.pk, actor=None)
    if not release.dataset.origin.can_be_read(release.version):
        return transitions.cancel(release.pk, actor=None)  # nothing could be read: nothing is spent
    if transitions.spend(release.pk):
        lifecycle.send(release)
    return False


def _has_place(dataset: Dataset) -> bool:
    """Tells whether one more release may be drawn now."""
    # Places are taken and given back at public moments: what waits for one tells nothing about data.
    spent = Release.objects.filter(dataset.origin.of("dataset"), state=ReleaseState.SPENT)
    return dataset.origin.has_place(dataset, spent)


def _end(release: Release) -> bool:
    """Tells the outcome of a release; False where there is none, and the release keeps the queue waiting."""
    drawing = Drawing.objects.filter(pk=release.pk).defer("content").first()
    in_time = drawing is not None and slots.has_had_time(release, drawing.claimed_at, release.dataset)
    state = drawing.state if drawing is not None and in_time else None
    origin = release.dataset.origin
    is_over = state == DrawingState.RUNNING and draws.end(release, over_at=timezone.now())
    is_dead = is_over and not origin.may_be_drawn_again
    try:
        if state == DrawingState.DRAWN:
            transitions.publish(release.pk)
        elif is_dead or state in (DrawingState.FAILED, DrawingState.REFUSED):
            transitions.fail(release.pk)
        else:
            transitions.delay(release.pk)
            if origin.is_given_up(release, timezone.now()):
                draws.fail_unclaimed(release)  # told at the moment that it was put off to
            elif drawing is None or is_over:
                lifecycle.send(release)  # the message was lost, or no worker is there
            return False
    except IllegalTransition:  # it moved meanwhile: the next tick sees how
        return False
    return True
