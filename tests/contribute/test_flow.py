"""A person opens a link, reads, chooses a place, and sends one report, with real keys."""

import json

import pytest

from tests.contribute.people import (
    MONTH,
    PLACE,
    fill,
    open_link,
    records,
    send,
    send_soon,
    wait_for_title,
    wait_until_sent,
)
from tests.contribute.roles import opened
from tests.contribute.rounds import Round, canonical

pytestmark = pytest.mark.browser


def test_it_sends_one_report_that_the_two_roles_can_open(roles, invite, visit):
    shuffler, _ = roles
    found, link = invite(closes_in=MONTH)
    person = visit()
    page = person.page()
    open_link(page, link)
    page.get_by_text("by at most a factor of 14.9").wait_for()
    assert page.locator("#example-picture .number").count() == 3
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")  # it has fetched all files by then
    before, (round_id, secret) = len(person.asked), link.split("#")[1].split(".")
    assert secret not in repr([role.asked for role in roles])  # what follows # is sent to nobody
    fill(page)
    page.wait_for_load_state("networkidle")
    assert len(person.asked) == before  # choosing a place asks nobody for anything
    page.get_by_role("button", name="Blur and send").click()
    wait_until_sent(page)
    page.get_by_text("Sending itself is not hidden").wait_for()

    (message,) = opened(found, shuffler.packets[secret])
    assert int.from_bytes(message, "big") < 64
    after = [request for request in person.asked[before:] if request.method == "POST"]
    assert [request.url for request in after] == [f"{shuffler.url}/rounds/{round_id}/reports/"]
    assert page.get_by_label("Latitude").input_value() == ""
    (record,) = records(page)
    assert record["state"] == "sent"
    assert "packet" not in record
    assert "secret" not in record
    everything = json.dumps([record, [request.url for request in person.asked]])
    assert not any(place[:6] in everything for place in PLACE)


@pytest.mark.long
@pytest.mark.parametrize(
    "mechanism",
    [
        "geo-local",
        "optimal",
        "frequency",
        "sgdl-shuffle",
        "geo-shuffle",
        "rr-shuffle",
        "emd-itemwise",
        "shuffle-emd",
    ],
)
def test_it_sends_reports_of_every_mechanism(roles, invite, visit, mechanism):
    found, link = invite(mechanism, closes_in=MONTH)
    page = visit().page()
    open_link(page, link)
    page.locator("#example-picture > *").first.wait_for()
    send(page)
    wait_until_sent(page)
    messages = opened(found, roles[0].packets[link.rsplit(".", 1)[1]])
    assert {len(message) for message in messages} == {found.plan.message_bytes}
    assert len(messages) == found.plan.messages


@pytest.mark.long
def test_requests_are_the_same_for_every_place(roles, invite, visit):
    asked = []
    for place in (PLACE, ("52.41", "13.59"), ("-33.9", "151.2")):
        found, link = invite(closes_in=MONTH)
        person = visit()
        page = person.page()
        open_link(page, link)
        page.get_by_role("button", name="Take part").wait_for()
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        before = len(person.asked)
        send(page, place)
        wait_until_sent(page)
        of_it = [
            (one.method, one.url.replace(found.id, ""), len(one.post_data_buffer or b""))
            for one in person.asked[before:]
        ]
        asked.append(of_it)
    assert asked[0] == asked[1] == asked[2]
    assert asked[0]


@pytest.mark.long
def test_an_open_link_asks_for_an_invitation_once(roles, invite, visit):
    shuffler, _ = roles
    found, link = invite(changes={"open_link": True}, closes_in=MONTH)
    person = visit()
    page = person.page()
    open_link(page, link.rsplit(".", 1)[0])
    send(page)
    wait_for_title(page, "Will be sent at about")
    send_soon(page)
    wait_for_title(page, "Sent")
    posts = [one.url.removeprefix(shuffler.url) for one in person.asked if one.method == "POST"]
    assert posts == [f"/rounds/{found.id}/invitations/", f"/rounds/{found.id}/reports/"]
    page.reload()
    page.locator("#sending-words", has_text="You sent all your reports").wait_for()
    assert page.get_by_role("button", name="Blur and send").is_hidden()


@pytest.mark.long
def test_a_page_that_waits_for_the_opening_asks_then(invite, visit):
    page = visit().page()
    open_link(page, invite(opens_in=600, closes_in=900)[1])
    wait_for_title(page, "Not open yet")
    assert page.locator("#loading").is_hidden()
    page.clock.fast_forward(300_000)
    assert page.get_by_role("button", name="Blur and send").is_hidden()
    page.clock.fast_forward(300_000)
    page.get_by_role("button", name="Blur and send").wait_for()
    assert page.locator("#sending").is_hidden()


@pytest.mark.long
def test_facts_that_differ_between_the_roles_are_refused(roles, invite, visit):
    """A role that gives one person another key could tell that person from all others."""
    _, analyser = roles
    found, link = invite()
    other = Round(analyser_url=analyser.url)
    facts = json.loads(found.text)
    facts["analyser"]["key"] = other.facts()["analyser"]["key"]
    theirs = Round(analyser_url=analyser.url)
    theirs.text = canonical(facts)
    analyser.rounds[found.id] = theirs
    page = visit().page()
    open_link(page, link)
    page.get_by_text("say different things about it").wait_for()
    assert page.get_by_role("button", name="Blur and send").is_hidden()


@pytest.mark.long
def test_a_round_that_is_over_says_so_although_its_table_is_forgotten(invite, visit):
    found, link = invite(opens_in=-3600, closes_in=-1)
    found.table = b""
    page = visit().page()
    open_link(page, link)
    page.get_by_text("This round is over.").wait_for()


@pytest.mark.long
def test_a_round_that_its_analyser_cancelled_accuses_nobody(roles, invite, visit):
    found, link = invite()
    del roles[1].rounds[found.id]
    page = visit().page()
    open_link(page, link)
    page.get_by_text("This round was cancelled").wait_for()


@pytest.mark.long
def test_another_table_is_refused(invite, visit):
    found, link = invite()
    found.table = bytes(len(found.table))
    page = visit().page()
    open_link(page, link)
    page.get_by_text("The table of this round is not the one").wait_for()
    assert page.get_by_role("button", name="Blur and send").is_hidden()


@pytest.mark.long
@pytest.mark.parametrize("ending", ["", "#", "#nonsense", "#0f0f0f0f-0000-0000-0000-000000000000.x"])
def test_links_that_are_none_say_so(roles, visit, ending):
    page = visit().page()
    page.goto(f"{roles[0].url}/contribute/{ending}")
    page.get_by_text("Open the link" if len(ending) < 2 else "This link is not complete").wait_for()


@pytest.mark.long
def test_the_device_tells_its_place_and_a_town_is_found(roles, invite, visit):
    shuffler, _ = roles
    shuffler.files["places.json"] = json.dumps([{"name": "Mitte", "lat": 52.52, "lon": 13.4}]).encode()
    person = visit(geolocation={"latitude": 52.45, "longitude": 13.3}, permissions=["geolocation"])
    page = person.page()
    page.goto(invite()[1])
    page.get_by_role("button", name="Use this device").click()
    page.locator("#place-picture .own-place").wait_for()
    assert page.get_by_label("Latitude").input_value() == "52.45"
    page.get_by_label("or a town").fill("Mitte")
    assert page.get_by_label("Longitude").input_value() == "13.4"
    page.get_by_label("Latitude").fill("48")
    page.get_by_label("Latitude").press("Tab")
    page.get_by_text("outside the region").wait_for()
    del shuffler.files["places.json"]
