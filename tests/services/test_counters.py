"""Counts that nobody ends by flooding: in this process, and in a Redis that all processes share."""

import time

import pytest
from redis.exceptions import RedisError

from heatmaps.http import counters
from heatmaps.http.counters import UNCOUNTED, Count, OwnCounters, SharedCounters

TABLE, OTHER, SECONDS = "sign_in_name", "public_address", 60


def test_a_full_table_forgets_nobody_and_takes_nobody():
    table = OwnCounters(most=20)
    for number in range(20):
        assert table.count(TABLE, f"known{number}", SECONDS).times == 1

    flood = [table.count(TABLE, f"stranger{number}", SECONDS) for number in range(200)]

    assert {count.times for count in flood} == {UNCOUNTED}
    assert [table.count(TABLE, f"known{number}", SECONDS).times for number in range(20)] == [2] * 20
    assert table.count(OTHER, "stranger0", SECONDS).times == 1  # one table does not fill another


def test_there_is_room_again_when_counts_end():
    table = OwnCounters(most=1)
    assert table.count(TABLE, "a", 1).times == 1
    assert table.count(TABLE, "b", 1).times == UNCOUNTED

    while table.count(TABLE, "b", 1).times == UNCOUNTED:
        time.sleep(0.02)

    table.forget(TABLE, "b")
    assert table.count(TABLE, "a", 1) == Count(1, 1)


def test_looking_counts_nothing():
    looks_at_counts(OwnCounters())


@pytest.mark.redis
def test_looking_at_shared_counts_counts_nothing(redis):
    looks_at_counts(SharedCounters(redis.url))


def looks_at_counts(table):
    assert table.look(TABLE, "a").times == 0
    assert table.count(TABLE, "a", SECONDS).times == 1
    assert [table.look(TABLE, "a").times for _ in range(2)] == [1, 1]
    assert 0 < table.look(TABLE, "a").seconds_left <= SECONDS
    assert table.count(TABLE, "a", SECONDS).times == 2


@pytest.mark.redis
def test_shared_counts_end_by_themselves_and_are_forgotten(redis):
    table = SharedCounters(redis.url)
    assert [table.count(TABLE, "a", SECONDS).times for _ in range(3)] == [1, 2, 3]
    looks = (SharedCounters(redis.url).look(TABLE, "a").times, table.look(TABLE, "b").times)
    assert looks == (3, 0)
    assert 0 < SharedCounters(redis.url).count(TABLE, "a", SECONDS).seconds_left <= SECONDS
    table.forget(TABLE, "a")
    assert table.count(TABLE, "a", SECONDS).times == 1


@pytest.mark.redis
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


@pytest.mark.redis
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
