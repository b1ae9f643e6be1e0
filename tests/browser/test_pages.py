"""Every page in a browser: wide and narrow, light and dark, by keyboard, with names for all controls."""

import pytest

from tests.browser.chromium import ENDED

pytestmark = [pytest.mark.browser]

BOX = {"West": "2.05", "South": "41.30", "East": "2.30", "North": "41.50"}


@pytest.fixture(scope="module")
def slug(site, chromium):
    """A dataset of the REPLACE relation without data."""
    context = chromium.new_context(base_url=site.address)
    page = context.new_page()
    page.goto("/datasets/new/")
    page.get_by_label("Username").fill(site.username)
    page.get_by_label("Password").fill(site.password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Title").fill("A very long title of a panel: " + "unbreakable" * 7)
    for side, value in BOX.items():
        page.get_by_label(side, exact=True).fill(value)
    page.get_by_text("A person's record is exchanged").click()
    page.get_by_label("Declared number of persons, n").fill("2000")
    page.get_by_label("Address").fill("panel")
    page.get_by_role("button", name="Make the dataset").click()
    page.get_by_role("heading", name="A very long title").wait_for()
    context.close()
    return "panel"


@pytest.fixture
def addresses(slug):
    return [
        "/datasets/",
        "/datasets/new/",
        f"/datasets/{slug}/",
        f"/datasets/{slug}/releases/new/",
        f"/datasets/{slug}/releases/new/?mechanism=laplace&epsilon=30&resolution=256",
        f"/datasets/{slug}/releases/new/?mechanism=laplace&epsilon=3&resolution=256",
        f"/datasets/{slug}/ledger/",
        f"/datasets/{slug}/limits/radius/",
        "/help/",
    ]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_it_fits_its_window_and_names_its_controls(signed_in, addresses, fits, width, scheme):
    page = signed_in(width=width, scheme=scheme)
    for address in addresses:
        page.goto(address)
        fits(page)
        assert unnamed(page) == [], address
        assert page.locator("h1").count() == 1, address
        assert page.title().endswith("Hazemap")


def unnamed(page):
    """Controls without an accessible name."""
    return page.locator(
        "input:not([type=hidden]), select, textarea, button, a, iframe, progress"
    ).evaluate_all(
        """(all) => all.filter((one) => {
          const labels = [...(one.labels ?? [])].map((label) => label.textContent).join("");
          const image = one.querySelector?.("img[alt]")?.alt ?? "";
          return !(labels + one.textContent + image + (one.ariaLabel ?? "") + (one.title ?? "")).trim();
        }).map((one) => one.outerHTML)"""
    )


def test_it_paints_dark_where_dark_is_wanted(signed_in):
    grounds = [
        signed_in(scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    ]

    light, dark = (sum(map(int, ground[4:-1].split(","))) for ground in grounds)
    assert light > 600
    assert dark < 120


def test_it_is_walked_by_keyboard_with_a_visible_focus(signed_in):
    page = signed_in()

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.get_by_text("Skip to the content").bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "New dataset"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_it_shows_the_fields_of_the_chosen_relation_and_mechanism_only(signed_in, slug):
    page = signed_in()
    page.goto("/datasets/new/")
    assert page.get_by_label("Limit of presence ε").is_visible()
    assert not page.get_by_label("Radius", exact=True).is_visible()
    page.get_by_text("A person's record is exchanged").click()
    assert not page.get_by_label("Limit of presence ε").is_visible()
    assert page.get_by_label("Radius", exact=True).is_visible()

    page.goto(f"/datasets/{slug}/releases/new/")
    assert page.locator("[id='id_adaptive.expected_persons']").is_visible()
    page.get_by_text("Sparse reconstruction", exact=True).click()
    assert not page.locator("[id='id_adaptive.expected_persons']").is_visible()
    assert page.get_by_label("Squares kept a level").is_visible()
    page.locator("details.others > summary").first.click()
    page.get_by_text("Noise in every square, largest kept", exact=True).click()
    assert not page.get_by_label("Squares kept a level").is_visible()
    assert page.get_by_label("Squares kept", exact=True).is_visible()


def box_of(page):
    return [float(page.get_by_label(side, exact=True).input_value() or "nan") for side in BOX]


def drag(page, start, end):
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=4)
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def test_it_finds_a_place_and_puts_a_box_around_it(signed_in):
    page = signed_in()
    page.goto("/datasets/new/")

    page.get_by_label("Find a place").fill("Austin, US")
    page.get_by_label("Find a place").press("Enter")
    page.get_by_text("The map shows Austin").wait_for(state="attached")
    # Leaving the field asks again, and so does having typed, a little later.
    page.get_by_label("Find a place").press("Tab")
    page.wait_for_load_state("networkidle")
    assert "a box was put around it" in page.locator("#region-news").inner_text()

    west, south, east, north = box_of(page)
    assert west < -97.74 < east
    assert south < 30.27 < north
    page.locator("#region-map").get_by_text("Round Rock").wait_for()


def test_it_draws_moves_and_resizes_the_region_on_the_map(signed_in):
    page = signed_in()
    page.goto("/datasets/new/")
    ground = page.locator("#region-map")
    ground.scroll_into_view_if_needed()
    frame = ground.bounding_box()
    at = lambda x, y: (frame["x"] + x, frame["y"] + y)  # noqa: E731

    page.get_by_role("button", name="Draw a box").click()
    drag(page, at(300, 100), at(500, 250))
    drawn = box_of(page)
    assert drawn[0] < drawn[2]
    assert drawn[1] < drawn[3]

    drag(page, at(400, 177), at(450, 177))  # near the middle: the whole box moves
    moved = box_of(page)
    assert moved[0] > drawn[0] + 1
    assert moved[2] - moved[0] == pytest.approx(drawn[2] - drawn[0], abs=0.001)

    drag(page, at(550, 100), at(600, 80))  # the north-east corner
    resized = box_of(page)
    assert resized[2] > moved[2]
    assert resized[3] > moved[3]
    assert resized[:2] == pytest.approx(moved[:2], abs=0.001)


def test_it_takes_the_region_from_the_number_boxes(signed_in):
    page = signed_in()
    page.goto("/datasets/new/")
    for side, value in BOX.items():
        page.get_by_label(side, exact=True).fill(value)

    assert page.get_by_text("About 21 × 22 km.").is_visible()
    assert page.locator("#region-map .region-shape").count() == 1


def test_it_says_why_an_upload_is_refused(signed_in, slug, tmp_path):
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    path.write_text("nothing,of,this\n1,2,3\n")
    page = signed_in()
    page.goto(f"/datasets/{slug}/")

    page.get_by_label("Choose files").set_input_files(path)
    page.get_by_role("button", name="Upload").click()

    page.locator(ENDED.format("failed")).first.wait_for()
    assert page.locator(".uploads .note.bad").first.is_visible()
    assert page.get_by_text("<img src=x onerror=alert(1)>.csv").first.is_visible()
