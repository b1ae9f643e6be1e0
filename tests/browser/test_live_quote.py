"""Asking on a small screen: the cost follows the slider and what is typed, and stays in reach."""

import pytest

from tests.browser.test_keyboard import Keys

pytestmark = [pytest.mark.browser, pytest.mark.long]

SEED = """
from django.contrib.auth.models import User
from tests.services import seed
seed.add_checkins(seed.make_dataset(User.objects.get(username="%s"), "live"))
"""


@pytest.fixture(scope="module")
def address(site):
    site.installation.manage("shell", "-c", SEED % site.username)
    return "/datasets/live/releases/new/"


def test_the_cost_follows_the_question_and_stays_in_reach(signed_in, address, fits):
    page = signed_in(width=360, scheme="dark")
    page.goto(address)
    page.locator("#quote[data-epsilon='1']").wait_for()
    price = page.get_by_role("status").filter(has_text="presence")
    box = price.bounding_box()
    assert 0 < box["y"] + box["height"] <= page.viewport_size["height"]
    assert not page.get_by_role("button", name="Show the cost").is_visible()
    fits(page)

    slider = page.get_by_role("slider")
    Keys(page).to(slider)
    for key, epsilon in (("ArrowLeft", "0.8"), ("ArrowRight", "1")):
        page.keyboard.press(key)
        assert page.get_by_label("ε of this release").input_value() == epsilon
        assert slider.get_attribute("aria-valuetext") == f"ε = {epsilon}"
    spend = page.get_by_role("button", name="Spend and publish")
    page.route("**/releases/new/?*live=1*", lambda route: None)  # no answer any more
    page.get_by_label("ε of this release").fill("0.3")
    assert spend.is_disabled()  # what it would spend is not what the form says
    page.unroute("**/releases/new/?*live=1*")
    page.get_by_label("or an error of at most").fill("20000")
    page.locator("#quote:not([aria-busy]) strong").filter(has_text="0.").first.wait_for()
    assert spend.is_enabled()
    assert page.get_by_label("ε of this release").input_value() == page.locator("#quote").get_attribute(
        "data-epsilon"
    )
    assert page.get_by_label("or an error of at most").input_value() == "20000"
    fits(page)
