"""Checks now and then whether the product works, so that no answer waits for a busy worker."""

import time
from collections.abc import Callable
from functools import cache
from threading import Event
from typing import Final

from celery import current_app
from django.db import DatabaseError, connection
from kombu.exceptions import OperationalError

from heatmaps import schema
from heatmaps.models import Dataset, Release, ReleaseState
from heatmaps.record import hold

PATH: Final = "/healthz"
WORKER_SECONDS: Final = 1.0  # how long a worker may take to answer
WATCH_SECONDS: Final = 1.0
FRESH_SECONDS = 5.0  # how long a look counts
_looked: list[tuple[float, str]] = []  # the last look: when, by `time.monotonic`, and what was wrong


def problem() -> str:
    """What is wrong, as it was a moment ago; "" for nothing."""
    if _looked and time.monotonic() - _looked[0][0] < FRESH_SECONDS:
        return _looked[0][1]
    return look()


def look(worker_problem: Callable[[], str] | None = None) -> str:
    """What is wrong now."""
    found = _database_problem() or (worker_problem or ping_problem)()
    _looked[:] = [(time.monotonic(), found)]
    return found


def watch(stopping: Event, worker_problem: Callable[[], str] | None = None) -> None:
    """Look every second, so that nobody who asks has to wait for it."""
    while not stopping.wait(WATCH_SECONDS):
        look(worker_problem)
        connection.close_if_unusable_or_obsolete()


class _NotMigratedError(Exception):
    pass


def _database_problem() -> str:
    try:
        _check_migrations()
        return _hold_problem() or _demo_problem()
    except DatabaseError:
        return "the database does not answer"
    except _NotMigratedError:
        return "the database is not migrated"


@cache  # remembers success only
def _check_migrations() -> None:
    if schema.is_behind(connection):
        raise _NotMigratedError


def _hold_problem() -> str:
    cause = hold.cause()
    return "" if cause is None else f"on hold: {cause.label}"


def _demo_problem() -> str:
    if not Dataset.objects.filter(is_demo=True, is_collection=False).exists():
        return ""
    published = Release.objects.filter(dataset__is_demo=True, state=ReleaseState.PUBLISHED)
    return "" if published.exists() else "the demo's first release is not published yet"


def ping_problem() -> str:
    """What is wrong with the workers, asked by the broker."""
    try:
        answers = current_app.control.broadcast("ping", reply=True, timeout=WORKER_SECONDS, limit=1)
    except OperationalError:
        return "the broker does not answer"
    return "" if answers else "no worker answers"
