"""Checks now and then which parts of the product work, so that no answer waits for a busy worker."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from threading import Event
from typing import Final

import structlog
from django.conf import settings
from django.db import DatabaseError, connection

from heatmaps import schema
from heatmaps.broker import heartbeats
from heatmaps.models import Dataset, Release, ReleaseState
from heatmaps.origins import where
from heatmaps.record import hold
from heatmaps.releases.heartbeat import DatabaseHeartbeat

PATH: Final = "/healthz"
WATCH_SECONDS: Final = 1.0
FRESH_SECONDS = 5.0  # how long a look counts in a process that does not look by itself

_log = structlog.stdlib.get_logger(__name__)


class HealthPart(StrEnum):
    """Names what an installation consists of, beside the process that answers."""

    DATABASE = "database"
    BROKER = "broker"
    CLOCK = "clock"
    DRAWS = "draws"
    FILES = "files"
    LAKES = "lakes"
    SURVEYS = "surveys"


# True where a part works, None where nobody can say, as what is asked about it is missing.
States = Mapping[HealthPart, bool | None]
_QUEUES: Final = {
    "draws": HealthPart.DRAWS,
    "celery": HealthPart.FILES,
    "lakes": HealthPart.LAKES,
    "surveys": HealthPart.SURVEYS,
}
_PROBLEMS: Final = {
    HealthPart.DATABASE: "the database does not answer",
    HealthPart.BROKER: "the broker does not answer",
    HealthPart.CLOCK: "the clock does not run",
    HealthPart.DRAWS: "no worker draws releases",
    HealthPart.FILES: "no worker reads files",
    HealthPart.LAKES: "no worker draws from lakes",
    HealthPart.SURVEYS: "no worker looks at lakes for new versions",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """Keeps the states at a moment of `time.monotonic`."""

    at: float
    states: States
    reason: str = ""  # why it is not ready, even where all parts work

    @property
    def missing(self) -> list[HealthPart]:
        return [part for part, works in self.states.items() if works is False]

    @property
    def problem(self) -> str:
        """Words the problem; "" for nothing."""
        return "; ".join(filter(None, [*map(_PROBLEMS.__getitem__, self.missing), self.reason]))


def separate_processes() -> States:
    """Asks a deployment: the clock by its heartbeat in the database, workers by theirs in the broker."""
    clock = None
    with _asking(HealthPart.DATABASE), suppress(DatabaseError):
        clock = DatabaseHeartbeat().is_beating()
    try:
        with _asking(HealthPart.BROKER):
            ages = heartbeats.ages(_QUEUES)
    except Exception:  # noqa: BLE001 - Redis, the network, kombu: each has errors of its own
        return {HealthPart.BROKER: False, HealthPart.CLOCK: clock, **dict.fromkeys(workers())}
    now = time.monotonic()
    for queue_name, age in ages.items():
        _memory.beaten_at[_QUEUES[queue_name]] = now - age
    recent = {
        part: now - _memory.beaten_at.get(part, -math.inf) < settings.SILENCE_SECONDS for part in workers()
    }
    return {HealthPart.BROKER: True, HealthPart.CLOCK: clock, **recent}


@dataclass(slots=True)
class _Memory:
    """Keeps the last look of this process, and which part has not answered yet, since when."""

    processes: Callable[[], States] = separate_processes
    last: HealthCheck | None = None
    pending: tuple[HealthPart, float] | None = None
    beaten_at: dict[HealthPart, float] = field(default_factory=dict)
    is_watched: bool = False


_memory = _Memory()


def embed(processes: Callable[[], States]) -> None:
    """Takes the states of clock and workers from this process, which contains them."""
    _memory.processes = processes


def workers() -> list[HealthPart]:
    """Returns the parts that are workers, as far as this installation needs them."""
    lakes = [] if settings.SOURCES_FILE is None else [HealthPart.LAKES, HealthPart.SURVEYS]
    return [HealthPart.DRAWS, HealthPart.FILES, *lakes]


def latest() -> HealthCheck:
    """Returns the look of a moment ago; in a process that runs `watch`, at once."""
    now, pending, last = time.monotonic(), _memory.pending, _memory.last
    if pending is not None and now - pending[1] > settings.SILENCE_SECONDS:
        unknown: States = dict.fromkeys(() if last is None else last.states)
        return HealthCheck(at=now, states={**unknown, pending[0]: False})
    if last is not None and (_memory.is_watched or now - last.at < FRESH_SECONDS):
        return last
    return look()


def look() -> HealthCheck:
    """Asks every part now."""
    reason, works = "", True
    try:
        with _asking(HealthPart.DATABASE):
            reason = _reason()
    except DatabaseError:
        works = False
    states = {HealthPart.DATABASE: works, **_memory.processes()}
    _memory.last = HealthCheck(at=time.monotonic(), states=states, reason=reason)
    return _memory.last


def watch(stopping: Event) -> None:
    """Looks every second, so that nobody who asks has to wait for it."""
    _memory.is_watched = True
    while not stopping.wait(WATCH_SECONDS):
        try:
            look()
            with _asking(HealthPart.DATABASE):
                connection.close_if_unusable_or_obsolete()
        except Exception as error:  # noqa: BLE001 - without looks every request would take its own
            _log.error("health.not_seen", cause=type(error))


@contextmanager
def _asking(part: HealthPart) -> Iterator[None]:
    _memory.pending = (part, time.monotonic())
    try:
        yield
    finally:
        _memory.pending = None


def _reason() -> str:
    """Says why the product is not ready. Errors: DatabaseError."""
    try:
        _check_migrations()
    except _NotMigratedError:
        return "the database is not migrated"
    if (cause := hold.cause()) is not None:
        return f"on hold: {cause.label}"
    if not Dataset.objects.filter(where("is_asked"), is_demo=True).exists():
        return ""
    published = Release.objects.filter(dataset__is_demo=True, state=ReleaseState.PUBLISHED)
    return "" if published.exists() else "the demo's first release is not published yet"


class _NotMigratedError(Exception):
    pass


@cache  # remembers success only
def _check_migrations() -> None:
    if schema.is_behind(connection):
        raise _NotMigratedError
