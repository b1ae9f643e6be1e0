"""Numbers as pages show them (static/hazemap/numbers.js) and the tables that leave them (csv.js)."""

import csv
import io

from tests.scripts.node import evaluated


def test_an_error_is_never_shown_smaller_and_has_the_places_of_its_value():
    given = [[978.2, 46.1], [0.0123456, 0.00991], [-0.001, 2], [5, 0], [5, None], [1234567, 1000.2]]
    shown = evaluated(["numbers.js"], "given.map(([one, other]) => numbers.withError(one, other))", given)
    assert shown == [
        "978 ± 47",
        "0.0123 ± 0.0100",
        "0.0 ± 2.0",
        "5 ± 0",
        "5 ± unknown",
        "1,234,567 ± 1,001",
    ]


def test_lengths_shares_and_rounded_numbers():
    expression = "['length', 'percent', 'rounded'].map((name) => given.map(numbers[name]))"
    lengths, shares, rounded = evaluated(["numbers.js"], expression, [0.1234, 999, 25_600])
    assert lengths == ["0.12 m", "1,000 m", "26 km"]
    assert shares == ["12.3 %", "99,900 %", "2,560,000 %"]
    assert rounded == ["0.12", "1,000", "26,000"]


def test_a_bound_from_above_is_never_shown_smaller():
    shown = evaluated(["numbers.js"], "given.map(numbers.roundedUp)", [12.1, 0.0301, 12, 991, 0, -1])
    assert shown == ["13", "0.031", "12", "1,000", "0", "0"]


def test_names_stay_one_field_of_text_and_no_formula():
    names = ['a "b", c', "=SUM(A1)", "@x", "-1", "two\nlines"]
    text = evaluated(["csv.js"], "csv.csvText(['area', 'n'], given.map((name) => [name, 0.5]))", names)
    head, *rows = csv.reader(io.StringIO(text))
    assert head == ["area", "n"]
    assert rows == [[name, "0.5"] for name in ['a "b", c', "'=SUM(A1)", "'@x", "'-1", "two lines"]]
