"""`manage.py clock`: runs the timed work of a deployment with separate workers."""

import signal
from threading import Event
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from heatmaps import queue
from heatmaps.releases import clock, heartbeat


class Command(BaseCommand):
    help = (
        "Move releases at their public moments and send the sweep every half a minute, until stopped. One is "
        "enough; `manage.py serve` without HAZEMAP_BROKER_URL has its own."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        stopping = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        self.stdout.write("The clock is running (Ctrl+C stops it)")
        self.stdout.flush()
        queue.send_in_background()
        database, file = heartbeat.DatabaseHeartbeat(), settings.STATE_DIR / "clock"

        def ticked() -> None:
            file.touch()  # whoever watches this process looks at the file's age
            database.beat()

        clock.run(stopping, ticked=ticked)
