"""The whole life of rounds: what devices send arrives, mixed, and is forgotten."""

import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from tests.shuffler import device
from tests.shuffler.process import wait_until

MARK = os.urandom(12)  # what messages begin with where they are long enough


@dataclass
class Story:
    """A round, its facts, and what was sent in it."""

    made: object
    facts: bytes = b""
    contents: list = field(default_factory=list)
    packets: list = field(default_factory=list)
    secrets: list = field(default_factory=list)


@dataclass
class Stories:
    """Rounds side by side: their moments are seconds apart."""

    shuffler: object
    analyser: object
    told: dict = field(default_factory=dict)
    files_at_hand_over: set = field(default_factory=set)

    def begin(self, name, **terms):
        story = Story(self.analyser.plan(**terms))
        self.told[name] = story
        return story

    def send(self, story, packet, secret):
        answer = self.shuffler.report(story.made, secret, packet)
        assert (answer.status, answer.json()) == (201, {"receipt": hashlib.sha256(packet).hexdigest()})
        story.packets.append(packet)
        story.secrets.append(secret)

    def send_honest(self, story, secret):
        contents = device.contents(story.facts)
        if story.made.message_bytes > len(MARK):
            contents = [MARK + one[len(MARK) :] for one in contents]
        self.send(story, device.packet(story.facts, contents), secret)
        story.contents += contents


@pytest.fixture(scope="module")
def stories(pair):
    """Rounds that all ended."""
    shuffler, _ = pair
    made = Stories(*pair)
    everybody = made.begin("everybody", failures=2, message_bytes=len(MARK) + 4)
    for name in ("few", "strange", "strange and few", "repeating", "cancelled"):
        made.begin(name)
    made.begin("open link", open_link=True, most_invitations=12)
    for story in made.told.values():
        story.facts = shuffler.facts(story.made)
        story.table = shuffler.get(f"/rounds/{story.made.id}/table.bin").body
        if not story.made.open_link:
            story.all_secrets = [secret for _, secret in shuffler.secrets(story.made)]
    send_all(made)

    def look():
        made.files_at_hand_over = {path.name for path in shuffler.files_of(everybody.made).iterdir()}

    everybody.made.when_asked["batch"] = look
    for name, story in made.told.items():
        if name == "cancelled":
            story.made.state = "cancelled"
        else:
            shuffler.let_close(story.made)
            assert story.made.decided.wait(30), name
    folders = [shuffler.files_of(story.made) for story in made.told.values()]
    wait_until(lambda: not any(folder.exists() for folder in folders), "the end of all")
    return made


def send_all(made):
    for name, reports in (("everybody", 30), ("few", 3), ("cancelled", 4)):
        for secret in made.told[name].all_secrets[:reports]:
            made.send_honest(made.told[name], secret)
    send_strange(made, made.told["strange"], honest=4)
    send_strange(made, made.told["strange and few"], honest=3)
    send_repeating(made, made.told["repeating"])
    open_link = made.told["open link"]
    for _ in range(4):
        answer = made.shuffler.ask("POST", f"/rounds/{open_link.made.id}/invitations/")
        assert answer.status == 201
        made.send_honest(open_link, answer.json()["invitation"])


def send_strange(made, story, *, honest):
    """Two packets that do not open: of other facts, and of noise."""
    other_facts = story.facts.replace(b"Trees", b"Frees")
    foreign = device.seal_packet(
        other_facts, b"".join(device.seal_message(story.facts, one) for one in device.contents(story.facts))
    )
    secrets = iter(story.all_secrets)
    made.send(story, foreign, next(secrets))
    made.send(story, os.urandom(len(foreign)), next(secrets))
    for _ in range(honest):
        made.send_honest(story, next(secrets))


def send_repeating(made, story):
    """One device's messages are all the same sealed text."""
    for secret in story.all_secrets[:3]:
        made.send_honest(story, secret)
    content = os.urandom(story.made.message_bytes)
    sealed = device.seal_message(story.facts, content)
    packet = device.seal_packet(story.facts, sealed * story.made.messages)
    made.send(story, packet, story.all_secrets[3])
    story.contents.append(content)


def test_it_shows_the_facts_and_the_table(stories):
    for story in stories.told.values():
        assert story.facts == story.made.facts(stories.analyser.url, stories.shuffler.about).encode()
        assert story.table == story.made.table


@pytest.mark.parametrize(
    ("name", "reports"), [("everybody", 30), ("strange", 4), ("repeating", 4), ("open link", 4)]
)
def test_it_hands_over_the_messages_of_all(stories, name, reports):
    story = stories.told[name]
    batch, told = story.made.handed_over
    assert told == reports
    assert device.opened(batch, story.made.key, story.facts) == sorted(story.contents)


@pytest.mark.parametrize(("name", "reports"), [("few", 3), ("strange and few", 3)])
def test_it_hands_over_nothing_of_too_few(stories, name, reports):
    assert stories.told[name].made.handed_over == (b"", reports)


def test_it_hands_over_the_same_again_where_the_analyser_failed(stories):
    batches = stories.told["everybody"].made.batches
    assert len(batches) == 3
    assert len(set(batches)) == 1


def test_it_keeps_the_key_until_the_batch_is_acknowledged(stories):
    """And no secrets of invitations from the closing moment on."""
    assert stories.files_at_hand_over == {"key", "packets", "table.bin"}


def test_it_closes_at_the_moment_of_the_facts(shuffler, analyser):
    made = analyser.plan(seconds=3)
    facts = shuffler.facts(made)
    assert made.decided.wait(30)
    assert time.time() >= json.loads(facts)["closes_at"]
    assert made.handed_over == (b"", 0)


def test_it_hands_over_nothing_of_a_cancelled_round(stories):
    assert stories.told["cancelled"].made.batches == []


def test_it_says_that_a_round_is_over(stories):
    for story in stories.told.values():
        path = f"/rounds/{story.made.id}"
        late = stories.shuffler.report(story.made, story.secrets[0], story.packets[0])
        assert (late.status, late.json()["code"]) == (410, "round_closed")
        assert stories.shuffler.ask("POST", f"{path}/invitations/").json()["code"] == "round_closed"
        assert stories.shuffler.get(f"{path}/facts.json").body == story.facts
        assert stories.shuffler.get(f"{path}/table.bin").json()["code"] == "unknown_round"


def test_it_forgets_packets_invitations_and_keys(stories):
    """Planted bytes are looked for in all files, the database's log among them."""
    gone = [story.made for story in stories.told.values()]
    assert not any(stories.shuffler.files_of(made).exists() for made in gone)
    ids = {made.id.hex for made in gone}
    rows = stories.shuffler.rows()
    assert ids <= {row[0] for row in rows["shuffler_round"]}
    assert not [row for row in rows["shuffler_invitation"] if ids & set(row)]
    planted = [
        part
        for story in stories.told.values()
        for secret, packet in zip(story.secrets, story.packets, strict=True)
        for part in (
            packet[:16],
            packet[-16:],
            secret.encode(),
            hashlib.sha256(secret.encode()).digest(),
            hashlib.sha256(secret.encode()).hexdigest().encode(),
        )
    ]

    def are_gone():
        kept = b""
        for path in stories.shuffler.state.rglob("*"):
            with suppress(FileNotFoundError, IsADirectoryError):  # the database's log comes and goes
                kept += path.read_bytes()
        assert b"Person 17" in kept  # what is not forgotten is found
        return not any(part in kept for part in planted)

    wait_until(are_gone, "traces to go")


@pytest.mark.skipif(os.geteuid() != 0, reason="reads the memory of another process")
def test_it_never_knows_what_messages_say(stories):
    memory = stories.shuffler.memory()
    assert b"trees' friends" in memory
    assert MARK not in memory


def test_it_commits_to_its_invitations(shuffler, analyser):
    made = analyser.plan(reports_per_person=2)
    facts = json.loads(shuffler.facts(made))
    secrets = shuffler.secrets(made)
    assert len({secret for _, secret in secrets}) == facts["invitations"] == 60
    digests = sorted(hashlib.sha256(secret.encode()).digest() for _, secret in secrets)
    assert facts["invitations_sha256"] == hashlib.sha256(b"".join(digests)).hexdigest()
