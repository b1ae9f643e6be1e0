"""Home leads to what people are there for in few clicks, and counts down to their releases."""

import json
import re

import pytest

pytestmark = [pytest.mark.browser]

MOST_CLICKS = 3


@pytest.fixture(scope="module")
def sessions(site):
    return site.installation.script("home_visitors", package="tests.browser")


@pytest.fixture
def visit(site, sessions, open_page):
    """Home of a person, and how often something was clicked since."""

    def make(who):
        page, clicks = open_page(), []
        page.context.add_cookies([{"name": "sessionid", "value": sessions[who], "url": site.address}])
        page.expose_function("clicked", lambda: clicks.append(page.url))
        page.add_init_script("addEventListener('click', () => clicked(), { capture: true })")
        page.goto("/")
        return page, clicks

    return make


def test_the_main_tasks_of_auditors_and_administrators_are_three_clicks_away(visit):
    page, clicks = visit("auditor")
    page.get_by_role("link", name="Ledger of A city").click()
    page.get_by_text("The chain verifies").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    assert json.loads(download.value.path().read_text())[0]["kind"] == "open"
    assert 1 < len(clicks) <= MOST_CLICKS

    page, clicks = visit("administrator")
    page.get_by_role("link", name="Invite someone").click()
    page.get_by_role("button", name="Make a link").click()
    assert "/invitations/" in page.get_by_label("Link", exact=True).input_value()
    assert 1 < len(clicks) <= MOST_CLICKS


def test_a_queued_release_counts_down_until_it_is_ready(visit):
    page, _ = visit("analyst")
    page.clock.install()
    page.route("**/state/", lambda route: route.fulfill(json={"state": "published", "seconds": 0}))
    page.reload()
    told = page.locator(".countdown")
    assert re.search(r"appears in (60|5\d) min", told.inner_text())
    page.clock.run_for(3_610_000)
    page.locator(".countdown", has_text="ready").wait_for()
