"""The built manual: nothing inline, nothing foreign; in Chromium it is searched, and is looked at by axe."""

import re

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from tests.browser.chromium import PATIENCE_MS, Chromium
from tests.services.programs import found_or_skip

pytestmark = [pytest.mark.long, pytest.mark.browser]
INLINE = re.compile(r"<script>|<script(?![^>]*\b(?:src=|type=.application/json))|<style|\sstyle=|\son\w+=")
FOREIGN = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//""")
MARKDOWN = re.compile(r"\n(?:- |\d+\. |\| )[^\n]{0,60}|\*\*|```|\]\(")
PAGES = ("", "reference/commands.html", "explanation/epsilon.html")
LOOKS = ((1280, "light"), (360, "dark"))
VIOLATIONS = (
    "addEventListener('securitypolicyviolation', (event) => console.error("
    "'policy violation', event.violatedDirective, event.blockedURI))"
)


@pytest.fixture(scope="module")
def address(manual, world, tmp_path_factory):
    """Of a server that has the manual."""
    facts = {"settings": "tests.manual.settings", "others": {"TESTS_MANUAL": str(manual)}}
    with world.installation(tmp_path_factory.mktemp("site"), **facts).serving() as server:
        yield server.address


@pytest.fixture
def page(address):
    """A page of Chromium in the manual; at the end nothing was complained of, or came from elsewhere."""
    found_or_skip(Chromium)
    complaints, asked = [], []
    with Chromium.started() as browser:
        context = browser.new_context(base_url=f"{address}/help/manual/")
        context.add_init_script(VIOLATIONS)
        context.add_init_script(AXE_SCRIPT)
        context.on("console", lambda told: complaints.append(told.text) if told.type != "log" else None)
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        context.on("request", lambda request: asked.append(request.url))
        found = context.new_page()
        found.set_default_timeout(PATIENCE_MS)
        yield found
    assert complaints == []
    assert asked
    assert [url for url in asked if not url.startswith((f"{address}/", "data:"))] == []


def test_its_pages_have_nothing_inline_and_nothing_foreign(manual):
    pages = {path.relative_to(manual): path.read_text() for path in manual.rglob("*.html")}

    assert len(pages) > 20
    assert {name: INLINE.findall(text) for name, text in pages.items() if INLINE.search(text)} == {}
    assert {name: FOREIGN.findall(text) for name, text in pages.items() if FOREIGN.search(text)} == {}


def test_no_markdown_is_left_in_its_text(manual):
    """Lists and blocks that begin where the manual's Markdown, unlike others, does not see them."""
    left = []
    for path in manual.rglob("*.html"):
        article = path.read_text().partition("<article")[2].partition("</article>")[0]
        text = re.sub(r"<(code|pre)\b.*?</\1>", "", article, flags=re.DOTALL)
        left += [(str(path.relative_to(manual)), found) for found in MARKDOWN.findall(text)]
    assert left == []


def test_it_has_what_the_program_says_of_itself(manual):
    commands = (manual / "reference" / "commands.html").read_text()

    assert 'id="heatmap"' in commands
    assert 'id="shuffler-enrol"' in commands
    assert "HAZEMAP_SLOT_SECONDS" in (manual / "reference" / "settings.html").read_text()
    assert "sparse-emd" in (manual / "reference" / "mechanisms.html").read_text()
    assert "/api/v1/plans/" in (manual / "reference" / "api.html").read_text()


def test_it_is_read_and_searched(page):
    for address in PAGES:
        page.goto(address)
        for width, scheme in LOOKS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            beyond = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert beyond <= 0, (address, width)
            assert faults(page) == [], (address, width)

    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("textbox", name="Search").press_sequentially("retention")
    page.locator(".md-search-result__link").first.click()
    page.wait_for_url("**?h=**")
    assert "retention" in page.locator("article").inner_text().lower()


def test_a_newcomers_words_find_what_to_do(page):
    """The first pages that are found, by the addresses of their first results."""
    missed = {}
    for words, wanted in NEWCOMERS.items():
        page.goto("")
        page.get_by_role("textbox", name="Search").press_sequentially(words)
        page.locator(".md-search-result__link").first.wait_for()
        found = page.locator(".md-search-result__item > a:first-child").evaluate_all(
            "links => links.map(link => new URL(link.href).pathname.split('/manual/')[1])"
        )
        missed |= {} if wanted in found[:3] else {words: found[:6]}
    assert missed == {}


NEWCOMERS = {
    "epsilon": "explanation/epsilon.html",
    "password": "how-to/sign-in.html",
    "2FA": "how-to/sign-in.html",
    "login": "how-to/sign-in.html",
    "backup": "how-to/backup.html",
    "QGIS": "how-to/gis.html",
    "delete": "how-to/delete.html",
    "uninstall": "how-to/delete.html",
    "install": "tutorials/administrator.html",
    "invite": "how-to/people.html",
    "export": "reference/files.html",
}


def test_it_turns_dark_by_a_button(page):
    page.emulate_media(color_scheme="light")
    page.goto("")
    light = page.evaluate(BACKGROUND)
    page.get_by_title("Show the manual dark").click()
    page.wait_for_function(f"{BACKGROUND} !== '{light}'")
    page.goto("explanation/epsilon.html")
    assert page.evaluate(BACKGROUND) != light
    page.locator("img[src$='worlds-dark.svg#only-dark']").wait_for()
    assert not page.locator("img[src$='worlds-light.svg#only-light']").is_visible()


BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def faults(page):
    """What axe calls serious or critical on a page as it stands."""
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        (fault["id"], [node["target"] for node in fault["nodes"]][:3])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]
