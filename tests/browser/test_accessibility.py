"""axe-core finds nothing on any page: wide and narrow, light and dark."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.template.loader import render_to_string

from heatmaps.views import urls
from heatmaps.views.account import sign_in_urls
from tests.browser import pages as all_pages
from tests.browser.chromium import PATIENCE_MS

pytestmark = [pytest.mark.browser]

WIDE_LIGHT, NARROW_DARK = (1280, "light"), (360, "dark")
OPTIONS = {"resultTypes": ["violations"]}
# Colours that are still on their way to the other scheme would be measured half-way.
RUN = """async (options) => {
  await Promise.all(document.getAnimations().filter((one) => one instanceof CSSTransition)
    .map((one) => one.finished.catch(() => {})));
  return axe.run(document, options);
}"""
ERRORS = {
    "400.html": {},
    "403_csrf.html": {},
    "413.html": {"most": "2 GB"},
    "500.html": {},
    "on_hold.html": {"cause": "the database was restored from a backup"},
}


@pytest.fixture(scope="module")
def looked_at(site):
    """Names for addresses and sessions of an installation with everything in it."""
    return site.installation.script("populate", package="tests.browser")


@pytest.fixture(scope="module")
def page_of(chromium, site, request):
    """A page of somebody's own, with axe in it and in its frames."""
    made = {}

    def make(who):
        if who not in made:
            context = chromium.new_context(base_url=site.address, reduced_motion="reduce")
            if who != "anonymous":
                sessions = request.getfixturevalue("looked_at")["sessions"]
                cookie = {"name": "sessionid", "value": sessions[who], "url": site.address}
                context.add_cookies([cookie])
            context.add_init_script(AXE_SCRIPT)
            made[who] = context.new_page()
            made[who].set_default_timeout(PATIENCE_MS)
        return made[who]

    yield make
    for page in made.values():
        page.context.close()


def faults(page, *looks):
    """What axe finds on a page as it stands, in windows of these widths and schemes."""
    found = []
    for width, scheme in looks:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        beyond = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        if beyond > 0:
            found.append((width, scheme, f"{beyond} px wider than its window", "serious", []))
        result = page.evaluate(RUN, OPTIONS)
        found += [
            (width, scheme, fault["id"], fault["impact"], [node["target"] for node in fault["nodes"]][:3])
            for fault in result["violations"]
        ]
    return found


def opened(page, one):
    page.emulate_media(color_scheme="light")
    page.goto(one.address)
    if one.submits:
        for selector, text in one.fills.items():
            page.locator(selector).fill(text)
        with page.expect_navigation():
            page.locator(one.submits).first.evaluate("form => HTMLFormElement.prototype.submit.call(form)")
    if page.locator("iframe").count():
        page.frame_locator("iframe").locator(".leaflet-container").first.wait_for()
    if one.name == "api:docs":
        page.get_by_text("/api/v1/datasets/").first.wait_for()
    page.locator("#quote[aria-busy]").wait_for(state="detached")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


@pytest.mark.long
def test_axe_finds_nothing_on_any_page(page_of, looked_at):
    """Each width and each scheme once: contrast is a matter of the scheme, places one of the width."""
    found = {}
    for one in all_pages.pages(looked_at["named"]):
        page = page_of(one.who)
        opened(page, one)
        if fault := faults(page, WIDE_LIGHT, NARROW_DARK):
            found[f"{one.name} for {one.who}: {one.address} {one.submits}"] = fault
    assert found == {}


@pytest.mark.long
def test_axe_finds_nothing_while_a_cost_is_worked_out(page_of, looked_at):
    page, answer = page_of("analyst"), "**/releases/new/?*live=1*"
    page.goto(f"/datasets/{looked_at['named']['dataset']}/releases/new/")
    page.locator("#quote:not([aria-busy]) .numbers").first.wait_for()
    page.route(answer, lambda route: None)
    page.get_by_label("ε of this release").fill("0.3")
    page.locator("#quote[aria-busy]").wait_for()
    found = faults(page, WIDE_LIGHT, NARROW_DARK)
    page.unroute(answer)
    assert found == []


@pytest.mark.long
def test_axe_finds_nothing_in_the_api_docs_in_use(page_of):
    """Swagger's own markup, with what `api_docs.js` and `api_docs.css` add to it."""
    page, found = page_of("anonymous"), {}
    page.goto("/api/docs/")
    page.locator("#operations-datasets-datasets_create .opblock-summary-control").click()
    page.locator("#operations-releases-releases_heatmap .opblock-summary-control").click()
    page.get_by_text("A published map as a file").first.wait_for()
    found["opened"] = faults(page, NARROW_DARK)
    for _ in range(2):
        page.get_by_role("button", name="Try it out").first.click()
    page.get_by_label("Request body").wait_for()
    found["tried"] = faults(page, WIDE_LIGHT)
    page.get_by_role("button", name="Authorize").first.click()
    page.get_by_role("dialog", name="Authorize").wait_for()
    found["asked for a token"] = faults(page, NARROW_DARK)
    assert not any(found.values()), found


def test_axe_finds_nothing_on_pages_of_errors(page_of):
    page, found = page_of("anonymous"), {}
    for template, context in ERRORS.items():
        page.goto("/sign-in/")
        page.set_content(render_to_string(template, context))
        if fault := faults(page, WIDE_LIGHT, NARROW_DARK):
            found[template] = fault
    assert found == {}


def test_axe_finds_what_is_wrong(page_of):
    page = page_of("anonymous")
    page.goto("/sign-in/")
    page.evaluate("document.querySelector('label').remove()")
    page.evaluate("document.querySelector('h1').style.color = 'rgb(190 190 190)'")
    assert {fault[2] for fault in faults(page, WIDE_LIGHT)} >= {"label", "color-contrast"}


@pytest.mark.long
def test_the_list_of_pages_is_whole(looked_at):
    names = {pattern.name for pattern in (*urls.urlpatterns, *sign_in_urls.urlpatterns) if pattern.name}
    listed = {one.name for one in all_pages.pages(looked_at["named"])}
    others = all_pages.ACTS | all_pages.NO_HTML | all_pages.WITH_PROVIDER | all_pages.WITH_PASSKEYS
    assert names - listed - others == set()
    assert names >= others
