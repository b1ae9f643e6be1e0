"""A central point by keys alone: asked for, quoted, drawn, seen on its map and read as text."""

import io

import pytest
from PIL import Image

from tests.browser.test_keyboard import Keys

pytestmark = [pytest.mark.browser, pytest.mark.long]

SEED = """
from django.contrib.auth.models import User
from mechanisms.guarantee import Relation
from tests.services import seed
limits = {"record": "3", "radius": "2"}
steward = User.objects.get(username="%s")
made = seed.make_dataset(steward, "points", Relation.REPLACE, radius_m=50_000, limits=limits)
seed.add_checkins(made)
"""


@pytest.fixture(scope="module")
def address(site):
    """The page of a new release of a dataset whose number of persons is public."""
    site.installation.manage("shell", "-c", SEED % site.username)
    return "/datasets/points/releases/new/?open=method"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_central_point_is_asked_for_by_keyboard_and_seen_on_its_map(
    signed_in, address, fits, colours_of, scheme
):
    page = signed_in(width=360 if scheme == "dark" else 1280, scheme=scheme)
    person = Keys(page)
    page.goto(address)
    page.get_by_label("Resolution", exact=True).wait_for()

    person.to(page.locator("details.others > summary").last)
    person.press("Enter")
    person.to(page.get_by_role("radio", checked=True))
    for _ in range(20):
        if page.get_by_role("radio", name="Central point of all people").is_checked():
            break
        person.press("ArrowDown")
    page.get_by_label("Spacing of the candidates", exact=True).wait_for()
    assert not page.get_by_label("Resolution", exact=True).is_visible()  # a point has none
    fits(page)
    epsilon = "0.5" if scheme == "light" else "0.25"
    person.field("ε of this release", epsilon)
    page.locator(f"#quote[data-epsilon='{epsilon}']").wait_for()
    person.button("More of what it promises")
    person.heading("How far off the point will be")
    page.get_by_label("Cost: whole record").wait_for()
    page.get_by_label("Cost: radius").wait_for()
    fits(page)
    person.button("Spend and publish")

    frame = page.locator("iframe")
    frame.wait_for()
    inside = frame.content_frame
    inside.locator(".released-point").wait_for()
    inside.locator(".error-circle").wait_for()
    inside.get_by_text("with probability 95 %").wait_for()
    mark = "#a3123a" if scheme == "light" else "#ff8fa8"
    assert colours_of(frame.screenshot())[mark] > 50
    fits(page)
    numbers = page.get_by_role("region", name="The point in numbers")
    lat, lon = (float(text) for text in numbers.locator("dd").all_inner_texts()[:2])
    assert 0 <= lat <= 1
    assert 0 <= lon <= 1
    person.to(page.get_by_text("Download", exact=True))
    person.press("Enter")
    with page.expect_download() as loaded:
        person.link("PNG picture")
    picture = Image.open(io.BytesIO(loaded.value.path().read_bytes()))
    assert "Release sheet" in picture.text
