"""The part of the data on the page of a new release: on its map, in its boxes, by keyboard, in the quote."""

import pytest

from tests.browser.chromium import PATIENCE_MS

pytestmark = [pytest.mark.browser]

BOX = {"West": "2.05", "South": "41.30", "East": "2.30", "North": "41.50"}


@pytest.fixture(scope="module")
def address(site, chromium):
    """The page of a new release of a dataset without data."""
    context = chromium.new_context(base_url=site.address)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto("/datasets/new/")
    page.get_by_label("Username").fill(site.username)
    page.get_by_label("Password").fill(site.password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Title").fill("Parts")
    for side, value in BOX.items():
        page.get_by_label(side, exact=True).fill(value)
    page.get_by_role("button", name="Make the dataset").click()
    page.get_by_role("heading", name="Parts").wait_for()
    context.close()
    return "/datasets/parts/releases/new/"


def box_of(page):
    return [page.get_by_label(side, exact=True).input_value() for side in BOX]


def unfold(page):
    page.get_by_role("button", name="Choose a part").press("Enter")
    # Unfolded, the map is fitted to the region; a moment before, the border is a point of a map of the world.
    border = page.locator("#region-map .region-border")
    border.wait_for()
    while border.bounding_box()["height"] <= 100:
        page.wait_for_timeout(50)


def test_it_draws_a_rectangle_inside_the_region_and_quotes_it(signed_in, address):
    page = signed_in()
    page.goto(address)
    assert page.locator("#region-map").count() == 0
    unfold(page)
    ground = page.locator("#region-map")
    ground.scroll_into_view_if_needed()
    frame = ground.bounding_box()
    border = page.locator("#region-map .region-border").bounding_box()
    assert frame["y"] < border["y"]

    page.get_by_role("button", name="Draw a box").click()
    page.mouse.move(frame["x"] + 5, frame["y"] + 5)  # from outside the region, which ends nearer the middle
    page.mouse.down()
    page.mouse.move(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2, steps=4)
    page.mouse.up()
    west, south, east, north = map(float, box_of(page))
    assert (west, north) == (2.05, 41.5)  # cut at the region's border, exactly
    assert 2.05 < east < 2.3
    assert 41.3 < south < 41.5

    page.get_by_label("From", exact=True).fill("2026-03-01")
    page.get_by_text("from 2026-03-01 00:00 on UTC").wait_for()
    assert list(map(float, box_of(page))) == [west, south, east, north]
    assert page.locator("#region-map .region-shape").count() == 1

    page.get_by_role("button", name="Clear the box").click()
    assert box_of(page) == ["", "", "", ""]
    assert page.locator("#region-map .region-shape").count() == 0


def fits_wide_and_narrow(page, fits):
    for width, scheme in ((1280, "light"), (360, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        fits(page)


def test_it_is_typed_by_keyboard_and_refused_beside_its_field(signed_in, address, fits):
    page = signed_in(width=360, scheme="dark")
    page.goto(address)
    unfold(page)
    for side, value in zip(BOX, ("2.1", "41.35", "2.4", "41.4"), strict=True):
        page.get_by_label(side, exact=True).fill(value)
    page.get_by_label("North", exact=True).press("Enter")
    refusal = page.get_by_text(
        "2.4 is not allowed here. Allowed: a number of degrees inside the region: 2.05 to 2.3"
    )
    refusal.wait_for()
    fits_wide_and_narrow(page, fits)
    page.get_by_label("East", exact=True).fill("2.2")
    page.get_by_text("latitude 41.35° to 41.4°, longitude 2.1° to 2.2°").wait_for()
    fits_wide_and_narrow(page, fits)
