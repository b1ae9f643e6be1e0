"""A worker as operators start it, on a Redis with the users of the compose file and one that may do all."""

import os
import signal
import uuid

import psutil
import pytest
import redis as client
from kombu import Connection
from kombu.pidbox import Mailbox

from tests.broker import odd
from tests.services import compose
from tests.services.programs import Redis, found_or_skip, wait_until

pytestmark = [pytest.mark.redis, pytest.mark.long]

BEAT = "hazemap-heartbeat:draws"
SILENCE_SECONDS = 3.0  # of tests.services.impatient
BUSY_SECONDS = 60
COMMAND = ("-m", "celery", "-A", "heatmaps.config", "worker", "-Q", "draws", "--hostname", "draws@here")
OPTIONS = ("--concurrency", "1", "--loglevel", "WARNING")


@pytest.fixture(scope="module")
def server():
    found_or_skip(Redis)
    anybody = "user tester on >tester-word ~* &* +@all\n"
    with Redis.started(settings=compose.redis_users() + anybody) as server:
        yield server


@pytest.fixture(scope="module")
def redis(server):
    with client.Redis.from_url(server.as_user("tester")) as connection:
        yield connection


@pytest.fixture(scope="module")
def worker(world, server, redis, tmp_path_factory):
    """It takes from the queue `draws` as the user `draws`."""
    facts = {"broker_url": server.as_user("draws"), "settings": "tests.services.impatient"}
    made = world.installation(tmp_path_factory.mktemp("worker"), **facts)
    made.others["HAZEMAP_HEARTBEAT_FILE"] = str(made.folder / "heartbeat")
    with made.running(*COMMAND, *OPTIONS) as process:
        wait_until(lambda: redis.exists(BEAT), seconds=BUSY_SECONDS, what="the first beat")
        yield made, process


def send_a_task(redis):
    """The id of a release that is not there, which the worker says."""
    release = str(uuid.uuid4())
    redis.lpush("draws", odd.message(ids=(release,)))
    return release


def wait_for_a_task(redis, made):
    release = send_a_task(redis)
    wait_until(
        lambda: f"release.not_waiting [heatmaps.releases.lifecycle] release={release}" in made.output(),
        seconds=BUSY_SECONDS,
        what="the next task",
    )


def test_what_is_no_task_is_dropped_and_the_next_task_is_done(worker, redis):
    made, process = worker
    children = {child.pid for child in psutil.Process(process.pid).children()}
    before = made.output().count("message.dropped")
    for entry in odd.ENTRIES:
        redis.lpush("draws", entry)
    wait_for_a_task(redis, made)
    assert made.output().count("message.dropped") - before == len(odd.ENTRIES)
    assert odd.MARKER not in made.output()
    assert "Traceback" not in made.output()
    assert {child.pid for child in psutil.Process(process.pid).children()} == children


def test_lists_of_what_workers_have_are_not_read(worker, redis):
    """Those that Celery keeps elsewhere, of messages that were taken."""
    made, process = worker
    redis.hset("unacked", mapping={"a": "not json", "b": "[]", "c": odd.message()})
    redis.zadd("unacked_index", {"a": 1, "b": 1, "c": 1, "gone": 1})
    redis.sadd("_kombu.binding.celery", "draws\x06\x16\x06\x16other")
    wait_for_a_task(redis, made)
    assert (redis.hlen("unacked"), redis.zcard("unacked_index")) == (3, 4)
    redis.delete("unacked", "unacked_index", "_kombu.binding.celery")
    assert process.poll() is None


ORDERS = {
    "rate_limit": {"task_name": "heatmaps.release", "rate_limit": "1/h"},
    "time_limit": {"task_name": "heatmaps.release", "hard": 0.001},
    "pool_shrink": {"n": 1},
    "cancel_consumer": {"queue": "draws"},
    "shutdown": {},
    "ping": {},
}


def test_nobody_orders_a_worker_about(worker, server, redis):
    """Not even who may do everything in Redis, by Celery's remote control."""
    made, process = worker
    with Connection(server.as_user("tester")) as connection:
        mailbox = Mailbox("celery", type="fanout", accept=["json"])(connection)
        for order, arguments in ORDERS.items():
            is_last = order == "ping"
            assert not mailbox._broadcast(order, arguments, reply=is_last, timeout=0.5)
    wait_for_a_task(redis, made)
    assert process.poll() is None
    wait_until(lambda: redis.exists(BEAT), seconds=BUSY_SECONDS, what="a beat")


def test_a_busy_worker_beats_and_one_that_hangs_does_not(worker, redis):
    made, process = worker
    file = made.folder / "heartbeat"
    (child,) = psutil.Process(process.pid).children()
    child.suspend()  # as in a draw of minutes
    sent = [send_a_task(redis) for _ in range(4)]
    try:
        wait_until(lambda: 0 < redis.llen("draws") < 4, seconds=BUSY_SECONDS, what="as many as it may have")
        beaten = file.stat().st_mtime
        wait_until(
            lambda: file.stat().st_mtime > beaten + SILENCE_SECONDS,
            seconds=BUSY_SECONDS,
            what="beats while nothing more is taken",
        )
        # A beat ends sooner than a machine under load may turn to the next.
        wait_until(lambda: redis.exists(BEAT), seconds=BUSY_SECONDS, what="a beat of a busy worker")
        assert redis.llen("draws") > 0
    finally:
        child.resume()
    wait_until(lambda: all(x in made.output() for x in sent), seconds=BUSY_SECONDS, what="what waited")
    os.killpg(process.pid, signal.SIGSTOP)
    try:
        wait_until(lambda: not redis.exists(BEAT), seconds=BUSY_SECONDS, what="the end of beats")
    finally:
        os.killpg(process.pid, signal.SIGCONT)
    wait_until(lambda: redis.exists(BEAT), seconds=BUSY_SECONDS, what="a beat")
    wait_for_a_task(redis, made)


def test_what_it_has_is_put_back_when_it_stops(worker, redis):
    """The last one here: the worker ends."""
    made, process = worker
    (child,) = psutil.Process(process.pid).children()
    child.suspend()
    sent = [send_a_task(redis) for _ in range(4)]
    wait_until(lambda: redis.llen("draws") < 4, seconds=BUSY_SECONDS, what="as many as it may have")
    left = redis.llen("draws")
    process.send_signal(signal.SIGTERM)
    child.resume()
    assert process.wait(timeout=BUSY_SECONDS) == 0
    done = [release for release in sent if release in made.output()]
    assert redis.llen("draws") + len(done) == len(sent), (left, done)
