"""The whole life of a round: what devices send arrives, mixed, and is forgotten."""

import hashlib
import json

from tests.shuffler import device
from tests.shuffler.process import wait_until


def is_forgotten(shuffler, made):
    return not (shuffler.state / "rounds" / str(made.id)).exists()


def test_it_hands_over_the_messages_of_all(shuffler, analyser):
    made = analyser.plan(seconds=3, failures=2)
    facts = shuffler.facts(made)
    assert facts == made.facts(analyser.url, shuffler.about).encode()
    assert shuffler.get(f"/rounds/{made.id}/table.bin").body == made.table
    sent = []
    for _, secret in shuffler.stored_secrets(made):
        contents = device.contents(facts)
        packet = device.packet(facts, contents)
        answer = shuffler.report(made, secret, packet)
        assert (answer.status, answer.json()) == (201, {"receipt": hashlib.sha256(packet).hexdigest()})
        again = shuffler.report(made, secret, packet)
        assert (again.status, again.json()) == (200, answer.json())
        sent += contents
    assert made.decided.wait(30)
    batch, reports = made.handed_over
    assert reports == 30
    assert device.opened(batch, made.key, facts) == sorted(sent)
    # Twice the analyser failed, and each time it got the same.
    assert len(set(made.batches)) == 1
    assert len(made.batches) == 3
    wait_until(lambda: is_forgotten(shuffler, made), "the end")
    assert shuffler.report(made, secret, packet).json()["code"] == "round_closed"
    assert shuffler.get(f"/rounds/{made.id}/facts.json").body == facts
    assert shuffler.get(f"/rounds/{made.id}/table.bin").json()["code"] == "unknown_round"


def test_it_commits_to_its_invitations(shuffler, analyser):
    made = analyser.plan(reports_per_person=2)
    facts = json.loads(shuffler.facts(made))
    secrets = shuffler.stored_secrets(made)
    assert len({secret for _, secret in secrets}) == facts["invitations"] == 60
    digests = sorted(hashlib.sha256(secret.encode()).digest() for _, secret in secrets)
    assert facts["invitations_sha256"] == hashlib.sha256(b"".join(digests)).hexdigest()
