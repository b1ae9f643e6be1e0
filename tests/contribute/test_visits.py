"""Over several visits: the same bytes until a receipt, no connection, another bundle, an emptied list."""

import re
import time

import pytest
from playwright.sync_api import expect

from tests.contribute.people import (
    MONTH,
    fill,
    open_link,
    records,
    send,
    send_soon,
    wait_for_title,
    wait_until_sent,
)
from tests.contribute.roles import files, opened

pytestmark = [pytest.mark.browser, pytest.mark.long]

# What became of the worker that this page installs.
SETTLED = """async () => {
  for (;;) {
    const found = await navigator.serviceWorker.getRegistration();
    if (found?.waiting) return "waits";
    if (found?.active && !found.installing) return "active";
    if (!found) return "none";
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
}"""
UPDATED = """async () => {
  const found = await navigator.serviceWorker.ready;
  await found.update();
  while (found.installing) await new Promise((resolve) => { setTimeout(resolve, 50); });
  return found.waiting ? "waits" : "none";
}"""


def reports(role, found):
    return [body for method, path, _, body in role.asked if method == "POST" and found.id in path]


def test_closing_the_page_after_the_draw_sends_the_same_bytes_later(roles, invite, visit):
    found, link = invite(closes_in=MONTH)
    person = visit()
    page = person.page()
    page.goto(link)
    send(page)
    wait_for_title(page, "Will be sent at about")
    (waiting,) = records(page)
    assert waiting["state"] == "sealed"
    assert found.opens_in < waiting["sendAt"] / 1000 - time.time() < MONTH - 60
    page.close()
    assert reports(roles[0], found) == []

    page = person.page()
    open_link(page, link)
    wait_for_title(page, "Will be sent at about")
    assert page.get_by_role("button", name="Blur and send").is_hidden()
    send_soon(page)
    wait_for_title(page, "Sent")
    assert reports(roles[0], found) == [bytes(waiting["packet"])]
    assert len(opened(found, bytes(waiting["packet"]))) == 1


def test_a_packet_without_a_receipt_is_sent_again_as_it_was(roles, invite, visit):
    shuffler, _ = roles
    found, link = invite(closes_in=MONTH)
    person = visit()
    page = person.page()
    open_link(page, link)
    shuffler.receives = False
    send(page)
    wait_for_title(page, "Will be sent at about")
    page.clock.fast_forward(1000 * MONTH)
    wait_for_title(page, "Not sent yet")
    page.reload()
    page.get_by_text("This round is over.").wait_for()  # by this device's clock
    shuffler.receives = True
    page.clock.fast_forward(1000 * MONTH)
    wait_for_title(page, "Sent")
    bodies = reports(shuffler, found)
    assert len(bodies) >= 2
    assert len(set(bodies)) == 1


def test_a_draw_that_broke_off_is_counted_and_seen_by_nobody(roles, invite, visit):
    found, link = invite("sgdl-shuffle", closes_in=MONTH)
    person = visit()
    page = person.page()
    page.goto(link)
    fill(page)
    # The page goes away while it seals: after the charge, before there is a packet.
    page.evaluate("() => { crypto.subtle.encrypt = () => new Promise(() => {}); }")
    page.get_by_role("button", name="Blur and send").click()
    wait_for_title(page, "Blurring and sealing")
    page.locator("#sealing").wait_for()
    page.close()
    page = person.page()
    open_link(page, link)
    page.get_by_text("Broke off before it was ready").wait_for()
    assert [record["state"] for record in records(page)] == ["broken"]
    send(page)
    wait_until_sent(page)
    page.get_by_text("2 reports in all").wait_for()
    assert len(reports(roles[0], found)) == 1


def test_two_windows_cannot_draw_twice_for_one_link(roles, invite, visit):
    _found, link = invite(closes_in=MONTH)
    person = visit()
    one, other = person.page(), person.page()
    for page in (one, other):
        page.goto(link)
        fill(page)
    one.get_by_role("button", name="Blur and send").click()
    wait_for_title(one, "Will be sent")
    other.get_by_role("button", name="Blur and send").click()
    wait_for_title(other, "Sent before")
    assert len(records(one)) == 1


def test_a_refusal_is_said_and_the_packet_forgotten(roles, invite, visit):
    _found, link = invite(closes_in=MONTH)
    page = visit().page()
    open_link(page, link[:-3] + "AAA")
    send(page)
    wait_for_title(page, "Will be sent at about")
    page.clock.fast_forward(1000 * MONTH)
    wait_for_title(page, "Not taken")
    page.get_by_text("not known to the shuffler").first.wait_for()
    (record,) = records(page)
    assert record["state"] == "refused"
    assert "packet" not in record


@pytest.mark.parametrize(("status", "code"), [(403, "unknown_invitation"), (410, "round_closed")])
def test_a_shuffler_that_refuses_and_keeps_gets_no_second_draw(roles, invite, visit, status, code):
    shuffler, _ = roles
    found, link = invite(closes_in=MONTH)
    person = visit()
    one, other = person.page(), person.page()
    for page in (one, other):
        open_link(page, link)
        fill(page)
    try:
        shuffler.refusal = (status, code)
        one.get_by_role("button", name="Blur and send").click()
        wait_for_title(one, "Will be sent at about")
        send_soon(one)
        wait_for_title(one, "Not taken")
    finally:
        shuffler.refusal = None
    other.get_by_role("button", name="Blur and send").click()
    wait_for_title(other, "Sent before")
    one.reload()
    wait_for_title(one, "Not taken")
    one.get_by_text("This invitation is used up").first.wait_for()
    assert one.get_by_role("button", name="Blur and send").is_hidden()
    assert len(records(one)) == 1
    assert len(set(reports(shuffler, found))) == 1


def test_it_opens_offline_after_the_first_visit(roles, invite, visit):
    _found, link = invite()
    person = visit()
    page = person.page()
    page.goto(link)
    page.evaluate("navigator.serviceWorker.ready")
    page.reload()
    page.get_by_role("button", name="Take part").wait_for()
    person.context.set_offline(True)
    page.reload()
    # Which of the two it says depends on whether this Chromium emulates `navigator.onLine` after a reload.
    page.get_by_text(re.compile("You are offline|Nothing can be sent now")).wait_for()
    expect(page.get_by_role("heading", name="Sent from this device")).to_be_visible()
    person.context.set_offline(False)


def test_a_page_that_changed_asks_before_it_is_used(roles, invite, visit):
    shuffler, _ = roles
    _found, link = invite()
    person = visit()
    page = person.page()
    page.goto(link)
    page.evaluate("navigator.serviceWorker.ready")
    page.reload()
    page.get_by_role("button", name="Take part").wait_for()
    old = page.locator("#page-hash").text_content()
    try:
        shuffler.files[""] = shuffler.files[""].replace(b"Who learns what", b"Who sees what")
        shuffler.files["service-worker.js"] += b"// another one\n"
        page.reload()
        page.get_by_role("heading", name="The page has changed").wait_for()
        assert page.locator("#changed-old").text_content() == old
        new = page.locator("#changed-new").text_content()
        assert new != old
        page.get_by_role("button", name="Keep the old one").click()
        assert page.evaluate(UPDATED) == "waits"
        page.close()
        page = person.page()
        page.goto(link)
        page.get_by_role("heading", name="The page has changed").wait_for()
        page.get_by_role("heading", name="Who learns what").wait_for()
        page.get_by_role("button", name="Use the new page").click()
        page.get_by_role("heading", name="Who sees what").wait_for()
        assert page.locator("#page-hash").text_content() == new
        assert page.get_by_role("heading", name="The page has changed").is_hidden()
    finally:
        shuffler.files = files()


def test_a_file_that_is_not_the_one_in_the_list_is_not_installed(roles, invite, visit):
    shuffler, _ = roles
    try:
        shuffler.listed = shuffler.manifest
        shuffler.files["words.js"] += b"\n"
        page = visit().page()
        page.goto(invite()[1])
        page.get_by_role("button", name="Take part").wait_for()
        assert page.evaluate(SETTLED) == "none"
        assert page.evaluate("import('./bundle_watch.js').then((one) => one.pinnedBundle())") == ""
    finally:
        shuffler.files, shuffler.listed = files(), None


def test_with_several_reports_a_link_still_counts_once(roles, invite, visit):
    _found, link = invite(closes_in=MONTH, changes={"reports_per_person": 2})
    person = visit()
    one, other = person.page(), person.page()
    for page in (one, other):
        page.goto(link)
        fill(page)
    one.get_by_role("button", name="Blur and send").click()
    wait_for_title(one, "Will be sent")
    other.get_by_role("button", name="Blur and send").click()
    wait_for_title(other, "Sent before")
    assert len(records(one)) == 1


def test_links_beyond_what_a_person_may_send_are_refused(roles, invite, visit):
    found, link = invite(closes_in=MONTH)
    person = visit()
    one, other = person.page(), person.page()
    for page, its_link in ((one, link), (other, roles[0].invite(found))):
        page.goto(its_link)
        fill(page)
    one.get_by_role("button", name="Blur and send").click()
    wait_for_title(one, "Will be sent")
    other.get_by_role("button", name="Blur and send").click()
    wait_for_title(other, "Sent before")
    assert len(records(one)) == 1


def test_a_page_that_the_analyser_does_not_know_is_said(invite, visit):
    page = visit().page()
    page.goto(invite(changes={"page_sha384": "A" * 64})[1])
    page.get_by_text("not the one that the analyser of this round knows").wait_for()


def test_emptying_the_list_forgets_all_and_sends_nothing(roles, invite, visit):
    found, link = invite(closes_in=MONTH)
    page = visit().page()
    page.goto(link)
    send(page)
    wait_for_title(page, "Will be sent")
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("summary", has_text="Leave").click()
    page.get_by_role("button", name="Empty this device").click()
    page.get_by_text("Nothing yet.").wait_for()
    assert records(page) == []
    assert reports(roles[0], found) == []
