"""Keeps expiring counters in tables of bounded size, where nobody evicts another's count.

A table that is full forgets nothing before its time: what it does not know yet it refuses to count, and says
when there is room again. Caches do the opposite (Django's in-memory one drops a third of its entries at 300,
Redis with an evicting policy whatever it likes): there, asking under many names ends the count of one's own.
"""

import sys
import time
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from threading import Lock
from typing import Final, cast

from django.conf import settings
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

MOST_COUNTS: Final = 50_000  # of one table: 10 MB here, 15 MB in Redis
UNCOUNTED: Final = sys.maxsize  # times of what a full table does not know: more than any limit
_PREFIX: Final = "hazemap-counts"


@dataclass(frozen=True, slots=True)
class Count:
    """How often something was counted, and in how many seconds its count ends."""

    times: int
    seconds_left: int


@dataclass(slots=True, kw_only=True)
class OwnCounters:
    """Counts in the memory of this process."""

    most: int = MOST_COUNTS
    _tables: dict[str, dict[str, tuple[int, float]]] = field(default_factory=dict)  # key -> times, end
    _lock: Lock = field(default_factory=Lock)

    def count(self, table: str, key: str, seconds: int) -> Count:
        """Count once more; the first time begins a count that ends `seconds` later, as all of its table."""
        now = time.monotonic()
        with self._lock:
            counts = self._tables.setdefault(table, {})
            # All last equally long, so they end in the order in which they began.
            while counts and _first_end(counts) <= now:
                del counts[next(iter(counts))]
            times, end = counts.get(key, (0, now + seconds))
            if not times and len(counts) >= self.most:
                return Count(UNCOUNTED, ceil(_first_end(counts) - now))
            counts[key] = times + 1, end
        return Count(times + 1, ceil(end - now))

    def forget(self, table: str, key: str) -> None:
        """End a count before its time."""
        with self._lock:
            self._tables.get(table, {}).pop(key, None)

    def clear(self) -> None:
        """Forget everything: for tests, whose minutes are one."""
        with self._lock:
            self._tables.clear()


def _first_end(counts: dict[str, tuple[int, float]]) -> float:
    return next(iter(counts.values()))[1]


# One step, whoever else counts. At most 1,000 ended counts are dropped at a time: nobody waits for more.
_COUNT: Final = """
local ends, times, key = KEYS[1], KEYS[2], ARGV[1]
local seconds, most = tonumber(ARGV[2]), tonumber(ARGV[3])
local clock = redis.call('TIME')
local now = tonumber(clock[1]) + tonumber(clock[2]) / 1000000
local ended = redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, 1000)
local stop = tonumber(redis.call('ZSCORE', ends, key) or 0)
if stop > 0 and stop <= now then table.insert(ended, key) end
if #ended > 0 then
  redis.call('ZREM', ends, unpack(ended))
  redis.call('HDEL', times, unpack(ended))
end
if stop <= now then
  if redis.call('ZCARD', ends) >= most then
    local first = redis.call('ZRANGE', ends, 0, 0, 'WITHSCORES')
    return {-1, math.max(1, math.ceil(tonumber(first[2]) - now))}
  end
  stop = now + seconds
  redis.call('ZADD', ends, stop, key)
  redis.call('EXPIRE', ends, seconds)
end
local counted = redis.call('HINCRBY', times, key, 1)
redis.call('EXPIRE', times, redis.call('TTL', ends))
return {counted, math.ceil(stop - now)}
"""


class SharedCounters:
    """Counts of all processes together, in Redis. Errors of both methods: RedisError."""

    def __init__(self, url: str, *, most: int = MOST_COUNTS) -> None:
        # An answer that does not come at once is none: the process counts by itself meanwhile.
        self._redis = Redis.from_url(
            url, socket_connect_timeout=1, socket_timeout=1, retry=Retry(NoBackoff(), 0)
        )
        self._most = most
        self._script = self._redis.register_script(_COUNT)

    def count(self, table: str, key: str, seconds: int) -> Count:
        told = cast("list[int]", self._script(keys=self._names(table), args=[key, seconds, self._most]))
        return Count(UNCOUNTED if told[0] < 0 else told[0], told[1])

    def forget(self, table: str, key: str) -> None:
        ends, times = self._names(table)
        with self._redis.pipeline() as both:
            both.zrem(ends, key)
            both.hdel(times, key)
            both.execute()

    def evicting_policy(self) -> str:
        """The policy by which this Redis drops what is still needed when its memory is full; "" for none."""
        memory = self._redis.info("memory")
        policy = str(memory.get("maxmemory_policy", "noeviction"))
        return "" if policy == "noeviction" or not memory.get("maxmemory") else policy

    @staticmethod
    def _names(table: str) -> list[str]:
        return [f"{_PREFIX}:{table}:{what}" for what in ("ends", "times")]


@cache
def own() -> OwnCounters:
    """The counts of this process: all there are without Redis, and a stand-in while Redis is away."""
    return OwnCounters()


@cache
def shared() -> SharedCounters | None:
    """The counts of all processes; None where they share no Redis."""
    url = str(settings.CELERY_BROKER_URL)
    return SharedCounters(url) if url.startswith(("redis:", "rediss:")) else None


def eviction_problem() -> str:
    """Why the shared Redis may lose counts, in a line; "" where it keeps them or does not answer."""
    counters = shared()
    try:
        policy = "" if counters is None else counters.evicting_policy()
    except RedisError:
        return ""  # this process counts by itself until Redis is back
    if not policy:
        return ""
    return f"Redis drops counts and tasks when its memory is full (maxmemory-policy {policy}); set noeviction"
