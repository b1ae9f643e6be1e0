"""Check-ins that are counted as they come have the masses of all of them together."""

import numpy as np
import pytest

from mechanisms.records import key_counts
from mechanisms.records.aggregation import masses_by_bin
from mechanisms.records.key_counts import KeyCounts, PersonTags
from mechanisms.records.row_key import RowKey, TimeBins

UNIT = 2**24


def tags_of(persons, rng, first_values=None):
    """Tags of persons by number; of few values for the first bits, if any are given."""
    count = int(persons.max(initial=-1)) + 1
    first = rng.integers(0, 2**64, count, np.uint64) if first_values is None else first_values[:count]
    second = rng.permutation(2**20)[:count].astype(np.uint32)
    return PersonTags(first[persons], second[persons])


def as_lists(maps):
    return [(of_bin.cells.tolist(), of_bin.masses.tolist()) for of_bin in maps]


def added(tags, keys, batches):
    counts = KeyCounts()
    for rows in np.array_split(np.arange(keys.size), batches):
        counts.add(tags.take(rows), keys[rows])
    return counts


@pytest.mark.parametrize("key", [RowKey(level=8), RowKey(level=14), RowKey(level=31)])
@pytest.mark.parametrize(("persons", "bound"), [(7, 500), (2000, 500), (2000, 2**22), (1, 100)])
def test_masses_are_those_of_all_rows(monkeypatch, key, persons, bound):
    monkeypatch.setattr(key_counts, "_FIRST_BOUND", bound)
    monkeypatch.setattr(key_counts, "_ROWS_AT_ONCE", 700)
    monkeypatch.setattr(key_counts, "_ROWS_A_BLOCK", 400)
    rng = np.random.default_rng(persons)
    person = rng.integers(0, persons, 6000)
    keys = rng.integers(0, key.size, 40)[rng.integers(0, 40, person.size)]
    counts = added(tags_of(person, rng), keys, 23)
    expected = masses_by_bin(persons=person, keys=keys, key=key, unit=UNIT)
    assert as_lists(counts.masses(key=key, unit=UNIT)) == as_lists(expected)
    assert as_lists(counts.masses(key=key, unit=UNIT)) == as_lists(expected)  # nothing was used up


def test_bins_are_maps_of_their_own():
    key, rng = RowKey(level=3, bins=TimeBins(start=0, width=1, count=5)), np.random.default_rng(1)
    person, keys = rng.integers(0, 9, 300), rng.integers(0, key.size, 300)
    expected = masses_by_bin(persons=person, keys=keys, key=key, unit=UNIT)
    assert as_lists(added(tags_of(person, rng), keys, 4).masses(key=key, unit=UNIT)) == as_lists(expected)


def test_persons_whose_first_bits_are_the_same_are_told_apart():
    rng, key = np.random.default_rng(2), RowKey(level=2)
    person, keys = rng.integers(0, 60, 900), rng.integers(0, key.size, 900)
    tags = tags_of(person, rng, np.repeat(np.array([5, 2**63], np.uint64), 30))
    expected = masses_by_bin(persons=person, keys=keys, key=key, unit=UNIT)
    assert as_lists(added(tags, keys, 3).masses(key=key, unit=UNIT)) == as_lists(expected)


def test_it_holds_pairs_rather_than_check_ins(monkeypatch):
    monkeypatch.setattr(key_counts, "_FIRST_BOUND", 1000)
    monkeypatch.setattr(key_counts, "_ROWS_A_BLOCK", 400)
    rng = np.random.default_rng(3)
    person, keys = rng.integers(0, 50, 20_000), rng.integers(0, 4, 20_000)
    counts = added(tags_of(person, rng), keys, 100)
    assert sum(block.keys.size for block in counts._blocks) <= 1000 + 400


def test_it_holds_pairs_where_one_person_has_most_check_ins(monkeypatch):
    """Such as a vehicle, while all others were in a place once."""
    monkeypatch.setattr(key_counts, "_FIRST_BOUND", 1000)
    monkeypatch.setattr(key_counts, "_ROWS_A_BLOCK", 400)
    rng = np.random.default_rng(4)
    person = np.where(np.arange(20_000) % 40 == 0, np.arange(20_000) // 40, 500)
    of_first_part = rng.integers(0, 2**58, 500, np.uint64)
    first_values = np.append(of_first_part, np.uint64(2**63))
    counts = added(tags_of(person, rng, first_values), rng.integers(0, 4, 20_000), 100)
    assert sum(block.keys.size for block in counts._blocks) <= 2 * 1000 + 400


@pytest.mark.parametrize("key", [RowKey(level=3), RowKey(level=31)])
def test_no_check_ins_are_an_empty_map(key):
    counts = KeyCounts()
    assert as_lists(counts.masses(key=key, unit=UNIT)) == [([], [])]
    counts.add(PersonTags(np.zeros(0, np.uint64), np.zeros(0, np.uint32)), np.zeros(0, np.int64))
    assert as_lists(counts.masses(key=key, unit=UNIT)) == [([], [])]


def test_columns_have_one_length():
    with pytest.raises(ValueError, match="one length"):
        KeyCounts().add(PersonTags(np.zeros(2, np.uint64), np.zeros(2, np.uint32)), [1])


def test_it_shows_no_person():
    assert "5" not in repr(PersonTags(np.array([5], np.uint64), np.array([5], np.uint32)))
