"""The API's documentation in a browser: read and tried out under the same policy as every page."""

import json
import urllib.request

import pytest

pytestmark = [pytest.mark.browser]


@pytest.fixture
def token(site):
    """Made with name and password, as the documentation says."""
    asked = {"username": site.username, "password": site.password, "name": "docs", "scopes": ["read"]}
    request = urllib.request.Request(
        f"{site.address}/api/v1/tokens/",
        json.dumps(asked).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)["token"]


def test_it_reads_the_document_offline(open_page):
    """`open_page` sees to it that nothing was asked of anybody else, and that nothing was complained of."""
    page = open_page()
    page.goto("/api/docs/")

    page.get_by_text("/api/v1/datasets/{slug}/releases/").first.wait_for()
    page.locator("#operations-releases-releases_heatmap").click()
    page.get_by_text("Download a published map as a file").first.wait_for()


@pytest.mark.long
def test_it_sends_a_request_with_a_token_and_shows_the_answer(open_page, token):
    page = open_page()
    page.goto("/api/docs/")
    page.get_by_role("button", name="Authorize").first.click()
    form = page.locator("form", has_text="bearer (http, Bearer)")
    form.locator("#auth-bearer-value").fill(token)
    form.get_by_role("button", name="Apply credentials").click()
    form.get_by_role("button", name="Close").click()
    page.locator("#operations-mechanisms-mechanisms_list").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()

    page.get_by_text("Sparse reconstruction").first.wait_for()
