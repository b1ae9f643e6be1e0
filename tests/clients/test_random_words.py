"""Uniform integers: exact, and no remainder of an unequal range."""

from collections import Counter

import numpy as np
import pytest
from hazemap_device.random_words import SystemWords, uniform_below
from scipy.stats import chi2

SIGNIFICANCE = 1e-6
# Three quarters of all words: taken modulo it, the lower third would come up twice as often.
BOUND = 3 << 62
DRAWS = 30_000


class Words:
    """A list of words, used up one by one."""

    def __init__(self, words):
        self.left = list(words)
        self.used = 0

    def word(self):
        self.used += 1
        return self.left[self.used - 1]


def seeded(count, seed=5):
    return Words(np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64).tolist())


def far_from_uniform(numbers, bound, classes=12):
    """Whether so many draws below a bound are too uneven, by chi-square."""
    counts = Counter(number * classes // bound for number in numbers)
    expected = len(numbers) / classes
    statistic = sum((counts[place] - expected) ** 2 / expected for place in range(classes))
    return chi2.sf(statistic, classes - 1) < SIGNIFICANCE


def test_draws_below_a_bound_where_a_remainder_would_show_are_uniform():
    words = seeded(3 * DRAWS)
    assert not far_from_uniform([uniform_below(words, BOUND) for _ in range(DRAWS)], BOUND)


def test_a_remainder_of_an_unequal_range_is_caught():
    words = seeded(3 * DRAWS)
    assert far_from_uniform([words.word() % BOUND for _ in range(DRAWS)], BOUND)


def test_every_number_is_drawn_equally_often_from_all_words_of_a_small_range():
    """Exact: of 2^64 words in equal steps, each number below 12 gets as many."""
    words = Words(range(0, 2**64, 2**56))
    drawn = Counter(uniform_below(words, 1 << 4) for _ in range(256))
    assert drawn == {0: 256}  # the lowest bits decide, not the highest


@pytest.mark.parametrize(
    ("bound", "words", "drawn", "used"),
    [
        (1, [], 0, 0),
        (2, [5], 1, 1),
        (2**64, [2**64 - 1], 2**64 - 1, 1),
        (10, [2**64 - 1, 2**64 - 6, 17], 7, 3),  # the last six of 2^64 words are left out
        (10, [2**64 - 7], 9, 1),
        (2**128, [1, 2], 1 + (2 << 64), 2),
        (2**70, [7, (1 << 20) + 3], 7 + (3 << 64), 2),
        (2**64 + 1, [5, 1, 4, 0], 4, 4),  # 2^64 + 5 is too large
    ],
)
def test_words_are_used_as_the_protocol_says(bound, words, drawn, used):
    source = Words(words)
    assert uniform_below(source, bound) == drawn
    assert source.used == used


def test_the_system_gives_other_words_each_time():
    source = SystemWords()
    words = [source.word() for _ in range(2000)]
    assert len(set(words)) == len(words)
    assert all(0 <= word < 2**64 for word in words)
    assert all(800 < sum(word >> bit & 1 for word in words) < 1200 for bit in range(64))
