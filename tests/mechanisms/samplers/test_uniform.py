import numpy as np
import pytest
from scipy.stats import chi2

from mechanisms.evaluation.seeded import SeededSource
from mechanisms.samplers.uniform import uniform_below
from tests.mechanisms.examples import SEED
from tests.mechanisms.sources import Scripted


def test_words_above_the_largest_multiple_are_redrawn():
    # 2^64 = 3 · 6148914691236517205 + 1: exactly one word, the largest, is one too many.
    source = Scripted(2**64 - 1, 2**64 - 2, 5, 2**64 - 1, 7)
    assert uniform_below(source, 3, 3).tolist() == [1, 2, 2]
    assert source.left == []


def test_powers_of_two_use_the_low_bits():
    assert uniform_below(Scripted(2**64 - 1, 16, 2**63), 16, 3).tolist() == [15, 0, 0]


def test_the_largest_bounds():
    assert uniform_below(Scripted(2**64 - 1), 2**64, 1).tolist() == [2**64 - 1]
    assert uniform_below(Scripted(2**63 + 1, 2**63), 2**63 + 1, 1).tolist() == [2**63]


def test_one_value_needs_no_words():
    assert uniform_below(Scripted(), 1, 4).tolist() == [0] * 4


@pytest.mark.parametrize("bound", [2, 3, 10, 1000])
def test_it_is_uniform(bound):
    draws = uniform_below(SeededSource(SEED), bound, 100_000).astype(np.int64)
    counts = np.bincount(draws, minlength=bound)
    expected = 100_000 / bound
    assert counts.size == bound
    assert chi2.sf(((counts - expected) ** 2 / expected).sum(), bound - 1) > 1e-6


def test_it_is_uniform_for_bounds_that_reject_half_of_the_words():
    bound = 2**63 + 1
    draws = uniform_below(SeededSource(SEED), bound, 100_000)
    top = (draws >= np.uint64(bound // 4 * 3)).mean()
    assert abs(top - 0.25) < 4.9 * np.sqrt(0.25 * 0.75 / 100_000)
