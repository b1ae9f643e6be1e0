"""The contributors' page for everybody: axe, keyboard alone, 320 pixels, light and dark."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from tests.contribute.people import MONTH, PLACE, open_link, send, wait_for_title

pytestmark = [pytest.mark.browser, pytest.mark.long]

LOOKS = [(1280, "light"), (1280, "dark"), (360, "dark"), (320, "light")]
FAULTS = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.map(
  ({ id, nodes }) => [id, nodes.map(({ target, failureSummary }) => [target, failureSummary]).slice(0, 3)])"""
BEYOND = "document.documentElement.scrollWidth - window.innerWidth"


def faults(page):
    found = []
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [(width, scheme, *fault) for fault in page.evaluate(FAULTS)]
        if page.evaluate(BEYOND) > 0:
            found.append((width, scheme, "wider than its window", page.evaluate(BEYOND)))
    return found


@pytest.fixture
def looked_at(visit):
    person = visit()
    person.context.add_init_script(AXE_SCRIPT)
    return person.page()


@pytest.mark.parametrize("mechanism", ["planar-geometric", "frequency", "geo-shuffle", "shuffle-emd"])
def test_axe_finds_nothing_before_and_after_sending(looked_at, invite, mechanism):
    page = looked_at
    open_link(page, invite(mechanism, closes_in=MONTH, changes={"page_sha384": "A" * 64})[1])
    page.locator("#example-picture > *").first.wait_for()
    page.locator("#unknown-page").wait_for()
    page.get_by_role("button", name="Blur and send").click()
    page.get_by_text("Type a latitude").wait_for()
    page.evaluate("document.getElementById('changed').hidden = false")
    page.get_by_label("Latitude").fill("52.5")
    page.get_by_label("Longitude").fill("13.5")
    assert faults(page) == []
    send(page)
    wait_for_title(page, "Will be sent")
    assert faults(page) == []


def test_axe_finds_nothing_where_nothing_can_be_done(looked_at, roles, invite):
    found, link = invite()
    other, _ = invite()
    roles[1].rounds[found.id] = other
    looked_at.goto(link)
    looked_at.get_by_text("say different things").wait_for()
    assert faults(looked_at) == []


def test_long_words_do_not_widen_the_page(looked_at, invite):
    changes = {"title": "Spaziergangswege" * 8, "question": "x" * 300}
    looked_at.goto(invite(changes=changes, operators=("Operator" * 14, "Other" * 20))[1])
    looked_at.locator("#example-picture > *").first.wait_for()
    assert faults(looked_at) == []


def test_it_works_by_the_keyboard_alone(visit, invite):
    page = visit().page()
    open_link(page, invite(closes_in=MONTH)[1])
    page.get_by_role("button", name="Take part").wait_for()
    address = page.url
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the link to the content, which leaves the round's link alone
    assert page.url == address
    assert page.evaluate("document.activeElement.id") == "main"
    reach(page, "start")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "place"
    reach(page, "lat")
    page.keyboard.type(PLACE[0])
    page.keyboard.press("Tab")
    page.keyboard.type(PLACE[1])
    reach(page, "send")
    page.keyboard.press("Enter")
    page.get_by_text("Tick the box first").wait_for()
    assert page.evaluate("document.activeElement.id") == "consent"
    page.keyboard.press("Space")
    reach(page, "send")
    page.keyboard.press("Enter")
    wait_for_title(page, "Will be sent")
    reach(page, "sooner")
    page.keyboard.press("Enter")
    page.clock.fast_forward(61_000)
    wait_for_title(page, "Sent")


def test_what_happens_is_said_to_who_does_not_see_it(visit, invite):
    page = visit().page()
    open_link(page, invite(closes_in=MONTH)[1])
    page.get_by_role("img", name="An example place in the middle").wait_for()
    page.get_by_role("button", name="Draw three others").click()
    page.get_by_role("status").filter(has_text="Three others were drawn").wait_for(state="attached")
    page.get_by_role("button", name="Blur and send").click()
    page.get_by_role("alert").filter(has_text="Type a latitude").wait_for()
    assert page.get_by_label("Latitude").get_attribute("aria-invalid") == "true"
    send(page)
    page.get_by_role("status").filter(has_text="Will be sent at about").wait_for(state="attached")


def reach(page, name):
    """By Tab, as far as it takes."""
    for _ in range(30):
        if page.evaluate("document.activeElement.id") == name:
            return
        page.keyboard.press("Tab")
    pytest.fail(f"#{name} is not reached by the keyboard")
