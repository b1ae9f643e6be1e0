"""While a round is open, no file of the shuffler tells when or in which order packets came."""

import hashlib
import os
import random
import shutil
import time
from contextlib import contextmanager

import numpy as np
import pytest

from tests.shuffler.conftest import joined
from tests.shuffler.process import Shuffler, wait_until

MESSAGE_BYTES = 4_000
PACKET_BYTES = 48 + 3 * (48 + MESSAGE_BYTES)  # more than two pages of a database


@contextmanager
def running(folder):
    """A shuffler at a copy of a state folder, once it has done all that is due."""
    shuffler = Shuffler(folder)
    assert shuffler.commands(("resume", "--moved")) == [("Resumed.\n", "")]
    shuffler.start()
    try:
        wait_until(shuffler.is_up, "the server")
        wait_until(lambda: b"SQLite" in contents(shuffler)["shuffler.sqlite3"], "the database")
        wait_until(lambda: not contents(shuffler).get("shuffler.sqlite3-wal"), "an empty log")
        yield shuffler
    finally:
        shuffler.kill()


def contents(shuffler):
    files = [path for path in sorted(shuffler.state.rglob("*")) if path.is_file()]
    return {str(path.relative_to(shuffler.state)): path.read_bytes() for path in files}


def moments(shuffler):
    """When each file was changed last, as copies of it say."""
    return {str(path): path.stat().st_mtime_ns for path in shuffler.state.rglob("*") if path.is_file()}


@pytest.mark.long
def test_two_orders_of_arrival_leave_the_same_bytes(tmp_path):
    """Two shufflers with the same keys, invitations and packets; nothing but the packet file changes."""
    with joined(tmp_path) as (shuffler, analyser):
        shuffler.start()
        wait_until(shuffler.is_up, "the server")
        made = analyser.plan(message_bytes=MESSAGE_BYTES)
        shuffler.facts(made)
        shuffler.kill()
        packets = {secret: os.urandom(PACKET_BYTES) for _, secret in shuffler.secrets(made)[:24]}
        of_round = f"rounds/{made.id}/packets"
        left = []
        for seed in range(2):
            shutil.copytree(shuffler.state, tmp_path / str(seed) / "state")
            order = random.Random(seed).sample(list(packets.items()), len(packets))
            with running(tmp_path / str(seed)) as other:
                before, unsent = contents(other), moments(other)
                assert [other.report(made, *sent).status for sent in order] == [201] * len(order)
                after = contents(other)
                assert moments(other) == unsent
            assert {name for name in after if after[name] != before[name]} == {of_round}
            left.append(after[of_round])
    assert left[0] == left[1]


def test_packets_stand_in_the_order_of_digests_and_in_no_other_file(shuffler, analyser):
    made = analyser.plan(message_bytes=MESSAGE_BYTES)
    shuffler.facts(made)
    rows, secrets = shuffler.rows(), [secret for _, secret in shuffler.secrets(made)]
    sent = {secret: os.urandom(PACKET_BYTES) for secret in secrets}
    assert [shuffler.report(made, *one).status for one in sent.items()] == [201] * len(sent)
    files = contents(shuffler)
    in_file = files.pop(f"rounds/{made.id}/packets")
    by_digest = sorted(sent, key=lambda secret: hashlib.sha256(secret.encode()).digest())
    assert in_file.endswith(b"".join(sent[secret] for secret in by_digest))
    assert len(in_file) == len(sent) * (64 + PACKET_BYTES)
    assert shuffler.rows() == rows
    path, moment = shuffler.files_of(made) / "packets", time.time_ns()
    assert path.stat().st_mtime_ns == 0
    # The system's own moment of the last change goes on, whether or not a packet comes.
    wait_until(lambda: path.stat().st_ctime_ns > moment, "a turn")
    assert not [name for name, content in files.items() for packet in sent.values() if packet[:16] in content]


def test_slots_of_an_open_link_are_drawn(shuffler, analyser):
    """Ranks of arrival and place correlate by less than 0.9: fair draws of 40 do by more once in 10^13 times.

    Invitations are given without a row, and in the order of arrival the two would correlate by 1.
    """
    made = analyser.plan(message_bytes=MESSAGE_BYTES, open_link=True)
    shuffler.facts(made)
    rows, path = shuffler.rows(), f"/rounds/{made.id}/invitations/"
    answers = [shuffler.ask("POST", path, source=f"127.0.2.{number + 1}") for number in range(40)]
    sent = [(answer.json()["invitation"], os.urandom(PACKET_BYTES)) for answer in answers]
    assert [shuffler.report(made, *one).status for one in sent] == [201] * len(sent)
    assert shuffler.rows() == rows
    in_file = (shuffler.files_of(made) / "packets").read_bytes()
    places = np.argsort([in_file.index(packet) for _, packet in sent]).argsort()
    assert abs(np.corrcoef(places, np.arange(len(sent)))[0, 1]) < 0.9


def test_a_slot_that_was_written_in_part_is_empty(shuffler, analyser):
    """As a power cut leaves it: the same packet gets its receipt once more, when it is whole."""
    made = analyser.plan(message_bytes=MESSAGE_BYTES)
    shuffler.facts(made)
    (_, secret), *_ = shuffler.secrets(made)
    packet, path = os.urandom(PACKET_BYTES), shuffler.files_of(made) / "packets"
    assert [shuffler.report(made, secret, packet).status for _ in range(2)] == [201, 200]
    whole = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(whole.index(packet) + PACKET_BYTES // 2)
        file.write(bytes(PACKET_BYTES // 2))
    assert [shuffler.report(made, secret, packet).status for _ in range(2)] == [201, 200]
    assert path.read_bytes() == whole


def test_a_round_that_the_disk_has_no_room_for_waits(shuffler, analyser):
    made = analyser.plan(messages=5, message_bytes=3 * 2**20, open_link=True, most_invitations=10_000_000)
    wait_until(lambda: f"{made.id} of trees waits: its packets need" in shuffler.output(), "its log")
    assert shuffler.state_of(made) is None
    del analyser.rounds[str(made.id)]
