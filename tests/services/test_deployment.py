"""The same code with PostgreSQL, Redis, a Celery worker, beat and a web process of their own."""

import base64
import json

import pytest

from tests.services.http import get, health
from tests.services.programs import Redis, free_port, wait_until

pytestmark = [pytest.mark.postgres, pytest.mark.redis]

QUEUE = "draws"
CELERY = ("-m", "celery", "-A", "heatmaps.config")


@pytest.fixture
def deployment(world, redis, tmp_path):
    facts = {"broker_url": redis.url, "settings": "tests.services.quick"}
    return world.installation(tmp_path, "postgresql", **facts)


def web(deployment, port):
    return deployment.running(
        "-m", "waitress", f"--listen=127.0.0.1:{port}", "heatmaps.config.wsgi:application"
    )


def worker(deployment):
    return deployment.running(*CELERY, "worker", "--concurrency", "2", "--loglevel", "WARNING")


def clock(deployment):
    return deployment.running("manage.py", "clock")


def published(deployment, release):
    return deployment.value(f"SELECT state FROM heatmaps_release WHERE id = '{release}'") == "published"


def test_a_release_goes_from_request_to_published(deployment, redis):
    port, broker = free_port(), redis.client()
    with web(deployment, port):
        wait_until(lambda: health(port)[0] == 503, seconds=60, what="the web process's answer")
        nobody = "the clock does not run; no worker draws releases; no worker reads files"
        assert health(port) == (503, nobody)
        release, session = deployment.script("web", "begin")
        assert not broker.llen(QUEUE)  # no worker is told before its moment
        with clock(deployment):
            wait_until(lambda: broker.llen(QUEUE), seconds=60, what="the release's moment")
        message = broker.lindex(QUEUE, 0)
        check_message(message, release)
        with worker(deployment), clock(deployment):
            wait_until(lambda: health(port) == (200, ""), seconds=60, what="every part's answer")
            page = f"/releases/{release}/state/"
            wait_until(
                lambda: "published" in get(port, page, session=session)[1], seconds=60, what="publishing"
            )
            broker.rpush(QUEUE, message)  # delivered once more
            wait_until(lambda: not broker.llen(QUEUE), seconds=60, what="the second delivery")
    told = deployment.script("web", "state", release)
    assert told == {"state": "published", "spent": 1, "problem": ""}
    assert "Traceback" not in deployment.output()


def check_message(message, release):
    """Names and ids, nothing that a dataset or a question says about itself."""
    told = json.loads(message)
    arguments, keywords, _ = json.loads(base64.b64decode(told["body"]))
    assert (arguments, keywords) == ([release], {})
    assert told["headers"]["task"] == "heatmaps.release"
    assert told["headers"]["argsrepr"] == f"('{release}',)"
    text = message.decode() + base64.b64decode(told["body"]).decode()
    for secret in ("sparse", "hidden-city", "steward-of-the-city", "0.5", "1/2"):
        assert secret not in text


@pytest.mark.long
def test_the_sweep_sends_again_what_redis_lost(deployment, redis):
    release = deployment.script("web", "ask")
    redis.client().flushall()
    with worker(deployment), clock(deployment):
        wait_until(lambda: published(deployment, release), seconds=60, what="publishing after the loss")


def test_a_request_is_taken_while_redis_is_away(deployment):
    deployment.broker_url = f"redis://127.0.0.1:{free_port()}/0"
    release = deployment.script("web", "ask")
    told = deployment.script("web", "state", release)
    assert (told["state"], told["problem"]) == ("reserved", "")


@pytest.mark.long
def test_the_workers_come_back_after_redis_does(deployment, tmp_path):
    port = free_port()
    deployment.broker_url = f"redis://127.0.0.1:{port}/0"
    with worker(deployment), clock(deployment):
        for epsilon in ("0.5", "0.6"):
            release = deployment.script("web", "ask", epsilon)
            with Redis.started(port):
                wait_until(
                    lambda release=release: published(deployment, release), seconds=90, what="publishing"
                )


def test_a_missing_program_is_said_or_fails(monkeypatch):
    class Absent:
        missing = staticmethod(lambda: "it is not installed")

    from tests.services.programs import found_or_skip

    monkeypatch.delenv("REQUIRE_SERVICES", raising=False)
    with pytest.raises(pytest.skip.Exception, match="it is not installed"):
        found_or_skip(Absent)
    monkeypatch.setenv("REQUIRE_SERVICES", "1")
    with pytest.raises(pytest.fail.Exception, match="it is not installed"):
        found_or_skip(Absent)
