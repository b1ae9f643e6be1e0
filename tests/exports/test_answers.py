"""Tables of named answers: a spreadsheet reads names as texts and numbers as they are."""

import csv
import io

import pytest

from heatmaps.exports.answers import write_table


def read_back(*rows):
    stream = io.BytesIO()
    write_table(("number", "name", "share"), rows, stream)
    return list(csv.reader(io.StringIO(stream.getvalue().decode(), newline="")))


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)"])
def test_no_name_is_a_formula(name):
    assert read_back((1, name, 0.5))[1] == ["1", f"'{name}", "0.5"]


@pytest.mark.parametrize("name", ['a, "b"; c', "x=1", "Öst"])
def test_other_names_are_kept_and_numbers_to_the_last_bit(name):
    header, row = read_back((1, name, -1 / 3))
    assert header == ["number", "name", "share"]
    assert row[1] == name
    assert float(row[2]) == -1 / 3
