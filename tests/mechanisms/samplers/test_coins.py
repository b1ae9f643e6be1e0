"""Packed coins of one bias: exactly a uniform number below `chance`, and as independent as their source."""

import numpy as np
import pytest
from scipy.stats import binom, chi2

from mechanisms.evaluation.seeded import SeededSource
from mechanisms.samplers.coins import coins

ONE = 1 << 32


class Planes:
    """Gives all words of a call the same value: the bits at one binary place of 64 numbers."""

    def __init__(self, numbers):
        bits = ((numbers[:, np.newaxis] >> np.arange(31, -1, -1)) & 1).astype(np.uint64)
        self._planes = iter((bits << np.arange(64, dtype=np.uint64)[:, np.newaxis]).sum(0, dtype=np.uint64))

    def words(self, count):
        return np.full(count, next(self._planes))


@pytest.mark.parametrize("chance", [0, 1, 2**31, 3 * 2**20, 0xAAAA_AAAA, 0x8000_0001, ONE - 1, ONE])
def test_a_coin_is_a_uniform_number_below_its_chance(chance):
    """64 numbers, among them the chance itself and its neighbours, which only the last place tells apart."""
    numbers = np.random.default_rng(chance).integers(0, ONE, 64)
    numbers[:5] = np.clip(chance + np.arange(-2, 3), 0, ONE - 1)
    found = coins(Planes(numbers), 192, chance=chance).view("<u8")
    expected = sum(int(number < chance) << place for place, number in enumerate(numbers.tolist()))
    assert found.tolist() == [expected] * 3


@pytest.mark.parametrize("chance", [ONE // 30, ONE // 3, ONE // 2, ONE - ONE // 5])
def test_as_many_come_up_as_should_and_one_says_nothing_of_the_next(chance):
    count = 400_003
    bits = np.unpackbits(coins(SeededSource(chance), count, chance=chance))
    assert not bits[count:].any()
    bits, share = bits[:count].astype(np.int64), chance / ONE
    assert 1e-6 < binom.cdf(bits.sum(), count, share) < 1 - 1e-6
    for factor in (0.9, 1.1):
        assert not 1e-6 < binom.cdf(bits.sum(), count, min(1, share * factor)) < 1 - 1e-6
    for apart in (1, 8, 64):
        pairs = np.bincount(2 * bits[apart:] + bits[:-apart], minlength=4)
        expected = np.outer([1 - share, share], [1 - share, share]).ravel() * (count - apart)
        assert chi2.sf(((pairs - expected) ** 2 / expected).sum(), 3) > 1e-6
