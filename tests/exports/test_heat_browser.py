"""The heat of a released map in Chromium: what is drawn, what is read by pointer and keys, what is chosen."""

import pytest
from playwright.sync_api import expect

from tests.exports.examples import make_released
from tests.exports.test_html_browser import LIES_IN_THE_BORDER, opened  # noqa: F401 - one is a fixture

pytestmark = pytest.mark.browser

# Many people in the middle of the region, hardly anybody in the south-west.
CROWD = {(3, 4, 4): (900.0, 10.0), (3, 3, 4): (300.0, 10.0), (1, 0, 0): (1.0, 3.0)}
DEVIATIONS = [10.0, 10.0, 3.0]


@pytest.fixture
def page(opened):  # noqa: F811
    page, seen, address = opened(make_released(CROWD, deviations=DEVIATIONS))
    assert seen == [address]
    wait_for_heat(page)
    return page


def wait_for_heat(page):
    """And for the end of the zoom to the region, in which places move."""
    page.locator(".heat-bar").wait_for()
    page.wait_for_function(LIES_IN_THE_BORDER, arg="heat")


def pixel(page, x, y):
    """Where shares of the region's width and height lie on the page, from the top left."""
    box = page.locator(".region-border").bounding_box()
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def point(page, x, y):
    page.mouse.move(*pixel(page, x, y))


def test_people_are_seen_where_they_are_and_read_with_their_error(page):
    point(page, 0.56, 0.44)
    told = page.locator(".readout")
    told.wait_for()
    value, error = told.locator("b").inner_text().removesuffix(" people per km²").split(" ± ")
    assert 0 < float(error) < float(value) / 3
    assert len(value.split(".")[-1]) == len(error.split(".")[-1])
    point(page, 0.1, 0.9)
    told.locator("b", has_text="Not clearly above zero").wait_for()
    point(page, -0.2, 0.5)
    told.wait_for(state="hidden")


def test_the_middle_of_the_map_is_read_by_arrow_keys(page):
    page.locator(".leaflet-container").focus()
    page.keyboard.press("ArrowRight")
    page.locator(".readout").wait_for()
    before = page.locator(".readout b").inner_text()
    assert before in page.locator("[aria-live=polite].spoken").inner_text()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "before => document.querySelector('.readout b').textContent !== before", arg=before
    )


def test_the_layers_are_chosen_by_keyboard(page):
    page.get_by_text("Layers").focus()
    page.keyboard.press("Enter")
    assert page.get_by_role("radio", name="Heat").is_checked()
    assert not page.locator(".cells.for-light").is_visible()
    page.get_by_role("radio", name="Heat").focus()
    page.keyboard.press("ArrowDown")
    assert page.get_by_role("radio", name="Squares as released").is_checked()
    page.locator(".cells.for-light").wait_for()
    assert not page.locator("img.heat").is_visible()
    page.get_by_role("complementary", name="Legend", exact=True).wait_for()
    page.keyboard.press("ArrowDown")
    page.get_by_role("heading", name="How sure the map is").wait_for()


def test_a_wider_gaussian_is_stated_and_drawn(page):
    page.get_by_text("Layers").click()
    before = page.locator("img.heat").get_attribute("src")
    slider = page.get_by_role("slider", name="Smoothed over")
    told = slider.get_attribute("aria-valuetext")
    assert f"Smoothed over {told}." in page.locator(".heat-legend").inner_text()
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    wider = slider.get_attribute("aria-valuetext")
    assert wider != told
    page.locator(".heat-legend", has_text=f"Smoothed over {wider}.").wait_for()  # with the next frame
    page.wait_for_function("before => document.querySelector('img.heat').src !== before", arg=before)


def test_a_link_opens_the_map_as_it_was_seen(page):
    """Layer, width and areas too; a link that is damaged changes nothing and says why."""
    address = page.url
    page.get_by_text("Layers").click()
    page.get_by_role("radio", name="How sure").check()
    page.get_by_role("slider", name="Smoothed over").press("ArrowRight")
    page.get_by_text("People in an area").click()
    page.get_by_label("Areas as GeoJSON").fill(DISTRICTS)
    page.get_by_role("button", name="Add these areas").click()
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_url("**#map=*areas=*")
    link, width = page.url, page.get_by_role("slider", name="Smoothed over").get_attribute("aria-valuetext")
    rows = page.locator(".sums tbody tr").all_inner_texts()

    page.goto("about:blank")
    page.goto(link)
    page.get_by_role("heading", name="How sure the map is").wait_for()
    page.locator(".heat-legend", has_text=f"Smoothed over {width}.").wait_for()
    assert page.locator(".area").count() == 2
    page.get_by_text("People in an area").click()
    assert page.locator(".sums tbody tr").all_inner_texts() == rows
    assert page.url == link
    page.goto(link.replace("layer=sure", "layer=everything"))
    told = page.get_by_role("alert").filter(has_text="This link cannot be shown")
    told.wait_for()
    assert "it is of another map" in told.inner_text()
    page.get_by_role("heading", name="How sure the map is").wait_for()
    page.goto(f"{address}#content")
    assert page.locator(".area").count() == 2


def test_a_map_without_stated_errors_has_no_heat(opened):  # noqa: F811
    page, _, _ = opened(make_released())
    assert page.locator("img.heat").count() == 0
    page.locator(".cells.for-light").wait_for()


def test_the_map_fills_the_screen_by_keys_and_comes_back(page):
    button = page.get_by_role("button", name="Full screen")
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.fullscreenElement?.matches('.map-frame')")
    page.wait_for_function("() => innerHeight === document.querySelector('.map-frame').clientHeight")
    expect(button).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Enter")
    page.wait_for_function("() => !document.fullscreenElement")
    expect(button).to_have_attribute("aria-pressed", "false")  # the browser tells the page in its next frame


DISTRICTS = """{"type": "FeatureCollection", "features": [
  {"type": "Feature", "properties": {"name": "North"}, "geometry":
    {"type": "Polygon", "coordinates": [[[-40, 21.5], [-38, 21.5], [-38, 23], [-40, 23], [-40, 21.5]]]}},
  {"type": "Feature", "properties": {"name": "=South"}, "geometry":
    {"type": "Polygon", "coordinates": [[[-40, 20], [-38, 20], [-38, 21.5], [-40, 21.5], [-40, 20]]]}}]}"""


def test_people_in_districts_are_added_up_by_keyboard(page):
    """The squares of the crowd lie just north of the middle; errors are those of whole squares."""
    page.get_by_text("People in an area").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Areas as GeoJSON").fill(DISTRICTS)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    rows = page.locator(".sums tbody tr")
    rows.nth(1).wait_for()
    assert [rows.nth(index).locator("th, td").all_inner_texts()[:4] for index in (0, 1)] == [
        ["North", "1,200", "29", "99.9 %"],
        ["=South", "1.0", "6.0", "0.0833 %"],
    ]
    page.locator(".sums thead button").nth(1).focus()
    page.keyboard.press("Enter")
    assert rows.nth(0).locator("th").inner_text() == "=South"
    page.get_by_label("Areas as GeoJSON").fill("{")
    page.get_by_role("button", name="Add these areas").click()
    assert "not valid JSON" in page.get_by_role("alert").inner_text()
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="CSV").click()
    lines = downloaded.value.path().read_text().splitlines()
    assert lines[0] == "area,people,within,share"
    assert lines[1].startswith('"\'=South",1,6,')  # no program takes it for a formula


def told_of(page, name):
    """Value and error of the area of that name, once it was drawn."""
    line = page.locator(".sums .told", has_text=f"{name}: ")
    line.wait_for(state="attached")
    told = line.text_content()
    value, error = told.split(": ")[1].split(" people")[0].split(" ± ")
    return float(value.replace(",", "")), float(error.replace(",", ""))


def touch(page, *places):
    """One finger from the first place to the last."""
    fingers = page.context.new_cdp_session(page)
    for event, (x, y) in zip(["touchStart", *["touchMove"] * (len(places) - 1)], places, strict=True):
        left, top = pixel(page, x, y)
        fingers.send("Input.dispatchTouchEvent", {"type": event, "touchPoints": [{"x": left, "y": top}]})
    fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_boxes_and_polygons_are_drawn_by_mouse_and_touch(page):
    page.get_by_text("People in an area").click()
    page.get_by_role("button", name="Draw a box").click()
    point(page, 0.45, 0.3)
    page.mouse.down()
    point(page, 0.8, 0.55)
    page.mouse.up()
    value, error = told_of(page, "Box 1")
    assert 850 < value < 1_200
    assert error > 0
    page.get_by_role("button", name="Draw a box").click()
    touch(page, (0.45, 0.3), (0.6, 0.5), (0.8, 0.55))
    assert told_of(page, "Box 2") == pytest.approx((value, error), rel=0.05)
    page.get_by_role("button", name="Draw a polygon").click()
    for corner in [(0.45, 0.3), (0.8, 0.3), (0.8, 0.55)]:
        touch(page, corner)
    page.mouse.click(*pixel(page, 0.45, 0.55), click_count=2)
    assert told_of(page, "Polygon 3") == pytest.approx((value, error), rel=0.05)
    areas = page.locator(".area")
    assert areas.count() == 3
    page.get_by_role("button", name="Remove Box 2").click()
    assert areas.count() == page.locator(".sums tbody tr").count() == 2
    page.get_by_role("button", name="Remove all").click()
    assert areas.count() == 0
    for left in (2, 3, 2):  # what was removed comes back; then the polygon goes that was drawn last
        page.get_by_role("button", name="Undo").click()
        assert areas.count() == page.locator(".sums tbody tr").count() == left
    assert not page.get_by_role("button", name="Remove Polygon 3").is_visible()


def test_areas_are_drawn_by_keys_on_a_map_that_does_not_glide(page):
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    page.get_by_text("People in an area").click()
    page.get_by_role("button", name="Draw a polygon").focus()
    for key in ["Enter", " ", "ArrowRight", " ", "ArrowDown", " ", "ArrowLeft", " ", "ArrowUp", "Backspace"]:
        page.keyboard.press(key)
    page.locator(".drawing-bar p", has_text="3 corners left.").wait_for()
    page.keyboard.press("Enter")
    polygon, _ = told_of(page, "Polygon 1")
    page.get_by_role("button", name="Draw a box").focus()
    for key in ["Enter", " ", "ArrowRight", "ArrowDown", " "]:
        page.keyboard.press(key)
    box, _ = told_of(page, "Box 2")
    assert 0 < polygon < box
    page.get_by_role("button", name="Draw a polygon").focus()
    for key in ["Enter", " ", "Escape"]:
        page.keyboard.press(key)
    assert page.locator(".area").count() == 2
    assert not page.locator(".drawing-bar").is_visible()


def test_a_small_window_has_room_for_the_map_and_for_the_table_of_an_area(opened):  # noqa: F811
    """Buttons stand beside the region, wide enough for a finger; an open panel is as wide as the map."""
    page, _, _ = opened(make_released(CROWD, deviations=DEVIATIONS), width=360)
    wait_for_heat(page)
    buttons = ".leaflet-top .leaflet-bar :is(a, button, summary, input)"
    sizes = page.locator(buttons).evaluate_all(
        "found => found.filter((one) => one.checkVisibility()).map((one) => {"
        " const { width, height, left } = one.getBoundingClientRect(); return [width, height, left]; })"
    )
    assert len(sizes) >= 6
    assert min(size for width, height, _ in sizes for size in (width, height)) >= 40
    border = page.locator(".region-border").bounding_box()
    assert border["x"] + border["width"] <= max(left for _, _, left in sizes)

    page.get_by_text("People in an area").click()
    page.get_by_label("Areas as GeoJSON").fill(DISTRICTS)
    page.get_by_role("button", name="Add these areas").click()
    panel, ground = (page.locator(one).bounding_box() for one in (".sums", ".leaflet-container"))
    assert (panel["x"], panel["width"]) == (ground["x"], ground["width"])
    assert panel["y"] >= ground["y"]
    table = page.locator(".sums table")
    assert table.evaluate("one => one.scrollWidth <= one.parentElement.clientWidth")
    table.scroll_into_view_if_needed()
    page.get_by_role("button", name="Remove =South").wait_for()
