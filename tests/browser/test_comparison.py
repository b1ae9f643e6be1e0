"""Which of two months was busier there? Answered by pointer and by keyboard, without an account."""

import math

import pytest
from django.urls import reverse

pytestmark = pytest.mark.browser

# The north-west, where people left, and the south-east, where they stayed.
AREAS = """{"type": "FeatureCollection", "features": [
  {"type": "Feature", "properties": {"name": "North-west"}, "geometry":
    {"type": "Polygon", "coordinates": [[[0.1, 0.7], [0.3, 0.7], [0.3, 0.9], [0.1, 0.9], [0.1, 0.7]]]}},
  {"type": "Feature", "properties": {"name": "South-east"}, "geometry":
    {"type": "Polygon", "coordinates": [[[0.7, 0.1], [0.9, 0.1], [0.9, 0.3], [0.7, 0.3], [0.7, 0.1]]]}}]}"""
CLEAR = -math.log(0.05) / 2**0.5  # errors, of the less clear of two areas
LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1280, "light"),
        pytest.param(1280, "dark", marks=LONG),
        pytest.param(360, "light", marks=LONG),
        pytest.param(360, "dark", marks=LONG),
    ],
)
def test_it_tells_which_month_was_busier_there(open_page, months, fits, width, scheme):
    page = open_page(width=width, scheme=scheme)
    page.goto(reverse("release", args=[months["2026-04"]]))
    page.get_by_role("link", name="Compare").click()
    fits(page)
    page.get_by_role("listitem").filter(has_text="May 2026").get_by_role("link").click()
    page.get_by_role("heading", name="April 2026 and May 2026").wait_for()
    fits(page)
    page.locator("iframe").scroll_into_view_if_needed()
    frame = page.frame_locator("iframe")
    frame.locator(".heat-bar").wait_for()
    by_pointer(page, frame)
    by_keyboard(page, frame)
    assert frame.locator("html").evaluate("page => page.scrollWidth - window.innerWidth") <= 0


def by_pointer(page, frame):
    line = frame.get_by_role("slider", name="Line between April 2026")
    box = line.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] - 60, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    assert int(line.get_attribute("aria-valuenow")) < 48
    frame.locator(".compare-views").get_by_text("Difference").click()
    frame.get_by_role("heading", name="May 2026 compared with April 2026").wait_for()
    assert frame.get_by_text("fewer", exact=False).count() >= 1
    assert "Clearly fewer: -" in told_at(page, frame, 0.2, 0.2)
    assert "No clear change: " in told_at(page, frame, 0.8, 0.8)
    frame.get_by_text("Side by side").click()
    frame.get_by_role("region", name="Map of May 2026").wait_for()


def told_at(page, frame, x, y):
    """What is said at shares of the region's width and height, from the top left."""
    border = frame.locator(".folium-map:not(.beside) .region-border").bounding_box()
    page.mouse.move(border["x"] + x * border["width"], border["y"] + y * border["height"])
    return frame.locator(".folium-map:not(.beside) .readout b").inner_text()


def by_keyboard(page, frame):
    frame.get_by_role("radio", name="Side by side").focus()
    page.keyboard.press("ArrowLeft")
    line = frame.get_by_role("slider", name="Line between April 2026")
    line.focus()
    before = int(line.get_attribute("aria-valuenow"))
    page.keyboard.press("PageUp")
    assert int(line.get_attribute("aria-valuenow")) == before + 10
    page.keyboard.press("Home")
    assert line.get_attribute("aria-valuetext") == "0 % April 2026"
    frame.get_by_text("People in an area").focus()
    page.keyboard.press("Enter")
    frame.get_by_label("Areas as GeoJSON").fill(AREAS)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    rows = frame.locator("#areas tbody tr")
    rows.nth(1).wait_for()
    frame.locator("#areas thead button").nth(3).focus()
    page.keyboard.press("Enter")
    assert rows.locator("th").all_inner_texts() == ["North-west", "South-east"]
    said = rows.locator("td").filter(has_text="lear").all_inner_texts()
    with page.expect_download() as downloaded:
        frame.get_by_role("button", name="CSV").press("Enter")
    lines = downloaded.value.path().read_text().splitlines()
    assert lines[0] == "area,one,one_within,other,other_within,difference,within,change"
    name, one, _, other, _, difference, within, change = lines[1].split(",")
    # Noise alone takes equal crowds 2.1 errors apart, where a change is clear, in one of some hundred draws.
    *_, apart, two_errors, _ = lines[2].split(",")
    errors = 2 * float(apart) / float(two_errors)
    noise = "Clearly more" if errors > 0 else "Clearly fewer"
    assert said == ["Clearly fewer", "No clear change" if abs(errors) < CLEAR else noise]
    assert abs(errors) < 6  # eight times as far as noise usually takes them
    assert (name, change) == ('"North-west"', '"fewer"')
    assert float(difference) == pytest.approx(float(other) - float(one))
    assert float(difference) == pytest.approx(-500, abs=2 * float(within))
