"""Hundreds of devices and a browser, analyser and shuffler, each under an account of its own.

Two rounds side by side: a large one of central points, and one of shuffled shares whose messages are long
enough to be told from chance in hundreds of megabytes of memory.
"""

import hashlib
import math
import random
import secrets
import struct
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hazemap_device.sealing import sealed_packet

from heatmaps.shuffler.sealing import PacketOpener
from tests.browser.chromium import Chromium
from tests.contribute.people import send, wait_for_title
from tests.services.collections import accounts, images
from tests.services.collections.stage import charged, counted, place_text, staged
from tests.services.programs import found_or_skip

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(900)]

DEVICES, PROCESSES = 400, 2
LEAST_OPEN_SECONDS = 15  # for the browser
ROOM = 1.7  # times the guess: a round that closes before all have sent fails for no fault
DEVICE_SECONDS = 0.06  # of a report beside its sealing, on a quiet machine with a busy shuffler
POINTS = {
    "mechanism": "geo-shuffle",
    "epsilon": "2",
    "delta": "0.000001",
    "least_honest": 280,
    "dishonest_share": "0.05",
    "parameters": {"cell_m": "400"},
}
SHARES = {
    "mechanism": "shuffle-emd",
    "epsilon": "2",
    "delta": "0.000001",
    "resolution": 2,
    "least_honest": 16,
}
MESSAGES, MOST_MESSAGES = 150, 250  # of the first round: as many, and no more
METRES = 111_195  # of a degree on a sphere
RUN = 4  # messages of a report one after the other: by chance once in a million rounds, mixed as they are
LONELY = (30.1876543, -97.8123456)
# Noise of sums has exponential tails at most: seven times what one in twenty exceeds, one in a million does.
TAIL = 7


@dataclass
class Seen:
    """What was looked for, and what was found where."""

    told: dict
    figures: dict
    found: dict = field(default_factory=dict)
    sizes: dict = field(default_factory=dict)


@pytest.fixture(scope="module")
def stage(world):
    accounts.require()
    found_or_skip(Chromium)
    with staged(world, account=accounts.three()) as made:
        yield made


def seconds_of_a_device(stage):
    """A guess at how long a report takes here, with room for a machine that gets busier meanwhile."""
    key = X25519PrivateKey.generate().public_key().public_bytes_raw()
    began = time.monotonic()
    for _ in range(5):
        sealed_packet([b"1"] * MESSAGES, analyser_key=key, shuffler_key=key, facts_sha256=bytes(32))
    return ROOM * ((time.monotonic() - began) / 5 + DEVICE_SECONDS * min(stage.pace, 3))


@pytest.fixture(scope="module")
def rounds(stage):
    """Both, with their links handed out, before they open."""
    # Devices' processes and the browser start while it is open.
    least_seconds = LEAST_OPEN_SECONDS * stage.pace
    planned, seconds = [], least_seconds + DEVICES * seconds_of_a_device(stage) / PROCESSES
    for slug, count, request in (("points", DEVICES + 1, POINTS), ("shares", 24, SHARES)):
        # As nobody is called; the same bytes in every text that a program may make of it.
        names = [f"{secrets.token_hex(8)} Zwentibold" for _ in range(count)]
        stage.join(slug, stage.create(slug, names), names)
        planned.append(stage.plan(slug, names, seconds=seconds / stage.pace, opens_in=3, request=request))
    stage.hand_out(*planned)
    return planned


@pytest.fixture(scope="module")
def places():
    """Around a centre that is not the region's."""
    chance = random.Random(5)
    return [(chance.gauss(30.14, 0.015), chance.gauss(-97.86, 0.012)) for _ in range(DEVICES + 1)]


@pytest.fixture(scope="module")
def played(stage, rounds, places):
    """Everything that was seen, from the first report to the end of both rounds."""
    points, shares = rounds
    seen = Seen(told={}, figures={"messages": points.plan["messages"], "bytes": points.plan["packet_bytes"]})
    lines = [(link, place_text(*place)) for link, place in zip(points.links, places, strict=True)]
    crowds = [stage.crowd(points, lines[part:DEVICES:PROCESSES]) for part in range(PROCESSES)]
    lonely = [place_text(*LONELY)] + [place_text(30.05, -97.95)] * 23
    crowds.append(stage.crowd(shares, list(zip(shares.links, lonely, strict=True))))
    keys = {made.slug: private_key(stage, made) for made in rounds}
    time.sleep(max(0.0, points.plan["opens_at"] - time.time() + 0.5))
    with Chromium.started() as browser:
        began = time.monotonic()
        for crowd in crowds:
            crowd.start()
        posted = visit(browser, lines[DEVICES])
        for crowd in crowds:
            crowd.finish()
        seen.figures["seconds"] = time.monotonic() - began
        wait_for_title(posted["page"], "Sent")
    at_open = taken(stage)
    assert {stage.state(made) for made in rounds} == {"open"}, seen.figures
    time.sleep(max(0.0, points.plan["closes_at"] - time.time()))
    before = cpu_seconds(stage.analyser)
    stage.wait_for_end(points, shares, seconds=600)
    seen.figures["analyser"] = cpu_seconds(stage.analyser) - before
    texts = looked_for(rounds, keys)
    for when, held in (("open", at_open), ("ended", taken(stage))):
        for (role, where), kept in held.items():
            seen.found[role, where, when] = count(images.found(texts, kept))
            seen.sizes[role, where, when] = sum(map(len, kept)) // 2**20
    seen.told = {made.slug: stage.tell(made) for made in rounds}
    (packet,) = posted["packets"]
    opened = PacketOpener(keys["points"], seen.told["points"]["facts"]).opened(packet)
    size = 49
    sealed = [opened[at : at + size].hex() for at in range(0, len(opened), size)]
    seen.told["page"] = {"packet": packet.hex(), "sealed": sealed}
    print(f"\n{DEVICES} devices: {seen.figures}; {seen.sizes}; {seen.found}")
    return seen


def private_key(stage, made):
    return (stage.shuffler.state / "rounds" / made.id / "key").read_bytes()


def visit(browser, line):
    """Somebody who opens the link in a browser and sends, once the page thinks it is time."""
    page, packets = browser.new_context().new_page(), []
    page.set_default_timeout(120_000)
    page.on("request", lambda one: packets.append(one.post_data_buffer) if one.method == "POST" else None)
    page.goto(line[0])
    send(page, line[1].split(","))
    return {"page": page, "packets": packets}


def cpu_seconds(role):
    times = [process.cpu_times() for process in role.processes()]
    return sum(one.user + one.system for one in times)


def taken(stage):
    """Memory, and files with the log, of both roles at this moment."""
    images_of_roles = {}
    for role in (stage.analyser, stage.shuffler):
        images_of_roles[role.name, "memory"] = list(images.memory(role))
        images_of_roles[role.name, "files"] = list(images.files(role.folder, role.log))
    return images_of_roles


def looked_for(rounds, keys):
    texts = {place_text(*LONELY).encode(): "place", struct.pack("<d", LONELY[0]): "place"}
    for made in rounds:
        texts |= of_people(made) | of_contents(made) | {keys[made.slug]: "key"}
    return texts


def count(found):
    """How many of each kind there are."""
    kinds = list(found.values())
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}


def of_people(made):
    """Who takes part, and what stands for them."""
    texts = {name.encode(): "name" for name in made.names}
    for secret in made.secrets:
        digest = hashlib.sha256(secret.encode())
        texts |= {secret.encode(): "secret", digest.digest(): "digest", digest.hexdigest().encode(): "digest"}
    for line in made.record:
        packet = bytes.fromhex(line["packet"])
        receipt = hashlib.sha256(packet)
        texts |= {receipt.digest(): "receipt", receipt.hexdigest().encode(): "receipt"}
        texts |= {packet[at : at + 32]: "packet" for at in range(0, len(packet) - 32, 4096)}
    return texts


def of_contents(made):
    """What was sent: runs of messages as devices drew and sealed them, and each sealed one."""
    texts = {}
    for line in made.record:
        plain, sealed = ([bytes.fromhex(text) for text in line[kind]] for kind in ("plain", "sealed"))
        if len(plain[0]) > 1:
            texts |= dict.fromkeys(runs(plain), "plain run")
        texts |= dict.fromkeys(runs(sealed), "sealed run")
        texts |= {text[:32]: "sealed" for text in sealed}
    return texts


def runs(messages):
    return [b"".join(messages[at : at + RUN]) for at in range(len(messages) - RUN + 1)]


def test_each_role_runs_under_its_own_account(stage):
    for role in (stage.analyser, stage.shuffler):
        assert {process.uids().real for process in role.processes()} == {role.account}
        assert all(max(process.uids()) == role.account for process in role.processes())


@pytest.mark.parametrize("reader", ["analyser", "shuffler", "devices"])
def test_no_role_reads_what_another_one_has(stage, rounds, reader):
    """Folders, and the memory and environment of processes."""
    others = [role for role in (stage.analyser, stage.shuffler) if role.name != reader]
    options = accounts.run_as(getattr(stage, reader).account)
    for role in others:
        process = f"/proc/{role.process.pid}"
        kept = [role.state, *role.state.iterdir(), f"{process}/environ", f"{process}/mem", f"{process}/maps"]
        for path in kept:
            words = ["ls" if Path(path).is_dir() else "cat", path]
            tried = subprocess.run(words, capture_output=True, check=False, **options)
            assert tried.returncode != 0, path
            assert b"ermission denied" in tried.stderr, tried.stderr


def test_its_reports_are_all_counted(played, rounds):
    points, shares = rounds
    told = played.told["points"]
    assert (told["state"], told["reports"]) == ("published", DEVICES + 1)
    sealed = [
        bytes.fromhex(text) for line in [*points.record, played.told["page"]] for text in line["sealed"]
    ]
    assert len(set(sealed)) == (DEVICES + 1) * points.plan["messages"]
    assert hashlib.sha256(b"".join(sorted(sealed))).hexdigest() == told["batch_sha256"]
    assert points.plan["messages"] <= MOST_MESSAGES
    assert played.told["shares"]["state"] == "published"
    assert len(counted(shares, played.told["shares"])) == 24


def test_its_result_is_within_its_error(played, places):
    """At a false alarm of one in a million: half a square on each axis, and TAIL times the stated noise."""
    told, rounding_m = played.told["points"], float(POINTS["parameters"]["cell_m"]) / math.sqrt(2)
    lat, lon = (sum(axis) / len(axis) for axis in zip(*places, strict=True))
    north, east = told["lat"] - lat, (told["lon"] - lon) * math.cos(math.radians(30.1))
    off_m = METRES * math.hypot(north, east)
    assert told["within_m"] > rounding_m
    assert off_m <= rounding_m + TAIL * (told["within_m"] - rounding_m)
    assert told["expected_m"] < 400


def test_it_is_charged_once(played, rounds):
    for made in rounds:
        told = played.told[made.slug]
        assert told["problem"] == ""
        assert told["committed"] == charged(made)
        kinds = ("reserve", "spend", "publish", "round", "fail", "cancel")
        assert [told["events"].count(kind) for kind in kinds] == [1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("when", ["open", "ended"])
def test_the_analyser_never_knows_who_took_part(played, when):
    """No name, invitation, digest, packet or receipt; and no report's messages as they were together."""
    assert played.found["analyser", "memory", when].keys() <= {"sealed"}
    assert played.found["analyser", "files", when] == {}
    assert played.found["analyser", "memory", "open"] == {}


def test_the_shuffler_never_knows_what_was_said(played):
    for (role, _, _), found in played.found.items():
        assert role == "analyser" or not found.keys() & {"plain run", "place"}


def test_the_shuffler_forgets(played):
    """Packets in memory that is not used any more are sealed to a key that is gone."""
    found = {key[1:]: kinds.keys() for key, kinds in played.found.items() if key[0] == "shuffler"}
    assert found["files", "open"] == {
        "name",
        "digest",
        "packet",
        "key",
    }  # what it needs; links were handed out
    assert not found["memory", "open"] & {"sealed", "sealed run"}
    assert found["files", "ended"] == {"name"}  # who is enrolled, for the next round
    assert not found["memory", "ended"] & {"key", "sealed", "sealed run"}


def test_nothing_is_left_of_it(stage, played, rounds):
    assert stage.left(*rounds) == []
