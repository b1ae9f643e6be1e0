"""Puts together what Celery's worker consists of here: taking tasks, and saying that it does.

Its remote control, events and gossip are left out: by them whoever reaches Redis could tell workers to take
nothing more, or to end.
"""

from contextlib import suppress
from os import environ
from pathlib import Path
from typing import Any, Final

from celery import bootsteps
from celery.worker import consumer as celery
from celery.worker.consumer.consumer import Evloop
from django.conf import settings
from redis.exceptions import RedisError

from heatmaps.broker import heartbeats

BEAT_SECONDS: Final = settings.SILENCE_SECONDS / 4
_START_SECONDS: Final = 0.5  # until the first beat


class Tasks(celery.Tasks):  # type: ignore[misc]  # Celery carries no types
    """Replaces Celery's own, which would bring events and gossip with it."""

    requires = (celery.Connection,)


class Heartbeat(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery carries no types
    """Says now and then, from the very loop that takes tasks, that it does.

    `HAZEMAP_HEARTBEAT_FILE` names a file that is touched then, for whoever watches this process alone.
    """

    requires = (Tasks,)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._entries: list[Any] = []

    def start(self, parent: Any) -> None:
        self._entries = [
            parent.timer.call_after(_START_SECONDS, self._beat, (parent,)),
            parent.timer.call_repeatedly(BEAT_SECONDS, self._beat, (parent,)),
        ]

    def stop(self, _parent: Any) -> None:
        while self._entries:
            self._entries.pop().cancel()

    @staticmethod
    def _beat(parent: Any) -> None:
        channel = parent.task_consumer.channel
        names = [queue.name for queue in parent.task_consumer.queues if channel.is_taking(queue.name)]
        # A Redis that does not answer makes no difference: whoever takes tasks notices, and connects again.
        with suppress(RedisError, OSError), channel.conn_or_acquire() as client:
            for name in names:
                heartbeats.beat(client, name)
            if names and (file := environ.get("HAZEMAP_HEARTBEAT_FILE")):
                Path(file).touch()


class Consumer(celery.Consumer):  # type: ignore[misc]  # Celery carries no types
    """Starts connection, tasks, heartbeat and loop."""

    event_dispatcher = None

    class Blueprint(celery.Consumer.Blueprint):  # type: ignore[misc]  # as above
        default_steps = (celery.Connection, Tasks, Heartbeat, Evloop)
