"""Keeps expiring counts: in this process by the package `limits`, and in a Redis that processes share.

A table of this process that is full forgets nothing before its time: what it does not know yet it refuses to
count until there is room again. So nobody ends another's count, or fills the memory, by asking under many
names.
"""

import sys
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from time import time
from typing import Final, cast

from django.conf import settings
from limits.storage import MemoryStorage
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

MOST_COUNTS: Final = 50_000  # of one table of a process
UNCOUNTED: Final = sys.maxsize  # times of what a full table does not know: more than any limit
_PREFIX: Final = "hazemap-counts"
_FULL: Final = "full"  # no key of ours, which are digests


@dataclass(frozen=True, slots=True)
class Count:
    """Says how often something was counted, and in how many seconds its count ends."""

    times: int
    seconds_left: int


@dataclass(slots=True, kw_only=True)
class OwnCounters:
    """Counts in the memory of this process."""

    most: int = MOST_COUNTS
    _tables: dict[str, MemoryStorage] = field(default_factory=lambda: defaultdict(MemoryStorage))

    def count(self, table: str, key: str, seconds: int) -> Count:
        """Counts once more; the first time begins a count that ends `seconds` later."""
        storage = self._tables[table]
        if not storage.get(key) and len(storage.storage) >= self.most:
            storage.incr(_FULL, 1)  # only a count makes the storage drop what ended
            return Count(UNCOUNTED, seconds)
        times = storage.incr(key, seconds)
        return Count(times, _seconds_left(storage.get_expiry(key)))

    def look(self, table: str, key: str) -> Count:
        """Returns the count as it is."""
        storage = self._tables[table]
        return Count(storage.get(key), _seconds_left(storage.get_expiry(key)))

    def forget(self, table: str, key: str) -> None:
        """Ends a count before its time."""
        self._tables[table].clear(key)

    def clear(self) -> None:
        """Forgets everything: for tests, whose minutes are one."""
        self._tables.clear()


class SharedCounters:
    """Counts of all processes together, in Redis. Errors of all methods: RedisError.

    No script runs there: who may run one could hold everybody up.
    """

    def __init__(self, url: str) -> None:
        # An answer that does not come at once is none: the process counts by itself meanwhile.
        self._redis = Redis.from_url(
            url, socket_connect_timeout=1, socket_timeout=1, retry=Retry(NoBackoff(), 0)
        )

    def count(self, table: str, key: str, seconds: int) -> Count:
        """Counts once more; the first time begins a count that ends `seconds` later."""
        name = _shared_name(table, key)
        with self._redis.pipeline() as pipe:
            pipe.set(name, 0, ex=seconds, nx=True)
            pipe.incr(name)
            pipe.ttl(name)
            _, times, left = pipe.execute()
        return Count(int(times), max(1, int(left)))

    def look(self, table: str, key: str) -> Count:
        """Returns the count as it is."""
        name = _shared_name(table, key)
        with self._redis.pipeline() as pipe:
            pipe.get(name)
            pipe.ttl(name)
            times, left = pipe.execute()
        return Count(int(times or 0), max(1, int(left)))

    def forget(self, table: str, key: str) -> None:
        """Ends a count before its time."""
        self._redis.delete(_shared_name(table, key))


@cache
def own() -> OwnCounters:
    """Returns this process's counts: all there are without Redis, and a stand-in while Redis is away."""
    return OwnCounters()


@cache
def shared() -> SharedCounters | None:
    """Returns the counts of all processes; None where they share no Redis."""
    url = str(settings.CELERY_BROKER_URL)
    return SharedCounters(url) if url.startswith(("redis:", "rediss:")) else None


def eviction_problem() -> str:
    """Says in a line why the shared Redis may lose counts; "" where it keeps them or does not answer."""
    if shared() is None:
        return ""
    try:
        with Redis.from_url(settings.CELERY_BROKER_URL, socket_connect_timeout=1, socket_timeout=1) as redis:
            memory = cast("dict[str, object]", redis.info("memory"))
    except RedisError:
        return ""  # this process counts by itself until Redis is back
    policy = str(memory.get("maxmemory_policy", "noeviction"))
    if policy == "noeviction" or not memory.get("maxmemory"):
        return ""
    return f"Redis drops counts and tasks when its memory is full (maxmemory-policy {policy}); set noeviction"


def _seconds_left(end: float) -> int:
    return max(1, ceil(end - time()))


def _shared_name(table: str, key: str) -> str:
    return f"{_PREFIX}:{table}:{key}"
