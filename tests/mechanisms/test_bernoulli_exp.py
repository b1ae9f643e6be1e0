"""Coins against their exact probability: at 400,000 draws a 2 % error of the rarest is seen at 1e-6."""

import math

import numpy as np
import pytest

from mechanisms.experiments.seeded import SeededSource
from mechanisms.samplers.bernoulli_exp import bernoulli_exp, geometric_exp
from tests.mechanisms.examples import SEED

DRAWS = 400_000


def plausible(hits, probability):
    return abs(hits / DRAWS - probability) <= 4.9 * math.sqrt(probability * (1 - probability) / DRAWS)


@pytest.mark.parametrize(
    ("numerator", "denominator"), [(1, 1), (1, 2), (2, 3), (1, 100), (10**12, 10**12 + 1)]
)
def test_heads_have_probability_exp(numerator, denominator):
    coins = bernoulli_exp(SeededSource(SEED), np.full(DRAWS, numerator, np.uint64), denominator)
    exact = math.exp(-numerator / denominator)
    assert plausible(coins.sum(), exact)
    assert not plausible(coins.sum(), exact * 0.98)


def test_zero_always_shows_heads():
    assert bernoulli_exp(SeededSource(SEED), np.zeros(1000, np.uint64), 7).all()


def test_every_coin_has_its_own_probability():
    numerators = np.tile(np.arange(4, dtype=np.uint64), DRAWS)
    coins = bernoulli_exp(SeededSource(SEED), numerators, 3).reshape(DRAWS, 4)
    for numerator in range(4):
        assert plausible(coins[:, numerator].sum(), math.exp(-numerator / 3))


def test_runs_of_heads_are_geometric():
    runs = geometric_exp(SeededSource(SEED), DRAWS)
    for length in range(8):
        assert plausible((runs >= length).sum(), math.exp(-length))
