"""Counts that nobody ends by flooding: in this process, and in a Redis that all processes share."""

import time

import pytest
from redis.exceptions import RedisError

from heatmaps.http import counters
from heatmaps.http.counters import UNCOUNTED, OwnCounters, SharedCounters

TABLE, OTHER, SECONDS = "sign_in_name", "public_address", 60


@pytest.fixture(params=["own", pytest.param("shared", marks=pytest.mark.redis)])
def made(request):
    """A table of either kind with room for `most` counts."""
    if request.param == "own":
        return OwnCounters
    url = request.getfixturevalue("redis").url
    return lambda *, most: SharedCounters(url, most=most)


def test_a_full_table_forgets_nobody_and_takes_nobody(made):
    table = made(most=20)
    for number in range(20):
        assert table.count(TABLE, f"known{number}", SECONDS).times == 1

    flood = [table.count(TABLE, f"stranger{number}", SECONDS) for number in range(200)]

    assert {count.times for count in flood} == {UNCOUNTED}
    assert all(0 < count.seconds_left <= SECONDS for count in flood)
    assert [table.count(TABLE, f"known{number}", SECONDS).times for number in range(20)] == [2] * 20
    assert table.count(OTHER, "stranger0", SECONDS).times == 1  # one table does not fill another


def test_there_is_room_again_when_counts_end(made):
    """Ended counts go, others stay; a count that ended begins again at one."""
    table, seconds = made(most=2), 3
    first = table.count(TABLE, "a", seconds)
    table.forget(TABLE, "a")
    assert table.count(TABLE, "a", seconds).times == first.times == 1
    assert table.count(TABLE, "b", seconds).times == 1
    assert table.count(TABLE, "b", seconds).times == 2
    assert table.count(TABLE, "c", seconds).times == UNCOUNTED

    while table.count(TABLE, "c", seconds).times == UNCOUNTED:
        time.sleep(0.02)

    assert table.count(TABLE, "c", seconds).times == 2
    assert table.count(TABLE, "b", seconds).times in {1, 3}  # 3: it began a moment after the first


def test_a_redis_that_is_full_is_one_that_does_not_answer(redis):
    """Then this process counts by itself; what is in Redis stays."""
    table, client = SharedCounters(redis.url), redis.client()
    client.config_set("maxmemory-policy", "noeviction")
    assert table.count(TABLE, "known", SECONDS).times == 1
    client.config_set("maxmemory", "1mb")

    with pytest.raises(RedisError):
        table.count(TABLE, "stranger", SECONDS)

    client.config_set("maxmemory", "0")
    assert table.count(TABLE, "known", SECONDS).times == 2


def test_it_names_a_policy_that_drops_counts(redis, settings, monkeypatch):
    settings.CELERY_BROKER_URL = redis.url
    counters.shared.cache_clear()
    client = redis.client()
    told = {}
    try:
        for policy, memory in (("allkeys-lru", "0"), ("noeviction", "10mb"), ("volatile-ttl", "10mb")):
            client.config_set("maxmemory-policy", policy)
            client.config_set("maxmemory", memory)
            told[policy] = counters.eviction_problem()
    finally:
        counters.shared.cache_clear()

    assert told["allkeys-lru"] == told["noeviction"] == ""  # without a limit nothing is dropped
    assert "maxmemory-policy volatile-ttl" in told["volatile-ttl"]
