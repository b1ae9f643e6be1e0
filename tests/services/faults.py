"""Clock, crashes and draws of the product in the hands of a test; import it once Django is set up."""

import contextlib
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import numpy as np
from django.conf import settings
from django.db import connection
from django.utils import timezone

from heatmaps.broker import queue
from heatmaps.ledger import events
from heatmaps.releases import draws, lifecycle, sweep
from mechanisms.results.heatmap import Heatmap

MAP = Heatmap(
    level=1, levels=np.zeros(1, np.uint8), prefixes=np.zeros(1, np.int64), values=np.ones(1),
    standard_errors=np.ones(1),
)  # fmt: skip


class Crash(BaseException):
    """The process is gone: nothing after this line runs."""


class Faults:
    """Clock, crashes and draws of the product, in the hands of a sequence."""

    def __init__(self, *, has_roles=False):
        self.has_roles = has_roles  # of the database: else all acts are its owner's
        self.offset, self.crash_at, self.draw, self.draws = timedelta(), None, "fine", Counter()
        self.renewed = None  # when the last draw renewed its lease
        append, finish = events.append, draws.finish

        def append_or_crash(ledger, kind, **facts):
            append(ledger, kind, **facts)
            if kind == self.crash_at:
                raise Crash

        def finish_or_crash(*drawn):
            if self.crash_at == "finish":
                raise Crash
            finish(*drawn)

        events.append, draws.finish = append_or_crash, finish_or_crash
        queue._send = lambda _task, _ids: None
        timezone.now = self.now
        events.time = SimpleNamespace(
            time_ns=lambda: time.time_ns() + int(self.offset.total_seconds()) * 10**9
        )
        lifecycle._draw = self.drawn

    @contextlib.contextmanager
    def acting(self, role):
        """Gives this process's connection the rights of a role, and the owner's again."""
        if not self.has_roles:
            yield
            return
        with connection.cursor() as cursor:
            cursor.execute(f"SET SESSION AUTHORIZATION {role}")
        try:
            yield
        finally:
            with connection.cursor() as cursor:
                cursor.execute("RESET SESSION AUTHORIZATION")

    def now(self):
        return datetime.now(UTC) + self.offset

    def drawn(self, release, *_arguments):
        self.draws[release.pk] += 1
        if self.draw == "crash":
            raise Crash
        if self.draw == "error":
            raise ZeroDivisionError
        if self.draw == "declared dead":
            self.offset += timedelta(seconds=settings.LEASE_SECONDS + 60)
            sweep.sweep()
        if self.draw == "renewed":
            self._outlast(release)
        return MAP

    def _outlast(self, release):
        """The draw ends after its first lease would have, and before its second does."""
        part = timedelta(seconds=settings.LEASE_SECONDS * 2 // 3)
        self.offset += part
        self.renewed = self.now()
        assert draws.renew(release.pk)
        self.offset += part
        sweep.sweep()
