"""Attempts are counted for all web processes together, in a Redis that holds counts and nothing else."""

import json
import re
from http.client import HTTPConnection
from urllib.parse import urlencode

import pytest

from tests.services.installation import Installation
from tests.services.programs import free_port, wait_until

pytestmark = [pytest.mark.redis]

NAME, PASSWORD = "marker-name", "marker-password"


@pytest.fixture
def several(world, redis, tmp_path):
    """An installation whose web processes share a Redis."""
    return world.installation(tmp_path, broker_url=redis.url)


def status(port, name):
    """Of asking for a token with a wrong password; 0 while nobody listens."""
    body = json.dumps({"username": name, "password": PASSWORD, "name": "x", "scopes": ["read"]})
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", "/api/v1/tokens/", body, {"Content-Type": "application/json"})
        return connection.getresponse().status
    except ConnectionError:
        return 0
    finally:
        connection.close()


@pytest.mark.long
def test_two_web_processes_count_together(several, redis):
    ports = free_port(), free_port()
    commands = [
        ("-m", "waitress", f"--listen=127.0.0.1:{port}", "heatmaps.config.wsgi:application") for port in ports
    ]
    with several.running(*commands[0]), several.running(*commands[1]):
        for port in ports:
            wait_until(lambda port=port: status(port, "warm-up"), seconds=60, what="an answer")
        statuses = [status(ports[attempt % 2], NAME) for attempt in range(12)]
        pages = [sign_in_status(ports[attempt % 2], NAME) for attempt in range(2)]
        pages += [sign_in_status(ports[attempt % 2], "another") for attempt in range(11)]
    assert statuses == [401] * 10 + [429] * 2
    assert pages == [429] * 2 + [200] * 10 + [429]
    check_what_is_kept(redis.client())


def sign_in_status(port, name):
    """Of a wrong password at the sign-in page."""
    token = "a" * 32
    body = urlencode({"login": name, "password": PASSWORD, "csrfmiddlewaretoken": token})
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": f"csrftoken={token}"}
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", "/sign-in/", body, headers)
        return connection.getresponse().status
    finally:
        connection.close()


def check_what_is_kept(client):
    """Counts and when they end, which go by themselves; no names, no addresses, no passwords."""
    keys = list(client.scan_iter("*hazemap-counts*"))
    assert len(keys) == 8  # an address, three names from it and by themselves, and its failures
    for key in keys:
        kind = re.fullmatch(rb"hazemap-counts:sign_in_(name|account|address|failures):[0-9a-f]{32}", key)[1]
        assert 0 < client.ttl(key) <= (3600 if kind == b"failures" else 60)
        assert client.get(key).isdigit()


def test_attempts_at_the_same_moment_miss_none(several):
    """Four processes, 40 attempts: ten of them pass, whatever the order."""
    arguments = ("-m", "tests.services.guess", NAME, "10")
    waits = [json.loads(text) for text in several.at_once(*[arguments] * 4)]
    assert sum(wait == 0 for each in waits for wait in each) == 10


def test_a_process_counts_by_itself_while_redis_is_away(tmp_path):
    alone = Installation(folder=tmp_path, broker_url=f"redis://127.0.0.1:{free_port()}/0")
    result = alone.python("-m", "tests.services.guess", NAME, "12")
    waits = json.loads(result.stdout)
    assert waits[:10] == [0] * 10
    assert all(0 < wait <= 60 for wait in waits[10:])
    assert "attempts.counted_here_only" in result.stderr
    assert NAME not in result.stderr
