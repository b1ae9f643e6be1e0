"""Ends what no worker will end, and sends again what no worker has."""

from typing import Final

from django.utils import timezone

from heatmaps.models import Drawing, DrawingState, Release, ReleaseState
from heatmaps.origins import COLUMNS, ORIGINS
from heatmaps.record import elections
from heatmaps.record.hold import OnHold
from heatmaps.releases import draws, lifecycle, source_readings

RESENT_AT_ONCE: Final = 100  # reserved releases that one sweep sends to the workers again, the oldest first
_ORIGIN_COLUMNS: Final = tuple(f"dataset__{column}" for column in COLUMNS)


def sweep() -> None:
    """Ends what no worker will end, and sends again what no worker has. Safe to run beside anything.

    First the database is compared with the record: on hold nothing is sent and nothing ends.
    """
    try:
        elections.look()
    except OnHold:
        return
    over = Drawing.objects.filter(state=DrawingState.RUNNING, lease_until__lt=timezone.now())
    columns = [f"release__{column}" for column in _ORIGIN_COLUMNS]
    for drawing in over.select_related("release__dataset").only(*columns):
        draws.end(drawing.release, over_at=timezone.now())
    undrawn = Release.objects.filter(state=ReleaseState.SPENT, drawing=None).order_by("starts_at")
    for origin in ORIGINS:
        if origin.unread is not None:
            undrawn = undrawn.exclude(origin.of("dataset") & origin.unread)
    undrawn = undrawn.exclude(source_reading__lease_until__gte=timezone.now())
    # What else a row says may be unreadable, and holds up no other.
    for release in undrawn.select_related("dataset").only(*_ORIGIN_COLUMNS)[:RESENT_AT_ONCE]:
        lifecycle.send(release)
    for origin in ORIGINS:
        for sweep_origin in origin.sweeps:
            sweep_origin()


def recover() -> None:
    """Begins at the start of the only process that draws: no other can be at work on a spent release."""
    try:
        elections.look()
    except OnHold:
        return
    for drawing in Drawing.objects.filter(state=DrawingState.RUNNING).select_related("release__dataset"):
        draws.end(drawing.release)
    source_readings.forget_leases()
    sweep()
