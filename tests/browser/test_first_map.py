"""From home without a dataset to a public map of an uploaded file: how many clicks and words that takes."""

import csv
import io
from urllib.parse import urlsplit

import numpy as np
import pytest

from tests.browser.chromium import ENDED
from tests.browser.test_walk import NARROW
from tests.pages.word_count import words_of

pytestmark = [pytest.mark.browser]

MOST_CLICKS = 8
MOST_WORDS = 900
NEWCOMER = """
from django.contrib.auth.models import User
User.objects.create_user("{name}", password="{password}")
"""
PASSWORD = "walks all the way"


class Way:
    """What somebody presses and may read. The largest of each page counts, whatever is folded or unseen."""

    def __init__(self, page):
        self.page, self.clicks, self.words = page, 0, {}

    def look(self):
        path = urlsplit(self.page.url).path
        words = words_of(self.page.content(), apart={"map-table", "region-map"})
        self.words[path] = max(self.words.get(path, 0), len(words))

    def click(self, role, name):
        target = self.page.get_by_role(role, name=name, exact=True)
        target.wait_for()
        self.look()
        target.click()
        self.clicks += 1

    def enter(self, box, text):
        """Enter is a click, too."""
        box.fill(text)
        box.press("Enter")
        self.clicks += 1


@pytest.fixture
def newcomer(open_page, site):
    """Home of somebody without a dataset: as in an installation without any."""

    def make(width):
        name = f"newcomer-{width}"
        site.installation.manage("shell", "-c", NEWCOMER.format(name=name, password=PASSWORD))
        page = open_page(width=width)
        page.goto("/")
        page.get_by_label("Username").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("heading", name="Welcome to Hazemap").wait_for()
        return page

    return make


def rows():
    """Check-ins of 300 made-up people in Austin."""
    rng, lines = np.random.default_rng(1), io.StringIO()
    writer = csv.writer(lines)
    writer.writerow(("user", "lat", "lon"))
    for person in range(300):
        for lat, lon in rng.normal((30.27, -97.74), 0.03, (5, 2)):
            writer.writerow((f"p{person}", f"{lat:.5f}", f"{lon:.5f}"))
    return lines.getvalue().encode()


@pytest.mark.parametrize("width", [1280, pytest.param(NARROW, marks=pytest.mark.long)])
def test_a_first_public_map_takes_few_clicks_and_words(newcomer, fits, width, record_property):
    page = newcomer(width)
    way = Way(page)
    way.click("link", "New dataset")
    page.get_by_label("Title").fill(f"First at {width}")
    way.enter(page.get_by_role("combobox", name="Find a place"), "austin")
    page.get_by_text("a box was put around it").wait_for()
    fits(page)
    way.click("button", "Make the dataset")
    page.get_by_role("listitem").and_(page.locator("[aria-current=step]")).get_by_text("File").wait_for()
    fits(page)
    page.get_by_label("Choose files").set_input_files(  # as one that is dropped there
        {"name": "austin.csv", "mimeType": "text/csv", "buffer": rows()}
    )
    way.click("button", "Upload")
    page.locator(ENDED.format("ready")).wait_for()
    fits(page)
    way.click("link", "Ask for a map")
    way.click("button", "Spend and publish")
    page.locator("iframe").wait_for()
    way.click("link", "Make it public")
    way.click("button", "Make it public")
    page.get_by_text("Anyone can read this map now.").wait_for()
    way.look()

    record_property("clicks", way.clicks)
    record_property("words", way.words)
    assert way.clicks <= MOST_CLICKS
    assert sum(way.words.values()) <= MOST_WORDS, way.words
