"""What is refused, by which code; and that refusing changes nothing."""

import hashlib
import http.client
import os
import uuid

import pytest

from tests.services.refused_bodies import Answers, outcomes, post
from tests.shuffler import device
from tests.shuffler.analyser_peer import TOKEN

WRONG = "A" * 22


@pytest.fixture(scope="module")
def opened(pair):
    """A round that stays open, with one report in it; its facts, secrets, and the first one's packet."""
    shuffler, analyser = pair
    made = analyser.plan()
    facts = shuffler.facts(made)
    secrets = [secret for _, secret in shuffler.secrets(made)]
    packet = device.packet(facts, device.contents(facts))
    assert shuffler.report(made, secrets[0], packet).status == 201
    return made, facts, secrets, packet


@pytest.fixture
def unchanged(shuffler):
    before = shuffler.rows()
    yield
    assert shuffler.rows() == before


def refusal(answer):
    assert answer.headers["Content-Type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == answer.status
    return answer.status, told["code"]


def test_it_refuses_an_unknown_round(shuffler, unchanged):
    path = f"/rounds/{uuid.uuid4()}"
    for answer in (
        shuffler.get(f"{path}/facts.json"),
        shuffler.get(f"{path}/table.bin"),
        shuffler.ask("POST", f"{path}/reports/", b"x"),
        shuffler.ask("POST", f"{path}/invitations/"),
    ):
        assert refusal(answer) == (404, "unknown_round")


def test_it_refuses_a_round_that_is_not_open_yet(shuffler, analyser):
    made = analyser.plan(opens_in=300, open_link=True)
    facts = shuffler.facts(made)
    before = shuffler.rows()
    packet = device.packet(facts, device.contents(facts))
    assert refusal(shuffler.report(made, WRONG, packet)) == (409, "round_not_open")
    answer = shuffler.ask("POST", f"/rounds/{made.id}/invitations/")
    assert refusal(answer) == (409, "round_not_open")
    assert shuffler.rows() == before


@pytest.mark.parametrize("change", [lambda packet: packet[:-1], lambda packet: packet + b"x", lambda _: b""])
def test_it_refuses_another_size(shuffler, opened, unchanged, change):
    made, _, secrets, packet = opened
    assert refusal(shuffler.report(made, secrets[1], change(packet))) == (422, "wrong_size")
    # Before it says anything of the invitation.
    assert refusal(shuffler.report(made, WRONG, change(packet))) == (422, "wrong_size")


def test_it_reads_nothing_of_a_body_that_is_too_large(shuffler, opened, unchanged):
    made, _, secrets, _ = opened
    connection = http.client.HTTPConnection("127.0.0.1", shuffler.port, timeout=20)
    connection.putrequest("POST", f"/rounds/{made.id}/reports/")
    connection.putheader("Content-Length", str(2**40))
    connection.putheader("Hazemap-Invitation", secrets[1])
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 422
    connection.close()


def test_bodies_of_many_that_it_refuses_get_one_answer_each(shuffler, opened, unchanged):
    made, *_ = opened
    got = outcomes(shuffler.port, [post(f"/rounds/{made.id}/reports/"), post("/nothing/")], 20)

    assert got == {(0, Answers((422,), is_whole=True)): 120, (1, Answers((404,), is_whole=True)): 120}


def test_it_refuses_another_size_that_is_not_stated(shuffler, opened, unchanged):
    made, _, secrets, packet = opened
    path = f"/rounds/{made.id}/reports/"
    answer = shuffler.ask("POST", path, iter([packet, b"x"]), **{"Hazemap-Invitation": secrets[1]})
    assert refusal(answer) == (422, "wrong_size")


@pytest.mark.parametrize("secret", [WRONG, "", "short", "\u00e4" * 22, "=" * 22])
def test_it_refuses_an_unknown_invitation(shuffler, opened, unchanged, secret):
    made, _, _, packet = opened
    assert refusal(shuffler.report(made, secret, packet)) == (403, "unknown_invitation")


def test_it_refuses_an_invitation_of_another_round(shuffler, analyser, opened):
    other = analyser.plan()
    shuffler.facts(other)
    made, _, _, packet = opened
    (_, secret), *_ = shuffler.secrets(other)
    before = shuffler.rows()
    assert refusal(shuffler.report(made, secret, packet)) == (403, "unknown_invitation")
    assert shuffler.rows() == before


def test_it_refuses_a_second_report_by_one_invitation(shuffler, opened, unchanged):
    made, facts, secrets, packet = opened
    other = device.packet(facts, device.contents(facts))
    assert refusal(shuffler.report(made, secrets[0], other)) == (409, "invitation_used")
    again = shuffler.report(made, secrets[0], packet)
    assert (again.status, again.json()) == (200, {"receipt": hashlib.sha256(packet).hexdigest()})


def test_it_lets_guessers_wait(shuffler, opened, unchanged):
    made, _, secrets, packet = opened
    answers = [shuffler.report(made, WRONG, packet, source="127.0.0.2") for _ in range(21)]
    assert {refusal(answer) for answer in answers[:20]} == {(403, "unknown_invitation")}
    assert refusal(answers[20]) == (429, "too_many_requests")
    assert 1 <= int(answers[20].headers["Retry-After"]) <= 60
    # Whoever was invited never waits for guessers, nor does anybody elsewhere; guessers wait on.
    assert shuffler.report(made, secrets[0], packet, source="127.0.0.2").status == 200
    assert refusal(shuffler.report(made, "short", packet, source="127.0.0.2"))[0] == 429
    assert refusal(shuffler.report(made, WRONG, packet)) == (403, "unknown_invitation")


def test_it_never_counts_the_invited_as_guessers(shuffler, opened, unchanged):
    made, _, secrets, packet = opened
    for _ in range(25):
        assert shuffler.report(made, secrets[0], packet, source="127.0.0.3").status == 200


def test_an_open_link_takes_as_many_reports_as_there_are_places(shuffler, analyser):
    made = analyser.plan(open_link=True, most_invitations=4)
    facts = shuffler.facts(made)
    path = f"/rounds/{made.id}/invitations/"
    # Who takes invitations and sends nothing holds nobody up.
    answers = [
        shuffler.ask("POST", path, source=f"127.0.1.{address}") for address in (1, 1, 1, 2, 2, 3, 3, 4)
    ]
    assert [answer.status for answer in answers] == [201, 201, 429, *[201] * 5]
    secrets = [answer.json()["invitation"] for answer in answers if answer.status == 201]
    assert len(set(secrets)) == 7
    packets = [device.packet(facts, device.contents(facts)) for _ in range(5)]
    sent = [shuffler.report(made, *one) for one in zip(secrets[2:], packets, strict=True)]
    assert [answer.status for answer in sent] == [201] * 4 + [429]
    assert refusal(sent[-1]) == (429, "too_many_requests")
    assert shuffler.report(made, secrets[2], packets[0]).status == 200
    assert refusal(shuffler.ask("POST", path, source="127.0.1.5")) == (429, "too_many_requests")


def test_it_gives_an_address_a_daily_number_of_invitations(shuffler, analyser):
    made = analyser.plan(open_link=True, most_invitations=100)
    shuffler.facts(made)
    path = f"/rounds/{made.id}/invitations/"
    answers = [shuffler.ask("POST", path, source="127.0.0.4") for _ in range(6)]
    assert [answer.status for answer in answers] == [201] * 5 + [429]
    assert shuffler.ask("POST", path, source="127.0.0.5").status == 201


def test_it_gives_no_invitations_to_other_websites(shuffler, analyser):
    made = analyser.plan(open_link=True)
    shuffler.facts(made)
    path = f"/rounds/{made.id}/invitations/"
    for site in ("cross-site", "same-site"):
        assert refusal(shuffler.ask("POST", path, **{"Sec-Fetch-Site": site})) == (403, "cross_site")
    assert shuffler.ask("POST", path, **{"Sec-Fetch-Site": "same-origin"}).status == 201


def test_it_gives_no_invitations_where_people_are_enrolled(shuffler, opened, unchanged):
    answer = shuffler.ask("POST", f"/rounds/{opened[0].id}/invitations/")
    assert refusal(answer) == (404, "unknown_round")


def test_it_takes_packets_that_are_too_large_for_memory(shuffler, analyser):
    """Such bodies come in only after the invitation was looked at."""
    made = analyser.plan(messages=5, message_bytes=60_000)
    facts = shuffler.facts(made)
    packet = device.packet(facts, device.contents(facts))
    (_, secret), *_ = shuffler.secrets(made)
    assert refusal(shuffler.report(made, WRONG, packet)) == (403, "unknown_invitation")
    assert shuffler.report(made, secret, packet).status == 201


def test_it_writes_nothing_about_people_into_its_log(shuffler, opened):
    made, _, secrets, packet = opened
    shuffler.get(f"/rounds/{made.id}/nothing?Person+1={secrets[0]}")
    shuffler.report(made, secrets[0], os.urandom(len(packet)))
    shuffler.get("/healthz", Host="ada.example")
    output = shuffler.output()
    assert "django.security.DisallowedHost: at" in output
    assert f"round {made.id}: the facts are fixed" in output
    for told in ("Person", secrets[0], "127.0.0.2", "nothing?", "ada.example", TOKEN):
        assert told not in output
