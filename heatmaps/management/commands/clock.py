"""`manage.py clock`: runs the timed work of a deployment with separate workers."""

import signal
from threading import Event
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand

from heatmaps.broker import queue
from heatmaps.management import database_roles
from heatmaps.releases import clock, heartbeat

_log = structlog.stdlib.get_logger(__name__)


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
        first = Event()

        def ticked() -> None:
            file.touch()  # whoever watches this process looks at the file's age
            database.beat()
            if not first.is_set() and database_roles.reads_check_ins():
                # As before there was a role of the clock: it works, and could do more than it needs.
                _log.warning("clock.reads_check_ins", needed="hazemap_clock", see="docs/how-to/upgrade.md")
            first.set()

        clock.run(stopping, ticked=ticked)
