"""Several files at once: a line for each, an error for each, one data version for all of them."""

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import ENDED
from tests.browser.test_uploads import dataset_page  # noqa: F401

HEADER = "user,lat,lon\n"


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / name for name in ("march.csv", "april.csv", "again.csv")]
    for path, row in zip(
        paths, ("ann,0.5,0.25\n", "ann,0.25,0.75\nbob,0.5,0.5\n", "ann,0.5,0.25\n"), strict=True
    ):
        path.write_text(HEADER + row)
    return paths


def test_it_takes_them_into_one_version(dataset_page, files, fits):  # noqa: F811
    page = dataset_page("several", width=360)
    page.get_by_label("Choose files").set_input_files(files[:2])
    page.get_by_text("Its columns are used for all 2 files").wait_for()
    page.get_by_role("button", name="Upload").click()

    expect(page.locator(ENDED.format("ready"))).to_have_count(2)
    assert page.get_by_text("in version 1").count() == 2
    fits(page)


def test_it_says_of_each_file_why_it_was_refused(dataset_page, files):  # noqa: F811
    page = dataset_page("refused-one")
    page.get_by_label("Choose files").set_input_files(files)
    page.get_by_role("button", name="Upload").click()

    page.get_by_text("it was uploaded as march.csv").wait_for()
    page.get_by_text("2 files are here and being read").wait_for()
    assert page.locator("#sending li").count() == 1


def test_a_dataset_has_a_schedule_from_the_start_and_it_changes_with_a_reason(signed_in, fits):
    page = signed_in(width=360)
    page.goto("/datasets/new/?more=1")
    page.get_by_label("Title").fill("On a schedule")
    for side, value in {"West": "0", "South": "0", "East": "1", "North": "1"}.items():
        page.get_by_label(side, exact=True).fill(value)
    assert [page.get_by_label(name).is_visible() for name in ("Hour", "Day of the week")] == [False, False]
    page.get_by_label("Data versions advance").select_option("weekly")
    assert [page.get_by_label(name).is_visible() for name in ("Hour", "Day of the month")] == [True, False]
    page.get_by_label("Day of the week").select_option("monday")
    fits(page)
    page.get_by_role("button", name="Make the dataset").click()
    page.get_by_text("every Monday at 03:00 UTC").wait_for()
    assert page.get_by_label("Make it available").count() == 0
    page.locator("#versions").get_by_role("link", name="Change", exact=True).click()
    page.get_by_label("Data versions advance").select_option("daily")
    page.get_by_label("Reason").fill("the board wants it")
    fits(page)
    page.get_by_role("button", name="Save").click()
    page.get_by_text("every day at 03:00 UTC").wait_for()
    fits(page)
