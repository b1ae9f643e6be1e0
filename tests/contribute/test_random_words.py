"""Uniform integers from 64-bit words: which words are taken, and that no value is likelier than another."""

import numpy as np
import pytest
from scipy.stats import chi2

from mechanisms.samplers.uniform import integer_below, uniform_below

BELOW = """
const { uniformBelow } = await import("./random_words.js");
const words = fixedWords(given.words);
answer({ drawn: given.bounds.map((bound) => uniformBelow(words, bound)), left: words.left });
"""
COUNTS = """
const { uniformBelow, systemWords } = await import("./random_words.js");
const words = given.seed === undefined ? systemWords() : seededWords(given.seed);
const counts = new Array(given.cells).fill(0);
for (let draw = 0; draw < given.draws; draw += 1) {
  counts[Number(uniformBelow(words, given.bound) * BigInt(given.cells) / given.bound)] += 1;
}
answer(counts);
"""
# So large that the lower half of its values would be twice as likely by a remainder.
UNEVEN = 3 * 2**62
SIGNIFICANCE = 1e-6


def test_it_takes_the_words_that_the_protocol_says(node):
    words = [7, 2**64 - 1, 5, 2**63 + 9, 3, 1, 2, 2**64 - 1, 2**64 - 1, 4, 0]
    bounds = [1, 8, 10, 2**64, 6, 2**65, 2**64 + 1]
    # 1: no word. 8: 7. 10: 2^64 - 1 lies in the last, cut block of tens and is drawn again: 5.
    # 2^64: a whole word. 6: 3. 2^65: two words, the lowest bit of the second. 2^64 + 1: 65 bits, until they
    # are below it.
    expected = [0, 7, 5, 2**63 + 9, 3, 1 + (2 % 2 << 64), (0 << 64) | 4]
    found = node(BELOW, {"words": integers(words), "bounds": integers(bounds)})
    assert [int(drawn) for drawn in found["drawn"]] == expected
    assert found["left"] == 0


def test_it_draws_what_the_mechanisms_draw(node):
    rng = np.random.default_rng(3)
    words = rng.integers(0, 2**64, 400, np.uint64)
    bounds = [2, 3, 1000, 2**31, 2**62 + 1, UNEVEN, 2**64 - 1, 2**64, 2**640, 3**200]

    class Stream:
        taken = 0

        def words(self, count):
            self.taken += count
            return words[self.taken - count : self.taken]

    stream = Stream()
    expected = [
        int(uniform_below(stream, bound, 1)[0]) if bound <= 2**64 else integer_below(stream, bound)
        for bound in bounds
    ]
    found = node(BELOW, {"words": integers(words.tolist()), "bounds": integers(bounds)})
    assert [int(drawn) for drawn in found["drawn"]] == expected
    assert found["left"] == words.size - stream.taken


def test_a_remainder_of_an_unequal_range_is_found_out(node):
    program = """
    const { uniformBelow } = await import("./random_words.js");
    const bound = 3n * 2n ** 62n;
    const counts = (draw) => {
      const [found, words] = [new Array(12).fill(0), seededWords(5)];
      for (let at = 0; at < 20000; at += 1) found[Number(draw(words) * 12n / bound)] += 1;
      return found;
    };
    answer([counts((words) => uniformBelow(words, bound)), counts((words) => words.word() % bound)]);
    """
    right, wrong = map(p_value, node(program))
    assert right > SIGNIFICANCE > wrong


@pytest.mark.long
@pytest.mark.parametrize("bound", [2, 7, 1000, 2**40 + 1, UNEVEN, 3**60])
def test_a_million_draws_are_uniform(node, bound):
    cells = min(bound, 500)
    given = {"bound": {"integer": str(bound)}, "cells": cells, "draws": 10**6, "seed": bound % 1000}
    counts = node(COUNTS, given, seconds=280)
    sizes = [-(-(cell + 1) * bound // cells) - -(-cell * bound // cells) for cell in range(cells)]
    assert p_value(counts, sizes) > SIGNIFICANCE


@pytest.mark.long
def test_a_million_draws_of_the_device_itself_are_uniform(node):
    given = {"bound": {"integer": "1000"}, "cells": 1000, "draws": 10**6}
    assert p_value(node(COUNTS, given)) > SIGNIFICANCE


def p_value(counts, sizes=None):
    """Of Pearson's test; `sizes` are how many values fall into each cell."""
    counts = np.asarray(counts, float)
    weights = np.ones(counts.size) if sizes is None else np.asarray(sizes, float)
    expected = weights / weights.sum() * counts.sum()
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.size - 1)


def integers(values):
    return [{"integer": str(value)} for value in values]
