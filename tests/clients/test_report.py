"""Whole reports over HTTP, opened with the real keys at the other end."""

import pytest
from hazemap_device import DeviceError, Place
from hazemap_device.report import Device

from tests.clients.rounds import INSIDE, KINDS, Round

HERE = Place(lat=INSIDE[0], lon=INSIDE[1])


def refused(device, served, place=HERE):
    with pytest.raises(DeviceError) as refusal:
        device.report(served.link, [place])
    return refusal.value.code


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_of_every_kind_arrives_and_opens(kind, served, device):
    served.round = Round(KINDS[kind](), url=served.url)
    receipt = device.report(served.link, [HERE])
    messages = served.messages(served.packets[0])
    assert len(receipt.sha256) == 64
    assert len(messages) == served.round.facts["messages"]
    assert {len(message) for message in messages} == {served.round.facts["message_bytes"]}


def test_unary_messages_say_axis_and_bit(served, device):
    device.report(served.link, [HERE])
    messages = served.messages(served.packets[0])
    places = served.round.facts["encoding"]["places"]
    assert {message[0] // 2 for message in messages[:places]} == {0}
    assert {message[0] // 2 for message in messages[places:]} == {1}
    # (16.37 - 16.18) / 0.4 of 37.5 squares, (48.2 - 48.11) / 0.22 of 30; 0 to 12 of noise and padding.
    for axis, value in ((0, 18), (1, 12)):
        ones = sum(message[0] == 2 * axis + 1 for message in messages)
        assert value <= ones <= value + 12


@pytest.mark.parametrize("kind", KINDS)
def test_a_packet_has_one_size_whatever_the_place(kind, served, tmp_path):
    served.round = Round(KINDS[kind](), url=served.url, reports_per_person=9)
    device = Device(tmp_path / "state")
    for lat, lon in (INSIDE, (48.33, 16.58), (-33.9, -180)):
        device.report(served.link, [Place(lat=lat, lon=lon)])
    facts = served.round.facts
    assert {len(packet) for packet in served.packets} == {
        48 + facts["messages"] * (48 + facts["message_bytes"])
    }


def test_nothing_of_two_reports_of_one_place_is_alike(served, device):
    served.round = Round(KINDS["shares"](), url=served.url)
    device.report(served.link, [HERE])
    device.report(served.link, [HERE])
    keys = [packet[:32] for packet in served.packets]
    keys += [message[:32] for packet in served.packets for message in served.sealed(packet)]
    assert len(set(keys)) == len(keys) == 2 * (1 + served.round.facts["messages"])
    first, second = (set(served.messages(packet)) for packet in served.packets)
    assert len(first & second) <= 1  # shares of 30 bits: a draw that is used again would make all alike


def test_the_invitation_goes_along_and_nothing_else_of_a_person(served, device):
    device.report(served.link, [HERE])
    names = {name.lower() for name in served.headers[0]}
    assert "hazemap-invitation" in names
    assert names <= {"accept", "accept-encoding", "connection", "content-length", "content-type",
                     "hazemap-invitation", "host", "user-agent"}  # fmt: skip


def test_an_open_link_asks_for_an_invitation_for_each_report_and_keeps_it_until_used(served, device):
    served.round = Round(url=served.url, open_link=True)
    device.report(served.link, [HERE])
    served.refusal = (500, "oops")
    refused(device, served)
    served.refusal = None
    assert device.report(served.link, [HERE]).is_resent
    assert sum(path.endswith("/invitations/") for path in served.paths) == 2
    first, second, again = (headers["Hazemap-Invitation"] for headers in served.headers)
    assert first != second == again


def test_a_personal_invitation_is_good_for_one_report(served, device):
    link = served.link
    device.report(link, [HERE])
    with pytest.raises(DeviceError) as refusal:
        device.report(link, [HERE])
    assert refusal.value.code == "invitation_used"
    assert len(served.packets) == len(device.odometer.reports()) == 1
    device.report(served.link, [HERE])


def test_a_link_to_another_origin_than_the_facts_name_is_refused_unless_it_is_allowed(served, device):
    served.round.facts["shuffler"]["url"] = "https://union.example"
    assert refused(device, served) == "other_shuffler"
    assert served.packets == device.odometer.reports() == []
    device.report(served.link, [HERE], shuffler_url=f"{served.url}/elsewhere")
    assert len(served.packets) == 1


def test_no_more_reports_than_a_round_takes_from_one_person(served, device):
    for _ in range(served.round.reports_per_person):
        device.report(served.link, [HERE])
    assert refused(device, served) == "all_sent"
    assert len(served.packets) == served.round.reports_per_person


@pytest.mark.parametrize("change", ["key", "title", "table_sha256"])
def test_other_facts_at_the_analyser_are_refused(change, served, device):
    other = Round(url=served.url, id=served.round.id)
    if change == "key":
        other.facts = {**served.round.facts, "shuffler": other.facts["shuffler"]}  # a key for one person
    else:
        other.facts = {**served.round.facts, change: "00" * 32}
    served.analyser_facts = other.content
    assert refused(device, served) == "facts_differ"
    assert served.packets == []
    assert device.odometer.reports() == []


def test_another_table_than_agreed_is_refused(served, device):
    served.round.table = bytes(len(served.round.table))
    assert refused(device, served) == "table_differs"
    assert device.odometer.reports() == []


def test_a_round_that_is_not_open_is_refused(served, tmp_path):
    closes_at = served.round.facts["closes_at"]
    early = Device(tmp_path / "early", clock=lambda: served.round.facts["opens_at"] - 0.1)
    late = Device(tmp_path / "late", clock=lambda: closes_at)
    assert refused(early, served) == "round_not_open"
    assert refused(late, served) == "round_closed"
    assert served.packets == []


def test_facts_that_change_between_two_reports_are_refused(served, device):
    device.report(served.link, [HERE])
    served.round.facts["closes_at"] += 1
    assert refused(device, served) == "facts_changed"


def test_another_analyser_than_the_one_named_is_refused(served, device):
    with pytest.raises(DeviceError) as refusal:
        device.report(served.link, [HERE], analyser_url="https://maps.example")
    assert refusal.value.code == "other_analyser"


def test_what_the_shuffler_refuses_for_good_is_dropped_and_stays_counted(served, device):
    served.refusal, link = (410, "round_closed"), served.link
    assert refused(device, served) == "round_closed"
    served.refusal = None
    assert [report.state for report in device.odometer.reports()] == ["dropped"]
    with pytest.raises(DeviceError) as again:  # the shuffler may have kept it
        device.report(link, [HERE])
    assert again.value.code == "invitation_used"
    device.report(served.link, [HERE])
    assert served.packets[0] != served.packets[1]


@pytest.mark.parametrize("refusal", [(429, "too_many_requests"), (409, "round_not_open"), (500, "oops")])
def test_what_is_refused_for_now_is_sent_again_as_it_was(refusal, served, device):
    served.refusal = refusal
    refused(device, served)
    served.refusal = None
    assert device.report(served.link, [Place(lat=48.3, lon=16.5)]).is_resent
    assert served.packets[0] == served.packets[1]
    assert [report.state for report in device.odometer.reports()] == ["received"]


def test_who_left_a_collection_sends_nothing_until_joining_again(served, device):
    device.odometer.leave("commute")
    assert refused(device, served) == "left"
    device.odometer.rejoin("commute")
    device.report(served.link, [HERE])
    assert len(served.packets) == 1
