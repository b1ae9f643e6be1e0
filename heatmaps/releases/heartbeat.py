"""Tells whether a clock ticks: one of this process, or of any other process of the deployment.

Ticks depend on public moments alone (`heatmaps.releases.clock`), so their lateness tells nothing about data.
"""

import math
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db.models.functions import Now

from heatmaps.models import Heartbeat

BEAT_SECONDS: Final = settings.SILENCE_SECONDS / 4  # between two writes, each one small statement by itself
_CLOCK: Final = "clock"


@dataclass(slots=True)
class ThreadHeartbeat:
    """Keeps the last tick of a clock that is a thread of this process: nothing is written."""

    _beaten_at: float = -math.inf

    def beat(self) -> None:
        """Records a tick."""
        self._beaten_at = time.monotonic()

    def is_beating(self) -> bool:
        """Returns whether the last tick was a short while ago."""
        return time.monotonic() - self._beaten_at < settings.SILENCE_SECONDS


@dataclass(slots=True)
class DatabaseHeartbeat:
    """Stores ticks of clocks in other processes. The database tells the time, as machines may differ."""

    _written_at: float = -math.inf

    def beat(self) -> None:
        """Records a tick, if none was recorded a moment ago. Errors: `django.db.Error`."""
        if time.monotonic() - self._written_at < BEAT_SECONDS:
            return
        Heartbeat.objects.bulk_create(
            [Heartbeat(name=_CLOCK, beaten_at=Now())],
            update_conflicts=True,
            unique_fields=["name"],
            update_fields=["beaten_at"],
        )
        self._written_at = time.monotonic()

    def is_beating(self) -> bool:
        """Returns whether a tick was recorded a short while ago. Errors: `django.db.Error`."""
        late = timedelta(seconds=settings.SILENCE_SECONDS)
        # A database that was set back in time would have one of the future.
        return Heartbeat.objects.filter(name=_CLOCK, beaten_at__range=(Now() - late, Now() + late)).exists()
