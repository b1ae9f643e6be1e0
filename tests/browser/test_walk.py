"""The whole way of a person, in a browser: sign in, dataset, upload, quote, release, map, ledger."""

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pytest

from tests.browser.chromium import ENDED, PATIENCE_MS
from tests.browser.conftest import real_data

pytestmark = [pytest.mark.browser]

AUSTIN = {"West": "-98.3", "South": "29.8", "East": "-97.3", "North": "31.0"}


@pytest.fixture(scope="session")
def check_ins(tmp_path_factory):
    """Real check-ins where there are some, else 300 made-up persons in two clusters of the same box."""
    if real_data():
        return Path(real_data()) / "gowalla_u5628.csv.gz"
    rng = np.random.default_rng(1)
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow(("user", "time", "lat", "lon"))
    for person in range(300):
        for _ in range(rng.integers(1, 20)):
            middle = (30.27, -97.74) if rng.random() < 0.7 else (30.5, -97.68)
            lat, lon = rng.normal(middle, 0.02)
            writer.writerow((f"p{person}", "", f"{lat:.5f}", f"{lon:.5f}"))
    path = tmp_path_factory.mktemp("data") / "made-up.csv.gz"
    path.write_bytes(gzip.compress(lines.getvalue().encode()))
    return path


@pytest.mark.parametrize("width", [1280, pytest.param(360, marks=pytest.mark.long)])
def test_it_leads_from_signing_in_to_the_charge_in_the_ledger(signed_in, check_ins, colours_of, fits, width):
    page = signed_in(width=width)
    fits(page)

    make_dataset(page, f"Austin at {width}")
    fits(page)

    upload(page, check_ins)
    fits(page)

    ask_for_the_cost(page)
    fits(page)
    assert page.get_by_label("Cost: presence (ε)").locator("dd").all_inner_texts() == [
        "1.25",
        "4",
        "2.75",
        "4",
    ]

    page.get_by_role("button", name="Spend and publish").click()
    page.locator("iframe").wait_for()  # the page of the queued release shows the map by itself
    fits(page)
    assert_map_is_drawn(page, colours_of)
    assert page.get_by_role("table").first.locator("tbody tr").count() > 3

    page.get_by_role("link", name="In the ledger").click()
    page.locator("tbody").get_by_text("Release published").wait_for()
    assert page.get_by_text("The chain verifies").is_visible()
    assert page.get_by_text("charge to presence (ε): 1.25").is_visible()
    fits(page)


def make_dataset(page, title):
    page.get_by_role("link", name="New dataset").click()
    page.get_by_label("Title").fill(title)
    for side, value in AUSTIN.items():
        page.get_by_label(side, exact=True).fill(value)
    assert page.get_by_text("About 96 × 133 km.").is_visible()
    page.get_by_label("Expected number of persons").fill("5000")
    page.get_by_role("button", name="Make the dataset").click()
    page.get_by_role("heading", name=title).wait_for()


def upload(page, path):
    page.get_by_label("Choose files").set_input_files(path)
    page.get_by_role("button", name="Upload").click()
    page.locator(ENDED.format("ready")).wait_for(timeout=3 * PATIENCE_MS)
    assert page.locator(".uploads").get_by_text("in version 1").is_visible()


def ask_for_the_cost(page):
    page.get_by_role("link", name="New release").click()
    page.get_by_label("ε of this release").fill("1.25")
    page.get_by_role("button", name="Show the cost").click()
    page.get_by_role("heading", name="What this release costs").wait_for()


def assert_map_is_drawn(page, colours_of):
    """Pixels of the map have the colours that its legend gives to classes with mass."""
    page.locator("iframe").scroll_into_view_if_needed()
    frame = page.frame_locator("iframe")
    drawn = frame.locator(".folium-map")
    frame.locator("img.cells.for-light").wait_for()
    page.wait_for_timeout(500)  # Leaflet fades its layers in
    found = colours_of(drawn.screenshot())
    swatches = frame.locator(".swatch:not(.class-0)").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one).backgroundColor)"
    )
    shown = [colour for colour in map(hexadecimal, swatches) if found.get(colour, 0) > 10]
    assert len(shown) >= 3, (swatches, sorted(found.items(), key=lambda item: -item[1])[:8])
    assert frame.get_by_text("Austin", exact=True).is_visible()


def hexadecimal(rgb):
    return "#{:02x}{:02x}{:02x}".format(
        *(int(part) for part in rgb.removeprefix("rgb(").rstrip(")").split(","))
    )
