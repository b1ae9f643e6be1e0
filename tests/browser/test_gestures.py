"""The wheel and one finger scroll the page; Ctrl, a click and two fingers are the map's."""

import pytest

from tests.browser.chromium import PATIENCE_MS
from tests.browser.test_names import document

pytestmark = [pytest.mark.browser]

VIEW = "document.querySelector('.leaflet-control-scale-line').textContent"
MIDDLE = "document.querySelector('.region-border').getBoundingClientRect().x"
LONG = """<style>.map-document { display: block; height: auto; padding-bottom: 3000px; }
.map-ground { height: 600px; }</style>"""
# A hint goes away by itself, maybe before it is looked for.
REMEMBER = """() => {
  const hint = document.querySelector(".gesture-hint");
  globalThis.told = [];
  new MutationObserver(() => hint.matches(".shown") && told.push(hint.textContent)).observe(
    hint, { attributes: true },
  );
}"""


@pytest.fixture
def opened(chromium):
    context = chromium.new_context(
        viewport={"width": 700, "height": 640}, reduced_motion="reduce", has_touch=True
    )

    def make(content):
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.set_content(content)
        page.evaluate(REMEMBER)
        page.mouse.move(350, 300)
        return page

    yield make
    context.close()


def test_the_wheel_scrolls_the_page_until_the_map_is_meant(opened):
    page = opened(document() + LONG)
    view = page.evaluate(VIEW)
    page.mouse.wheel(0, 100)
    page.wait_for_function("scrollY === 100")
    was_told(page, "to zoom")
    page.mouse.wheel(0, -100)
    page.wait_for_function("scrollY === 0")
    assert page.evaluate(VIEW) == view

    page.keyboard.down("Control")
    zoomed(page, view)
    page.keyboard.up("Control")

    page.mouse.click(350, 300)
    zoomed(page, page.evaluate(VIEW))
    page.mouse.move(350, 639)
    page.mouse.move(350, 300)
    page.mouse.wheel(0, 100)
    page.wait_for_function("scrollY === 100")


def test_one_finger_scrolls_the_page(opened):
    page = opened(document() + LONG)
    before = page.evaluate(MIDDLE)
    touch(page, *([(350, y)] for y in (400, 380, 340, 300, 250)))
    page.wait_for_function("scrollY > 100")
    was_told(page, "two fingers")
    assert page.evaluate(MIDDLE) == pytest.approx(before, abs=2)  # of a half pixel while it is laid out


def test_two_fingers_move_the_map(opened):
    page = opened(document() + LONG)
    before = page.evaluate(MIDDLE)
    touch(page, *([(x, 300), (x + 100, 300)] for x in (200, 240, 280)))
    page.wait_for_function(f"{MIDDLE} > {before} + 40")


def was_told(page, words):
    page.wait_for_function("words => told.some((hint) => hint.includes(words))", arg=words)


def touch(page, *moments):
    """With fingers at these places, and then none."""
    hand = page.context.new_cdp_session(page)
    for event, places in zip(["touchStart", *["touchMove"] * (len(moments) - 1)], moments, strict=True):
        points = [{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(places)]
        hand.send("Input.dispatchTouchEvent", {"type": event, "touchPoints": points})
    hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_map_alone_on_its_page_takes_the_wheel(opened):
    page = opened(document())
    zoomed(page, page.evaluate(VIEW))


def zoomed(page, before):
    """By the wheel; the page stays."""
    page.mouse.wheel(0, -300)
    page.wait_for_function(f"before => {VIEW} !== before", arg=before)
    assert page.evaluate("scrollY") == 0
