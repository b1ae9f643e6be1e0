"""Tells which queues have a worker that takes from them: each worker says so in Redis, by its queue's name.

A worker whose processes are all busy still says so; one that takes nothing more, or hangs, does not.
"""

from collections.abc import Iterable
from functools import cache
from typing import Final, cast

from django.conf import settings
from redis import Redis

_KEY: Final = "hazemap-heartbeat:%s"
_MILLISECONDS: Final = 1000


def beat(client: "Redis", queue_name: str) -> None:
    """Records that a worker takes from a queue now; forgotten by itself. Errors: RedisError."""
    client.set(_KEY % queue_name, 1, px=round(settings.SILENCE_SECONDS * _MILLISECONDS))


def ages(queue_names: Iterable[str]) -> dict[str, float]:
    """Returns the seconds since the last beat of each queue that had one lately. Errors: RedisError."""
    names = list(queue_names)
    with _client().pipeline(transaction=False) as pipe:
        for name in names:
            pipe.pttl(_KEY % name)
        left = cast("list[int]", pipe.execute())
    return {
        name: max(0.0, settings.SILENCE_SECONDS - milliseconds / _MILLISECONDS)
        for name, milliseconds in zip(names, left, strict=True)
        if milliseconds > 0
    }


@cache
def _client() -> "Redis":
    return Redis.from_url(settings.CELERY_BROKER_URL, socket_connect_timeout=1, socket_timeout=1)
