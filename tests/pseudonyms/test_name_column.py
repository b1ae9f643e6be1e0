"""Many names are one text."""

import numpy as np

from heatmaps.pseudonyms.name_column import NameColumn

NAMES = ["a", "né", "日本", "plain", "e\u0301", "\0"]


def test_names_come_back_as_they_were():
    column = NameColumn.of(NAMES)
    assert (len(column), column.strings(), column.are_whole) == (6, NAMES, True)
    assert column.strings(np.array([2, 0])) == ["日本", "a"]
    assert NameColumn.of(["a", "bc"]).strings() == ["a", "bc"]
    assert NameColumn.of([]).strings() == []
    assert NameColumn.of([]).are_whole


def test_it_finds_the_names_outside_ascii():
    assert NameColumn.of(NAMES).beyond_ascii().tolist() == [1, 2, 4]
    assert NameColumn.of(["a", "b"]).beyond_ascii().tolist() == []


def test_a_name_without_letters_is_none():
    assert not NameColumn.of(["a", ""]).are_whole
