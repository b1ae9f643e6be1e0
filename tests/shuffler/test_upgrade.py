"""A round that an earlier version has open, with packets in rows, goes on after the upgrade."""

import hashlib
import os
import secrets
import sqlite3
from contextlib import closing, contextmanager

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from tests.shuffler import device
from tests.shuffler.analyser_peer import AnalyserPeer
from tests.shuffler.process import PATIENCE_SECONDS, Shuffler, wait_until
from tests.shuffler.test_arrival_order import contents

PLACES, SENT = 10, 6
ROUND = """INSERT INTO shuffler_round VALUES (:id, :number, 'ready', :key, :invitations, :invitations_sha256,
    :open_link, 1, :opens_at, :closes_at, :least_reports, :messages, :message_bytes, :facts, :sha256, 1)"""


@contextmanager
def database_before(shuffler):
    """The shuffler's database as migration 0001 leaves it."""
    assert shuffler.commands(("migrate", "shuffler", "0001"))[0][1] == ""
    with closing(sqlite3.connect(shuffler.state / "shuffler.sqlite3")) as database:
        yield database
        database.commit()


def digest(secret):
    return hashlib.sha256(secret.encode()).hexdigest()


def store(database, shuffler, analyser, made):
    """A round with its key; returns invitations, packets and what they say. The first packets are in rows."""
    key, invitations = X25519PrivateKey.generate(), [secrets.token_urlsafe(16) for _ in range(PLACES)]
    ordered = b"".join(sorted(bytes.fromhex(digest(secret)) for secret in invitations))
    made.state, made.commitment = "ready", {
        "key": device.base64url(key.public_key().public_bytes_raw()),
        "invitations": PLACES,
        "invitations_sha256": hashlib.sha256(ordered).hexdigest(),
    }  # fmt: skip
    facts = made.facts(analyser.url, shuffler.about).encode()
    told = [device.contents(facts) for _ in invitations]
    packets = [device.packet(facts, contents) for contents in told]
    row = {"facts": facts.decode(), "sha256": hashlib.sha256(facts).hexdigest(), **made.commitment}
    database.execute(ROUND, {**vars(made), **row, "id": made.id.hex})
    stored = packets[:SENT] + [None] * (PLACES - SENT)
    database.executemany(
        "INSERT INTO shuffler_invitation VALUES (NULL, ?, ?, ?)",
        [(digest(secret), packet, made.id.hex) for secret, packet in zip(invitations, stored, strict=True)],
    )
    shuffler.files_of(made).mkdir(mode=0o700)
    (shuffler.files_of(made) / "key").write_bytes(key.private_bytes_raw())
    return facts, invitations, packets, told


@pytest.mark.long
def test_packets_in_rows_become_a_file_and_are_handed_over(tmp_path):
    """Of invitations and of an open link."""
    shuffler = Shuffler(tmp_path)
    with AnalyserPeer(shuffler.about).running() as analyser:
        rounds = [analyser.plan(open_link=open_link, message_bytes=1_500) for open_link in (False, True)]
        with database_before(shuffler) as database:
            about = ("trees", analyser.url, shuffler.about["operator"], shuffler.url)
            database.execute("INSERT INTO shuffler_collection VALUES (1, ?, ?, ?, ?)", about)
            stored = [store(database, shuffler, analyser, made) for made in rounds]
        assert shuffler.commands(shuffler.joining(analyser.url))[0][1] == ""
        shuffler.start()
        try:
            wait_until(shuffler.is_up, "the server")
            for made, (_, invitations, packets, _) in zip(rounds, stored, strict=True):
                go_on(shuffler, made, invitations, packets)
        finally:
            shuffler.kill()
    for made, (facts, _, _, told) in zip(rounds, stored, strict=True):
        batch, reports = made.handed_over
        assert reports == PLACES
        assert device.opened(batch, made.key, facts) == sorted(part for report in told for part in report)


def go_on(shuffler, made, invitations, packets):
    assert shuffler.report(made, invitations[0], packets[0]).status == 200
    assert shuffler.report(made, invitations[0], os.urandom(len(packets[0]))).status == 409
    later = zip(invitations[SENT:], packets[SENT:], strict=True)
    assert [shuffler.report(made, *one).status for one in later] == [201] * (PLACES - SENT)
    wait_until(lambda: not contents(shuffler).get("shuffler.sqlite3-wal"), "an empty log")
    for packet in packets:
        held = [name for name, content in contents(shuffler).items() if packet[:32] in content]
        assert held == [f"rounds/{made.id}/packets"]
    shuffler.let_close(made)
    assert made.decided.wait(PATIENCE_SECONDS), shuffler.output()
