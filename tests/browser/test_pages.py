"""Every page in a browser: wide and narrow, light and dark, by keyboard, with names for all controls."""

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import ENDED, PATIENCE_MS

pytestmark = [pytest.mark.browser]

BOX = {"West": "2.05", "South": "41.30", "East": "2.30", "North": "41.50"}


@pytest.fixture(scope="module")
def slug(site, chromium):
    """A dataset of the REPLACE relation without data."""
    context = chromium.new_context(base_url=site.address)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto("/datasets/new/")
    page.get_by_label("Username").fill(site.username)
    page.get_by_label("Password").fill(site.password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Title").fill("A very long title of a panel: " + "unbreakable" * 7)
    for side, value in BOX.items():
        page.get_by_label(side, exact=True).fill(value)
    page.get_by_text("Who is enrolled is known").click()
    page.get_by_label("Declared number of people, n").fill("2000")
    page.get_by_role("button", name="More settings").click()
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
        f"/datasets/{slug}/releases/",
        f"/datasets/{slug}/data/",
        f"/datasets/{slug}/budget/",
        f"/datasets/{slug}/releases/new/",
        f"/datasets/{slug}/releases/new/?mechanism=laplace&epsilon=30&resolution=256",
        f"/datasets/{slug}/releases/new/?mechanism=laplace&epsilon=3&resolution=256",
        f"/datasets/{slug}/ledger/",
        f"/datasets/{slug}/limits/radius/",
        "/help/",
    ]


def test_it_fits_its_window_and_names_its_controls(signed_in, addresses, fits):
    page = signed_in()
    for address in addresses:
        page.goto(address)
        for width, scheme in ((1280, "light"), (360, "dark")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            fits(page)
            assert unnamed(page) == [], (address, width)
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
    page.get_by_label("Limit of presence ε").wait_for()
    assert not page.get_by_label("Radius", exact=True).is_visible()
    page.get_by_label("Limit of presence ε").fill("0.5")
    assert page.locator("[data-for=add_remove] .unit").inner_text() == "strong"
    page.get_by_text("Who is enrolled is known").click()
    assert not page.get_by_label("Limit of presence ε").is_visible()
    page.get_by_label("Radius", exact=True).wait_for()

    page.goto(f"/datasets/{slug}/releases/new/")
    assert page.get_by_role("radio").count() == 0
    page.get_by_role("button", name="Choose another method").click()
    page.get_by_text("Sparse reconstruction", exact=True).click()
    page.get_by_label("Squares kept a level").wait_for()
    page.locator("details.others > summary").first.click()
    page.get_by_text("Noise in every square, largest kept", exact=True).click()
    page.get_by_label("Squares kept", exact=True).wait_for()
    assert not page.get_by_label("Squares kept a level").is_visible()


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

    search, news = page.get_by_role("combobox", name="Find a place"), page.locator("#place-news")
    search.fill("Austin, US")
    search.press("Enter")
    news.get_by_text("The map shows Austin; a box was put around it. About 26 × 26 km.").wait_for()
    page.wait_for_load_state("networkidle")
    assert page.get_by_role("listbox", name="Places").is_hidden()

    assert box_of(page) == pytest.approx([-97.88, 30.15, -97.61, 30.38], abs=0.02)
    page.locator("#region-map").get_by_text("Pflugerville").wait_for()

    search.fill("helsi")  # another city replaces a box that nobody touched
    page.get_by_role("option", name="Helsingborg").wait_for()
    search.press("ArrowUp")
    search.press("ArrowDown")
    assert page.locator("#place-list [aria-selected=true]").inner_text().startswith("Helsinki")
    page.get_by_role("option", name="Helsingborg").click()
    news.get_by_text("The map shows Helsingborg").wait_for()
    helsingborg = box_of(page)
    assert helsingborg[0] < 12.7 < helsingborg[2]

    page.get_by_label("North", exact=True).fill("56.2")
    search.fill("no such city")
    news.get_by_text("No place named “no such city”.").wait_for()
    search.press("Escape")
    assert search.input_value() == ""
    search.fill("tokyo")  # as does one after a box that was typed, which is one step back
    search.press("Enter")
    news.get_by_text("The map shows Tokyo; a box was put around it. About").wait_for()
    tokyo = box_of(page)
    assert tokyo[0] < 139.69 < tokyo[2]
    page.get_by_role("button", name="Undo").press("Enter")
    assert box_of(page) == [*helsingborg[:3], 56.2]
    assert is_in_view(page)
    page.get_by_role("button", name="Undo").press("Enter")
    assert box_of(page) == helsingborg


def is_in_view(page):
    """The whole box, larger than a speck."""
    page.wait_for_function(
        """() => {
          const [box, map] = [".region-shape", "#region-map"].map((one) => document.querySelector(one));
          const [inner, outer] = [box.getBoundingClientRect(), map.getBoundingClientRect()];
          return inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top
            && inner.bottom <= outer.bottom && inner.height > outer.height / 8;
        }"""
    )
    return True


def test_it_draws_moves_and_resizes_the_region_on_the_map(signed_in):
    page = signed_in()
    page.goto("/datasets/new/")
    ground = page.locator("#region-map")
    ground.scroll_into_view_if_needed()
    frame = ground.bounding_box()
    at = lambda x, y: (frame["x"] + x, frame["y"] + y)  # noqa: E731

    page.get_by_role("button", name="Draw a box").click()
    drag(page, at(200, 100), at(400, 250))
    drawn = box_of(page)
    assert drawn[0] < drawn[2]
    assert drawn[1] < drawn[3]

    drag(page, at(300, 177), at(350, 177))  # near the middle: the whole box moves
    moved = box_of(page)
    assert moved[0] > drawn[0] + 1
    assert moved[2] - moved[0] == pytest.approx(drawn[2] - drawn[0], abs=0.001)

    drag(page, at(450, 100), at(500, 80))  # the north-east corner
    resized = box_of(page)
    assert resized[2] > moved[2]
    assert resized[3] > moved[3]
    assert resized[:2] == pytest.approx(moved[:2], abs=0.001)


def test_it_takes_the_region_from_the_number_boxes(signed_in):
    page = signed_in()
    page.goto("/datasets/new/")
    for side, value in BOX.items():
        page.get_by_label(side, exact=True).fill(value)

    page.get_by_text("About 21 × 22 km.").wait_for()
    assert is_in_view(page)  # though the last box still has the focus

    page.get_by_label("West", exact=True).fill("175")
    page.get_by_text("West must be less than east").wait_for()
    assert page.locator("#region-map .region-shape").count() == 0

    copied = "-98.3, 29.8, -97.3, 31.0"
    page.get_by_label("South", exact=True).evaluate(
        """(box, text) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text", text);
          box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
        }""",
        copied,
    )
    assert box_of(page) == [-98.3, 29.8, -97.3, 31]
    page.get_by_text("About 96 × 133 km.").wait_for()
    assert is_in_view(page)


def test_it_is_drawn_by_keys(signed_in):
    page = signed_in()
    page.goto("/datasets/new/")
    page.locator("#region-map").focus()
    scale = page.locator("#region-map .leaflet-control-scale-line")
    before = scale.inner_text()
    page.keyboard.press("+")
    expect(scale).not_to_have_text(before)  # the map goes nearer in the browser's next frame, not before
    page.get_by_role("button", name="Use this view").press("Enter")
    seen = box_of(page)
    assert is_in_view(page)

    corner = page.get_by_role("button", name="South-west corner")
    corner.press("ArrowLeft")
    corner.press("ArrowDown")
    moved = box_of(page)
    assert moved[2:] == seen[2:]
    assert moved[0] < seen[0]
    assert moved[1] < seen[1]
    page.get_by_role("button", name="Undo").press("Enter")
    assert box_of(page) == seen

    for side, value in {"West": "170", "South": "0", "East": "179", "North": "5"}.items():
        page.get_by_label(side, exact=True).fill(value)
    middle = page.get_by_role("button", name="Middle of the box")
    middle.press("ArrowRight")
    moved = box_of(page)
    assert moved[2] <= 180
    for _ in range(20):
        middle.press("ArrowRight")
    assert box_of(page)[2] == 180
    assert box_of(page)[2] - box_of(page)[0] == pytest.approx(9, abs=0.001)  # whole, at the edge


def test_it_says_why_an_upload_is_refused(signed_in, slug, tmp_path):
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    path.write_text("nothing,of,this\n1,2,3\n")
    page = signed_in()
    page.goto(f"/datasets/{slug}/data/")

    page.get_by_label("Choose files").set_input_files(path)
    page.get_by_role("button", name="Upload").click()

    page.locator(ENDED.format("failed")).first.wait_for()
    page.locator(".uploads .note.bad").first.wait_for()
    page.get_by_text("<img src=x onerror=alert(1)>.csv").first.wait_for()
