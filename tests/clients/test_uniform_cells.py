"""Once in a while any cell is reported, each from as many numbers: those beyond the last running sum."""

import pytest
from hazemap_device.encodings import encoding_of

from tests.clients.rounds import axes, offsets
from tests.clients.test_random_words import Words


def cells(kind, numbers, last, *others):
    encoding, table, _, _ = kind
    found = []
    for number in numbers:
        messages = encoding_of(encoding).report([(0, 0)], table, Words([last + number, *others]))
        found.append(int.from_bytes(messages[0], "big"))
    return found


def test_every_cell_has_its_three_numbers_of_all_offsets():
    assert cells(offsets(), range(3 * 40), 40_000) == [number // 3 for number in range(3 * 40)]


@pytest.mark.parametrize("row", [0, 3])
def test_every_column_has_its_three_numbers(row):
    found = cells(axes(), range(3 * 8), 8000, 5000 + 3 * row)
    assert found == [5 * (number // 3) + row for number in range(3 * 8)]
