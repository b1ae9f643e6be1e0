"""Asking for a map that starts from another one, on a small screen."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.long]

SEED = """
from django.contrib.auth.models import User
from heatmaps.releases import clock, lifecycle
from heatmaps.releases.lifecycle import ReleaseRequest
from tests.services import seed
steward = User.objects.get(username="%s")
town = seed.make_dataset(steward, "starts", limits={"presence": "40"})
seed.add_checkins(town)
for epsilon in ("4", "5"):
    asked = ReleaseRequest(mechanism="adaptive", epsilon=epsilon, resolution=16)
    clock.complete(lifecycle.request_release(steward, town, asked).pk)
"""


@pytest.fixture(scope="module")
def address(site):
    site.installation.manage("shell", "-c", SEED % site.username)
    return "/datasets/starts/releases/new/"


def test_the_start_follows_the_question_and_is_spent_as_shown(signed_in, address, fits):
    page = signed_in(width=360, scheme="dark")
    page.set_default_timeout(15000)
    page.goto(address)
    page.locator("#quote[data-epsilon='1']").wait_for()
    start = page.get_by_label("Start from")
    assert not start.is_visible()  # too little ε for one

    page.get_by_label("ε of this release").fill("3")
    page.locator("#quote[data-epsilon='3']").wait_for()
    assert start.locator("option:checked").inner_text().startswith("Map, ε 5 ·")
    page.get_by_text("Starts from Map, ε 5").wait_for()
    fits(page)

    spend = page.get_by_role("button", name="Spend and publish")
    page.route("**/releases/new/?*live=1*", lambda route: None)  # no answer any more
    start.select_option(index=1)
    assert spend.is_disabled()
    page.unroute("**/releases/new/?*live=1*")
    page.get_by_label("ε of this release").fill("3.5")
    page.get_by_text("Starts from Map, ε 4").wait_for()
    assert start.locator("option:checked").inner_text().startswith("Map, ε 4 ·")
    assert spend.is_enabled()
    page.get_by_label("ε of this release").fill("1")
    page.get_by_text("This needs an ε from 2 to 20").first.wait_for()
    start.wait_for()
    assert spend.count() == 0
    page.get_by_label("ε of this release").fill("3.5")
    spend.click()
    page.wait_for_url("**/releases/*-*/")
    page.get_by_role("link", name="Map, ε 4").wait_for()
    fits(page)
