"""Check-ins of several files in memory."""

from fractions import Fraction

import pytest

from heatmaps.ingest.formats.file_points import read_points
from heatmaps.ingest.formats.reader import ReaderError
from mechanisms.space.grid import Region

NONE, ONE_PERCENT = Fraction(0), Fraction(1, 100)


@pytest.fixture
def write(tmp_path):
    def write_file(name, *rows):
        path = tmp_path / name
        path.write_text("user,lat,lon\n" + "".join(f"{row}\n" for row in rows))
        return path

    return write_file


def test_it_takes_equal_users_of_several_files_for_one_person(write):
    first, second = write("a.csv", "anna,1,2", "bob,3,4"), write("b.csv", "bob,5,6", "cleo,7,8", "anna,9,10")
    points = read_points([first, second], max_rejected_share=NONE)
    anna, bob, bob_again, cleo, anna_again = points.persons.tolist()
    assert (anna, bob) == (anna_again, bob_again)
    assert len({anna, bob, cleo}) == 3
    assert points.lat.tolist() == [1, 3, 5, 7, 9]
    assert points.lon.tolist() == [2, 4, 6, 8, 10]


def test_a_name_in_two_forms_of_unicode_is_one_person_as_in_a_dataset(write):
    path = write("a.csv", "Jos\N{LATIN SMALL LETTER E WITH ACUTE},1,2", "Jose\N{COMBINING ACUTE ACCENT},1,2")
    points = read_points([path], max_rejected_share=NONE)
    assert points.persons.tolist() == [0, 0]


def test_it_keeps_what_is_in_the_region(write):
    path = write("a.csv", "anna,1,2", "bob,3,4", "anna,1.5,2.5")
    points = read_points([path], max_rejected_share=NONE, region=Region(2, 1, 3, 2))
    assert points.lat.tolist() == [1, 1.5]
    assert points.persons.tolist()[0] == points.persons.tolist()[1]
    nowhere = read_points([path], max_rejected_share=NONE, region=Region(50, 50, 60, 60))
    assert nowhere.persons.size == nowhere.lat.size == nowhere.lon.size == 0


def test_it_leaves_few_bad_rows_out_and_names_the_first(write):
    path = write("a.csv", "anna,91,2", *["bob,1,2"] * 500, "x,y,z", ",1,2", "anna,1,999")
    points = read_points([path], max_rejected_share=ONE_PERCENT)
    assert (points.left_out.rejected, points.persons.size) == (4, 500)
    assert points.left_out.first == [
        "a.csv, line 2: lat is outside -90..90",
        "a.csv, line 503: lat is not a decimal number",
        "a.csv, line 504: user is missing",
    ]


def test_it_names_three_bad_rows_at_most(write):
    paths = [write(f"{name}.csv", "anna,1,2", "anna,91,2", "anna,92,2") for name in "ab"]
    points = read_points(paths, max_rejected_share=Fraction(1))
    assert points.left_out.rejected == 4
    assert [shown.partition(":")[0] for shown in points.left_out.first] == [
        "a.csv, line 3", "a.csv, line 4", "b.csv, line 3",
    ]  # fmt: skip


def test_it_refuses_too_many_bad_rows_over_all_files(write):
    bad = write("bad.csv", *["anna,91,2"] * 2)
    good = write("good.csv", *["bob,1,2"] * 198)
    assert read_points([bad, good], max_rejected_share=ONE_PERCENT).left_out.rejected == 2
    with pytest.raises(ReaderError, match=r"2 of 199 rows .* 1 % .*bad\.csv, line 2: lat is out") as caught:
        read_points([bad, write("less.csv", *["bob,1,2"] * 197)], max_rejected_share=ONE_PERCENT)
    assert caught.value.code == "too_many_rejected"


def test_it_names_the_file_it_cannot_read(tmp_path, write):
    (tmp_path / "empty.csv").touch()
    good = write("good.csv", "anna,1,2")
    for name, code, words in [
        ("empty.csv", "empty", "empty.csv: the file is empty"),
        ("missing.csv", "unreadable", "missing.csv: No such file"),
        (".", "unreadable", "Is a directory"),
    ]:
        with pytest.raises(ReaderError, match=words) as caught:
            read_points([good, tmp_path / name], max_rejected_share=NONE)
        assert caught.value.code == code


def test_it_shows_no_data_in_its_representation(write):
    assert "12.345" not in repr(read_points([write("a.csv", "anna,12.345,2")], max_rejected_share=NONE))
