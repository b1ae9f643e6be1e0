"""The standalone page opened in Chromium from a file, with the network blocked."""

import pytest

from tests.browser.chromium import PATIENCE_MS
from tests.exports.examples import ATTACK, make_released, written

pytestmark = pytest.mark.browser

LIES_IN_THE_BORDER = """shown => {
  const [image, border] = ["." + shown, ".region-border"].map((name) =>
    document.querySelector(name).getBoundingClientRect());
  return image.width > 50 && ["left", "top", "right", "bottom"].every((side) =>
    Math.abs(image[side] - border[side]) < 4);
}"""


@pytest.fixture
def opened(chromium, tmp_path):
    """The page of a released map, and what it asked for and complained of."""
    contexts = []

    def make(released, scheme="light", width=1200):
        path = tmp_path / "map.html"
        path.write_bytes(written(".html", released))
        context = chromium.new_context(
            offline=True, color_scheme=scheme, viewport={"width": width, "height": 900}
        )
        contexts.append(context)
        seen = []
        context.on("request", lambda request: seen.append(request.url))
        context.on("console", lambda message: seen.append(message.text))
        context.on("weberror", lambda error: seen.append(str(error.error)))
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(path.as_uri())
        page.locator(".leaflet-image-layer").first.wait_for(state="attached")
        page.locator(".region-border").wait_for(state="attached")
        found = [entry for entry in seen if not entry.startswith("data:")]
        return page, found, path.as_uri()

    yield make
    for context in contexts:
        context.close()


@pytest.mark.parametrize(("scheme", "shown"), [("light", "for-light"), ("dark", "for-dark")])
def test_it_draws_the_map_and_asks_for_nothing(opened, scheme, shown):
    page, seen, address = opened(make_released(), scheme=scheme)
    assert seen == [address]
    drawn = page.locator(f".leaflet-image-layer.{shown}")
    drawn.wait_for()
    page.wait_for_function("shown => document.querySelector('.' + shown).naturalWidth === 8", arg=shown)
    page.wait_for_function(LIES_IN_THE_BORDER, arg=shown)  # once the zoom to the region has ended
    assert page.locator(".leaflet-image-layer:visible").count() == 1
    assert page.locator(".legend-classes li").count() >= 3
    assert page.locator("tbody tr").count() == 4


def test_it_shows_cells_in_the_colours_of_its_legend(opened):
    page, _, _ = opened(make_released())
    strongest = page.locator(".legend-classes .swatch").first.evaluate(
        "swatch => getComputedStyle(swatch).backgroundColor"
    )
    pixel = page.locator(".leaflet-image-layer.for-light").evaluate(
        """async (image) => {
          await image.decode();
          const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
          const context = canvas.getContext("2d");
          context.drawImage(image, 0, 0);
          return [...context.getImageData(image.naturalWidth - 1, 0, 1, 1).data].slice(0, 3);
        }"""
    )
    assert strongest == f"rgb({pixel[0]}, {pixel[1]}, {pixel[2]})"  # the north-east corner is the densest


def test_it_runs_nothing_that_people_typed(opened):
    page, seen, address = opened(make_released(title=ATTACK))
    assert page.title() == ATTACK
    assert page.get_by_role("heading", level=1).inner_text() == ATTACK
    assert seen == [address]


def test_its_policy_stops_a_script_that_is_put_in_later(opened):
    page, _, _ = opened(make_released())
    page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.owned = 1';"
        "document.body.append(s); new Image().src = 'http://127.0.0.1:9/x.png'; }"
    )
    assert page.evaluate("window.owned") is None


def test_it_fits_a_narrow_window(opened):
    page, _, _ = opened(make_released(title="W" * 120), width=360)
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
