"""Before a file is sent: what it has, which of its columns are read."""

import pytest

from tests.browser.chromium import ENDED

OTHER = "uid,when,latitude,spot\n" + "ann,2024-07-01T12:00:00Z,0.5,0.25\nbob,,0.25,0.75\n"


@pytest.fixture
def dataset_page(signed_in, site):
    """The page of a new dataset; the browser's own width where nothing is said."""

    def make(slug, **options):
        page = signed_in(**options)
        page.goto("/datasets/new/?more=1")
        page.get_by_label("Title").fill(f"Uploads {slug}")
        page.get_by_label("Address").fill(slug)
        for side, value in {"West": "0", "South": "0", "East": "1", "North": "1"}.items():
            page.get_by_label(side, exact=True).fill(value)
        page.get_by_role("button", name="Make the dataset").click()
        page.get_by_role("heading", name=f"Uploads {slug}").wait_for()
        page.wait_for_load_state()  # a heading is there before the page's programs are
        return page

    return make


@pytest.fixture
def other_file(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text(OTHER)
    return path


def test_it_shows_a_file_guesses_its_columns_and_reads_those_chosen(dataset_page, other_file, fits):
    page = dataset_page("columns", width=360)
    page.get_by_label("Choose files").set_input_files(other_file)

    page.get_by_role("cell", name="2024-07-01T12:00:00Z").wait_for()
    assert page.get_by_label("User", exact=True).input_value() == "uid"
    assert page.get_by_label("Time", exact=True).input_value() == ""
    page.get_by_text("Choose the column for longitude.").wait_for()
    fits(page)
    page.get_by_label("Longitude").select_option("spot")
    page.get_by_label("Time", exact=True).select_option("when")
    assert page.get_by_text("Choose the column for").count() == 0
    page.get_by_role("button", name="Upload").click()

    page.locator(ENDED.format("ready")).wait_for()
    page.get_by_text("2 rows taken").wait_for()


def test_it_says_what_cannot_be_read_before_it_is_sent(dataset_page, tmp_path):
    path = tmp_path / "book.xlsx"
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    page = dataset_page("refused")
    page.get_by_label("Choose files").set_input_files(path)
    page.get_by_text("looks like a ZIP archive or a spreadsheet").wait_for()
