"""The whole way of a person, in a browser: sign in, dataset, upload, quote, release, map, ledger."""

import csv
import gzip
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.browser import tasks
from tests.browser.chromium import ENDED, PATIENCE_MS
from tests.browser.conftest import real_data, sign_in
from tests.browser.elsewhere import Website
from tests.geojson import box, districts

pytestmark = [pytest.mark.browser]

HALVES = json.dumps(
    districts(
        West=box(-98.3, 29.8, -97.74, 31), East=box(-97.74, 29.8, -97.3, 31), Far=box(-90.5, 29.8, -90, 30)
    )
).encode()
NARROW, SCREEN = 360, 900  # pixels: a width and a height
AUSTIN = {"West": "-98.3", "South": "29.8", "East": "-97.3", "North": "31.0"}


@pytest.fixture(scope="session")
def check_ins(tmp_path_factory):
    """Real check-ins where there are some, else 2,000 made-up persons in two clusters of the same box.

    Of 300 persons, one map in twelve shows squares of two classes only.
    """
    if real_data():
        return Path(real_data()) / "gowalla_u5628.csv.gz"
    rng = np.random.default_rng(1)
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow(("user", "time", "lat", "lon"))
    for person in range(2_000):
        for _ in range(rng.integers(1, 20)):
            middle = (30.27, -97.74) if rng.random() < 0.7 else (30.5, -97.68)
            lat, lon = rng.normal(middle, 0.02)
            writer.writerow((f"p{person}", "", f"{lat:.5f}", f"{lon:.5f}"))
    path = tmp_path_factory.mktemp("data") / "made-up.csv.gz"
    path.write_bytes(gzip.compress(lines.getvalue().encode()))
    return path


@pytest.fixture
def websites():
    """One that a steward lists, and one that he does not."""
    with Website().running() as listed, Website().running() as other:
        yield listed, other


@pytest.fixture(scope="module")
def address(chromium, site, check_ins):
    """Of a released map and a stored file of districts."""
    context = chromium.new_context(base_url=site.address)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    sign_in(page, site)
    make_dataset(page, "Austin for readers")
    upload(page, check_ins)
    ask_for_the_cost(page)
    page.get_by_role("button", name="Spend and publish").click()
    page.locator("iframe").wait_for()
    release = page.url.split("#")[0]
    store_districts(page)
    context.close()
    return release


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, NARROW])
def test_readers_in_the_dark_find_what_they_came_for(signed_in, address, width):
    page = signed_in(width=width, scheme="dark")
    page.goto(address)
    tasks.find_what_readers_come_for(page)


@pytest.mark.parametrize("width", [1280, pytest.param(NARROW, marks=pytest.mark.long)])
def test_it_leads_from_signing_in_to_the_charge_in_the_ledger_and_to_other_websites(
    signed_in, check_ins, *, chromium, websites, colours_of, fits, width
):
    page = signed_in(width=width, by_form=True)
    fits(page)

    make_dataset(page, f"Austin at {width}")
    fits(page)

    upload(page, check_ins)
    fits(page)

    ask_for_the_cost(page)
    fits(page)
    cost = page.get_by_label("Cost: presence (ε)").locator("dd")
    assert cost.all_inner_texts() == ["1.25", "4 of 4", "2.75"]

    page.get_by_role("button", name="Spend and publish").click()
    page.locator("iframe").wait_for()  # the page of the queued release shows the map by itself
    fits(page)
    assert_map_is_drawn(page, colours_of)
    assert page.get_by_role("table").first.locator("tbody tr").count() > 3
    is_short(page)

    embed_elsewhere(page, chromium, *websites)
    fits(page)
    if width == NARROW:
        prints_on_one_page(page)
    adds_up_districts(page)
    fits(page)
    page.goto(page.url.split("#")[0])
    tasks.find_what_readers_come_for(page)

    page.get_by_role("link", name="In the ledger").click()
    page.locator("tbody").get_by_text("Release published").wait_for()
    page.get_by_text("The chain verifies").wait_for()
    charge = page.get_by_text("charge to presence (ε): 1.25")
    if not charge.count():  # the latest events fill the first page
        page.get_by_role("link", name="Earlier").click()
    charge.wait_for()
    fits(page)


def is_short(page):
    """At most three screens of 900 px, and where the window is wide all that matters on the first one."""
    assert page.evaluate("document.documentElement.scrollHeight") <= 3 * SCREEN
    if page.viewport_size["width"] > NARROW:
        parts = page.locator("iframe"), page.get_by_role("region", name="What this map promises")
        ends = [box["y"] + box["height"] for box in (part.bounding_box() for part in parts)]
        assert max(ends) + page.evaluate("window.scrollY") <= SCREEN


def adds_up_districts(page):
    """A file that the steward stores: at one press of a key on the map, and as a table beside it."""
    release = page.url.split("#")[0]
    store_districts(page)

    page.goto(release)
    beside = page.get_by_role("table").filter(has_text="Halves, the most people first")
    beside.wait_for()
    page.get_by_text("Districts: City of Austin, 2026.").wait_for()
    frame = page.frame_locator("iframe")
    frame.get_by_text("People in an area").press("Enter")
    frame.get_by_role("button", name="Add Halves").press("Enter")
    table = frame.get_by_role("table").filter(has_text="19 times in 20")
    table.get_by_role("rowheader", name="East").wait_for()
    frame.get_by_text("Halves: 2 areas added; the others lie outside this map").wait_for()
    assert frame.locator("path.area").count() == 2
    assert cells(table) == cells(beside)
    table.get_by_role("button", name="Area").press("Enter")
    assert [row[0] for row in cells(table)] == ["East", "West"]
    frame.get_by_role("button", name="Add Halves").press("Enter")
    frame.get_by_role("alert").get_by_text("Halves: added already.").wait_for()


def store_districts(page):
    """In the dataset of the release that is looked at, for everybody to see."""
    page.get_by_role("navigation", name="Where this page is").get_by_role("link").last.click()
    page.get_by_role("link", name="Data", exact=True).click()
    page.get_by_role("link", name="Add and change districts").click()
    file = {"name": "halves.geojson", "mimeType": "application/geo+json", "buffer": HALVES}
    page.get_by_label("GeoJSON file").set_input_files(file)
    page.get_by_label("Title").fill("Halves")
    page.get_by_label("Source").fill("City of Austin, 2026")
    page.get_by_label("This file is public").check()
    page.get_by_role("button", name="Add file").click()
    page.get_by_text("Halves is stored.").wait_for()


def cells(table):
    """Name, people, error and share of each row."""
    rows = table.locator("tbody tr")
    return [rows.nth(at).locator("th, td").all_inner_texts()[:4] for at in range(rows.count())]


def make_dataset(page, title):
    page.get_by_role("link", name="New dataset").click()
    page.get_by_label("Title").fill(title)
    for side, value in AUSTIN.items():
        page.get_by_label(side, exact=True).fill(value)
    page.get_by_text("About 96 × 133 km.").wait_for()
    page.get_by_role("button", name="More settings").click()
    page.get_by_label("Expected number of people").fill("5000")
    page.get_by_role("button", name="Make the dataset").click()
    page.get_by_role("heading", name=title).wait_for()


def upload(page, path):
    page.get_by_label("Choose files").set_input_files(path)
    page.get_by_role("button", name="Upload").click()
    page.locator(ENDED.format("ready")).wait_for(timeout=3 * PATIENCE_MS)
    page.locator(".uploads").get_by_text("in version 1").wait_for()


def ask_for_the_cost(page):
    page.get_by_role("link", name="Ask for a map").click()
    page.get_by_label("ε of this release").fill("1.25")
    page.locator("#quote[data-epsilon='1.25']").wait_for()


def assert_map_is_drawn(page, colours_of):
    """It opens as heat; pixels of its squares have the colours that the legend gives to classes with mass."""
    page.locator("iframe").scroll_into_view_if_needed()
    frame = page.frame_locator("iframe")
    drawn = frame.locator(".folium-map")
    frame.locator("img.heat").wait_for()
    frame.get_by_role("heading", name="People per km²").wait_for()
    frame.get_by_text("Layers").click()
    frame.get_by_role("radio", name="Squares as released").check()
    frame.get_by_text("Layers").click()
    frame.locator("img.cells.for-light").wait_for()
    swatches = frame.locator(".swatch:not(.class-0, .class-1)").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one).backgroundColor)"
    )
    for _ in range(40):
        page.wait_for_timeout(500)  # Leaflet fades its layers in
        found = colours_of(drawn.screenshot())
        shown = [colour for colour in map(hexadecimal, swatches) if found.get(colour, 0) > 10]
        if len(shown) >= 3:
            break
    assert len(shown) >= 3, (swatches, sorted(found.items(), key=lambda item: -item[1])[:8])
    frame.get_by_text("Austin", exact=True).wait_for()
    find_a_place(frame)


def find_a_place(frame):
    """By keys: the map goes there and says what is there; of what lies elsewhere it says so."""
    search = frame.get_by_role("combobox", name="Find a place on this map")
    search.focus()
    search.press_sequentially("round")
    frame.get_by_role("option", name="Round Rock Texas, United States", exact=True).wait_for()
    search.press("ArrowDown")
    assert search.get_attribute("aria-activedescendant") == "map-place-list-0"
    search.press("Enter")
    frame.get_by_text("The map shows Round Rock.").wait_for()
    assert frame.locator(".readout b").inner_text().startswith("Round Rock:")
    assert frame.locator(".spoken").inner_text().startswith("Round Rock:")
    search.fill("helsinki")
    search.press("Enter")
    frame.get_by_text("Helsinki lies outside this map.").wait_for()


def embed_elsewhere(page, chromium, listed, other):
    """The steward lists a website, makes the map public and copies its code: it is shown there alone."""
    address = page.url
    page.get_by_role("link", name="Choose who may embed").click()
    page.get_by_label("Websites").fill(listed.origin)
    page.get_by_label("Reason").fill("for the article")
    page.get_by_role("button", name="Save").click()
    page.goto(address)
    page.get_by_role("link", name="Make it public").click()
    page.get_by_role("button", name="Make it public").click()
    listed.body = other.body = copied_code(page)

    context = chromium.new_context(storage_state=page.context.storage_state())
    reader = context.new_page()
    reader.set_default_timeout(PATIENCE_MS)
    answers = []
    context.on("response", lambda answer: answers.append(answer.all_headers()))
    reader.goto(listed.origin)
    frame = reader.frame_locator("iframe")
    frame.locator("img.heat").wait_for()
    frame.get_by_role("heading", name="People per km²").wait_for()
    frame.get_by_text("Austin", exact=True).wait_for()
    assert reader.frames[1].evaluate("document.cookie") == ""
    assert not [name for headers in answers for name in headers if name == "set-cookie"]
    with context.expect_page() as opened:
        frame.get_by_role("link", name="All it promises").click()
    opened.value.get_by_role("heading", name="What this map promises").wait_for()
    with context.expect_event("console", lambda message: "frame-ancestors" in message.text):
        reader.goto(other.origin)
    assert reader.frame_locator("iframe").locator(".leaflet-container").count() == 0
    context.close()


def copied_code(page):
    """As it is after the reader moved the map: link, code and address of the page name the same view."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    frame = page.frame_locator("iframe")
    frame.locator("img.heat").wait_for()
    frame.get_by_role("button", name="Zoom in").click()
    page.wait_for_url("**/#map=*")
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("Link copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.get_by_role("button", name="Copy embed code").click()
    page.get_by_text("Embed code copied").wait_for()
    code = page.evaluate("navigator.clipboard.readText()")
    assert code.startswith("<iframe ")
    assert page.url.split("#")[1] in code
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Copy citation").click()
    page.get_by_text("Press Ctrl+C").wait_for()
    assert page.get_by_label("To copy by hand").input_value().endswith(page.url.split("#")[0])
    return code


def prints_on_one_page(page):
    """Map, legend, promise and sheet, in the colours of paper whatever those of the screen are."""
    page.get_by_role("link", name="Print sheet").click()
    page.frame_locator("iframe").locator("img.heat").wait_for()
    page.get_by_role("heading", name="What is promised").wait_for()
    page.emulate_media(media="print", color_scheme="dark")
    ground = "getComputedStyle(document.querySelector('{}')).backgroundColor"
    assert page.evaluate(ground.format(".card")) == "rgb(255, 255, 255)"
    assert page.frames[1].evaluate(ground.format("body")) == "rgb(255, 255, 255)"
    page.emulate_media(media="null", color_scheme="light")
    assert len(re.findall(rb"/Type /Page\b", page.pdf(prefer_css_page_size=True))) == 1
    page.go_back()


def hexadecimal(rgb):
    return "#{:02x}{:02x}{:02x}".format(
        *(int(part) for part in rgb.removeprefix("rgb(").rstrip(")").split(","))
    )
