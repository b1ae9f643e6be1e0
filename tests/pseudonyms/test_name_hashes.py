"""Names in memory are told apart by hashes with a key of the moment."""

import random
import unicodedata

import numpy as np
import pytest

from heatmaps.pseudonyms import name_hashes
from heatmaps.pseudonyms.name_column import NameColumn
from heatmaps.pseudonyms.name_hashes import LONGEST, NameHasher

ALPHABET = ["a", "b", "\0", "é", "e\u0301", "日", "\U0001f600", "\u212b", "Å"]


def tags(hasher, names):
    found = hasher.tags(NameColumn.of(names))
    return list(zip(found.first.tolist(), found.second.tolist(), strict=True))


def test_names_have_one_hash_exactly_where_they_are_one_in_normal_form():
    rng, hasher = random.Random(7), NameHasher.with_random_keys()
    names = ["".join(rng.choices(ALPHABET, k=rng.choice([1, 2, 3, 8, 9, 30, 70]))) for _ in range(3000)]
    names += ["a" * count for count in range(1, 200)] + ["\0" * count for count in range(1, 100)]
    rng.shuffle(names)
    of_normal = {}
    for name, tag in zip(names, tags(hasher, names), strict=True):
        assert of_normal.setdefault(unicodedata.normalize("NFC", name), tag) == tag
    assert len(set(of_normal.values())) == len(of_normal)


@pytest.mark.parametrize("length", [1, 4, 5, 8, 12, 13, LONGEST - 1, LONGEST, LONGEST + 1, 1000])
def test_each_byte_counts_in_each_part_of_a_hash(length):
    hasher, name = NameHasher.with_random_keys(), "a" * length
    others = [name[:at] + "b" + name[at + 1 :] for at in range(length)]
    found = hasher.tags(NameColumn.of([name, *others]))
    for part in (found.first >> np.uint64(32), found.first & np.uint64(2**32 - 1), found.second):
        # Of 1,000 names none is expected to agree with the first in 32 bits, and two never are in practice.
        assert np.count_nonzero(part[1:] == part[0]) < 2


def test_a_name_has_its_hash_wherever_it_stands():
    hasher = NameHasher.with_random_keys()
    names = ["x" * 65, "anna", "é", "anna-maria-with-a-long-name", "b"]
    for name in names:
        assert tags(hasher, [name]) == [tags(hasher, names)[names.index(name)]]
    assert tags(hasher, []) == []


def test_another_key_gives_other_hashes():
    names = ["anna", "y" * (LONGEST + 1)]
    first, second = (tags(NameHasher.with_random_keys(), names) for _ in range(2))
    assert not set(first) & set(second)


def test_keys_are_not_shown():
    hasher = NameHasher.with_random_keys()
    assert str(hasher.keys[0, 0]) not in repr(hasher)
    assert "long_key" not in repr(hasher)


def test_hashes_are_spread_evenly():
    """The first six bits say in which part a person is counted."""
    found = NameHasher.with_random_keys().tags(NameColumn.of([f"user{number}" for number in range(64_000)]))
    parts = np.bincount((found.first >> np.uint64(58)).astype(np.int64), minlength=64)
    assert parts.min() > 0
    assert parts.max() < 4 * 1000
    assert name_hashes.LONGEST % 8 == 0
