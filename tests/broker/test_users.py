"""What each user of Redis may do there: every command that Redis has, on every key of the product."""

import re

import pytest
import redis as client
from redis.exceptions import AuthenticationError, NoPermissionError

from tests.services import compose
from tests.services.installation import ROOT
from tests.services.programs import Redis, found_or_skip

pytestmark = pytest.mark.redis

QUEUES = ("celery", "draws", "lakes", "surveys")
BEATS = tuple(f"hazemap-heartbeat:{queue}" for queue in QUEUES)
COUNT = "hazemap-counts:sign_in_name:0123"
KEYS = (*QUEUES, *BEATS, COUNT, "unacked", "_kombu.binding.celery", "_kombu.binding.celery.pidbox", "other")
ANYBODY = {"auth", "hello", "quit", "reset"}  # Redis asks nobody for these


def sending(*queues):
    return {("lpush", queue) for queue in queues}


def taking(queue):
    return {("ping", None), ("brpop", queue), ("lpush", queue), ("set", f"hazemap-heartbeat:{queue}")}


WATCHING = {("ping", None), *(("pttl", beat) for beat in BEATS)}
MAY = {
    "web": WATCHING
    | sending("celery", "draws", "surveys")
    | {(name, COUNT) for name in ("get", "set", "incr", "ttl", "del")}
    | {("info", None), ("multi", None), ("exec", None)},
    "draws": taking("draws"),
    "files": taking("celery") | sending("draws", "lakes", "surveys"),
    "lakes": taking("lakes"),
    "surveys": taking("surveys"),
    "clock": {("ping", None)} | sending(*QUEUES),
    "metrics": WATCHING,
}


@pytest.fixture(scope="module")
def server():
    found_or_skip(Redis)
    tester = "user tester on >tester-word ~* &* +@all\n"
    with Redis.started(settings=compose.redis_users() + tester) as server:
        yield server


@pytest.fixture(scope="module")
def tester(server):
    with client.Redis.from_url(server.as_user("tester"), decode_responses=True) as connection:
        yield connection


def commands(tester):
    """(name, number of words, where its first key stands or 0), also of subcommands."""
    for name, about in tester.command().items():
        for sub in about["subcommands"]:
            yield sub[0], abs(sub[1]), sub[3]
        if not about["subcommands"] and name not in ANYBODY:
            yield name, abs(about["arity"]), about["first_key_pos"]


def tries(tester):
    """(command, key, words) of everything that there is."""
    for name, count, first in commands(tester):
        for key in KEYS if first else (None,):
            words = name.split("|")
            words += ["1"] * (max(count, first + 1) - len(words))
            if first:
                words[first] = key
            yield name, key, words


@pytest.mark.parametrize("user", MAY)
def test_a_user_may_do_what_its_service_does_and_nothing_else(tester, user):
    tried = list(tries(tester))
    assert len(tried) > 1000
    with tester.pipeline(transaction=False) as pipe:
        for _, _, arguments in tried:
            pipe.execute_command("ACL", "DRYRUN", user, *arguments)
        answers = pipe.execute(raise_on_error=False)
    refused = [str(answer).startswith("User ") or "no permissions" in str(answer) for answer in answers]
    may = {(name, key) for (name, key, _), no in zip(tried, refused, strict=True) if not no}
    assert may == MAY[user]
    assert "no permissions" in tester.execute_command(
        "ACL", "DRYRUN", user, "PUBLISH", "/0.celery.pidbox", "x"
    )


def test_every_user_has_a_password_and_nobody_else_comes_in(server):
    with pytest.raises(AuthenticationError):
        server.client().ping()
    for user in MAY:
        assert client.Redis.from_url(server.as_user(user)).ping()
        with pytest.raises(AuthenticationError):
            client.Redis.from_url(server.as_user(user).replace("-word", "-other")).ping()


def test_a_user_whose_command_is_refused_goes_on(server):
    with client.Redis.from_url(server.as_user("web")) as web:
        for refused in (
            ("EVAL", "return 1", 0),
            ("FLUSHALL",),
            ("CONFIG", "SET", "dir", "/"),
            ("RPOP", "draws"),
        ):
            with pytest.raises(NoPermissionError):
                web.execute_command(*refused)
        assert web.ping()


def test_the_manual_lists_these_users():
    page = (ROOT / "docs/how-to/deployment.md").read_text()
    lines = [line for line in page.splitlines() if line.startswith("user ")]
    listed = [re.sub(r">\w+-word", ">PASSWORD", line) for line in compose.redis_users().splitlines()]
    assert lines == listed
