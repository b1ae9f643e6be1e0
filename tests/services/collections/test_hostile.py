"""A shuffler, and an analyser, that do not keep to the protocol, against the other role's real process."""

import json
import sqlite3
import time
from contextlib import closing, contextmanager
from uuid import UUID

import numpy as np
import pytest

from mechanisms.devices import catalogue
from mechanisms.guarantee import Relation
from mechanisms.mechanism import Target
from mechanisms.space.grid import Region
from tests.collections.devices import bits_of
from tests.services.collections.peers import ROUNDS, HostileShuffler, between
from tests.services.collections.role import Role
from tests.services.collections.stage import QUICK, charged, place_text, staged

pytestmark = pytest.mark.long

DEVICES = 24
NAMES = [f"Walker {number}" for number in range(DEVICES)]
BATCHES = ("twice", "mixed", "unsorted", "of_another", "too_many", "replayed")


@pytest.fixture(scope="module")
def stage(world):
    with staged(world) as made:
        yield made


@pytest.fixture(scope="module")
def hostile(stage):
    """Rounds that closed, each with a shuffler that has its token; nothing is handed over yet."""
    made = {}
    for name in BATCHES:
        token = stage.create(name.replace("_", "-"), NAMES)
        made[name] = (stage.plan(name.replace("_", "-"), NAMES, opens_in=4, seconds=1), token)
    told = {}
    for name, (planned, token) in made.items():
        told[name] = HostileShuffler(stage.port, token, planned)
        told[name].planned = planned
        assert told[name].take_part(DEVICES)[0] == 200
    early = told["replayed"]
    early.before_closing = early.hand_over(early.reports(20), reports=20)
    time.sleep(max(0.0, max(planned.plan["closes_at"] for planned, _ in made.values()) - time.time()) + 0.1)
    return told


def ended(stage, shuffler):
    stage.wait(lambda: stage.state(shuffler.planned) in ("published", "no_result"), "the end", 120)
    told = stage.tell(shuffler.planned)
    assert told["problem"] == ""
    assert told["committed"] == charged(shuffler.planned)
    return told


def is_untouched(stage, shuffler):
    told = stage.tell(shuffler.planned)
    return (told["reports"], told["batch_sha256"]) == (None, "")


def test_nothing_is_taken_before_the_closing_moment(hostile):
    status, answer = hostile["replayed"].before_closing
    assert (status, answer["code"]) == (409, "round_not_open")


@pytest.mark.parametrize("name", ["twice", "unsorted"])
def test_a_batch_with_messages_twice_or_in_another_order_is_refused(stage, hostile, name):
    """The order of reports would tell which messages are of one; and none counts twice."""
    shuffler = hostile[name]
    messages = shuffler.reports(12)
    given, order = (messages * 2, sorted) if name == "twice" else (messages, list)
    status, answer = shuffler.hand_over(given, reports=24, order=order)
    assert status == 422
    assert "in ascending order, each once" in json.dumps(answer)
    assert is_untouched(stage, shuffler)


def test_too_many_messages_or_reports_are_refused(stage, hostile):
    shuffler = hostile["too_many"]
    messages = shuffler.reports(13)
    assert shuffler.hand_over(messages, reports=12)[0] == 422
    assert shuffler.hand_over(messages, reports=DEVICES + 1)[0] == 422
    assert is_untouched(stage, shuffler)


def test_messages_of_another_round_count_for_nothing(stage, hostile):
    """The result is that of the honest messages alone."""
    shuffler = hostile["mixed"]
    own, foreign = shuffler.reports(14, (3, 5)), hostile["of_another"].reports(6, (9, 9))
    assert shuffler.hand_over(own + foreign, reports=20)[0] == 201
    told = ended(stage, shuffler)
    assert (told["state"], told["reports"]) == ("published", 20)
    plan = catalogue.build(
        QUICK["mechanism"],
        region=Region(-98.0, 30.0, -97.8, 30.2),
        target=Target(
            relation=Relation.REPLACE,
            epsilon=int(QUICK["epsilon"]),
            delta=1e-6,
            radius_m=600,
            expected_persons=QUICK["least_honest"],
        ),
        least_honest=QUICK["least_honest"],
        most_reports=DEVICES,
        resolution=None,
        parameters=QUICK["parameters"],
    )
    honest = np.frombuffer(b"".join(bits_of(shuffler.facts, (3, 5)) * 14), np.uint8).reshape(-1, 1)
    point = plan.analyse(honest, 20)
    assert (told["lat"], told["lon"]) == (point.lat, point.lon)


def test_a_batch_of_nothing_but_another_rounds_messages_tells_nothing_of_them(stage, hostile):
    shuffler = hostile["of_another"]
    assert shuffler.hand_over(hostile["too_many"].reports(20, (9, 9)), reports=20)[0] == 201
    told = ended(stage, shuffler)
    assert told["reports"] == 20


def test_a_batch_that_is_handed_over_again_changes_nothing(stage, hostile):
    shuffler = hostile["replayed"]
    messages = shuffler.reports(20)
    assert shuffler.hand_over(messages, reports=20)[0] == 201
    assert shuffler.hand_over(messages, reports=20)[0] == 200
    first = ended(stage, shuffler)
    assert shuffler.hand_over(messages, reports=20)[0] == 200
    assert shuffler.hand_over(messages, reports=19)[1]["code"] == "batch_differs"
    assert shuffler.hand_over(messages[:-1], reports=20)[1]["code"] == "batch_differs"
    time.sleep(1)
    assert stage.tell(shuffler.planned) == first
    assert not list(stage.analyser.state.glob(f"**/*{shuffler.planned.id}*"))


@contextmanager
def second_shuffler(stage, name):
    state = stage.folder / name / "state"
    variables = {"HAZEMAP_SHUFFLER_STATE": str(state), "HAZEMAP_SHUFFLER_POLL_SECONDS": "0.2"}
    role = Role(name, stage.folder / name, variables)
    try:
        yield role
    finally:
        role.end()


def test_an_old_token_is_no_token(stage):
    """Of a shuffler that was replaced: neither its process nor a copy of it learns or hands over anything."""
    old = stage.create("replaced", NAMES)
    new = stage.steward.ask(act="another_token", slug="replaced")["token"]
    made = stage.plan("replaced", NAMES, opens_in=8, seconds=2)
    with second_shuffler(stage, "thief") as thief:
        operator = thief.talk("-m", "tests.services.collections.operator")
        told = operator.ask(commands=stage.joining(thief, "replaced", old, NAMES))
        assert [refusal for _, refusal in told if refusal] == []
        thief.serve("manage.py", "shuffler", "serve", "--port", "0")
        stage.wait(lambda: "the analyser refuses, status 401" in thief.output(), "the refusal")
        stage.join("replaced", new, NAMES)
        stage.hand_out(made)
        assert not list((thief.state / "rounds").iterdir())
        stolen = HostileShuffler(stage.port, old, made)
        assert stolen.ask("GET", ROUNDS)[0] == 401
        assert stolen.take_part(DEVICES)[0] == 401
        assert stolen.hand_over([], reports=0)[0] == 401
        # And whoever has the new one cannot put another key in place of the one that devices see.
        again = HostileShuffler(stage.port, new, made)
        status, answer = again.take_part(DEVICES)
        assert (status, answer["code"]) == (409, "round_is_fixed")


def other_key(content):
    told = json.loads(content)
    told["analyser"]["key"] = "A" * 42 + "E"
    return json.dumps(told, sort_keys=True, separators=(",", ":")).encode()


def test_devices_send_nothing_where_the_roles_say_different_things(stage):
    """As an analyser would that wants to know one person's messages by a key of their own."""
    with between(stage.port) as analyser:
        token = stage.create("forged", NAMES, analyser_url=analyser.url)
        stage.join("forged", token, NAMES, analyser_url=analyser.url)
        made = stage.plan("forged", NAMES, opens_in=3, seconds=6)
        stage.hand_out(made)
        time.sleep(max(0.0, made.plan["opens_at"] - time.time() + 0.1))
        analyser.forge = other_key
        lines = [(link, place_text(30.1, -97.9)) for link in made.links]
        misled, honest = stage.crowd(made, lines[:8]), stage.crowd(made, lines[8:])
        misled.start()
        misled.finish()
        assert set(misled.told.values()) == {"facts_differ"}
        assert misled.record == []
        assert packets(stage) == 0
        for odometer in misled.folder.glob("*/odometer.sqlite"):
            with closing(sqlite3.connect(odometer)) as database:
                assert database.execute("SELECT count(*) FROM reports").fetchone() == (0,)
        analyser.forge = None
        honest.start()
        honest.finish()
        assert packets(stage) == len(honest.receipts) == 16
        stage.wait_for_end(made)
        assert stage.tell(made)["reports"] == 16


def packets(stage):
    """How many slots of the rounds' files are taken: heads of 64 bytes that are not zeros."""
    with closing(sqlite3.connect(stage.shuffler.state / "shuffler.sqlite3")) as database:
        rounds = database.execute("SELECT id, places FROM shuffler_round").fetchall()
    files = [
        (stage.shuffler.state / "rounds" / str(UUID(name)) / "packets", places) for name, places in rounds
    ]
    heads = [path.read_bytes()[: 64 * places] for path, places in files if path.exists()]
    return sum(any(part[start : start + 64]) for part in heads for start in range(0, len(part), 64))
