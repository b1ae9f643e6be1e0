"""Coins against their exact probability: at 400,000 draws a 2 % error of the rarest is seen at 1e-6."""

import math

import numpy as np
import pytest

from mechanisms.evaluation.seeded import SeededSource
from mechanisms.samplers.bernoulli_exp import _heads_exp_minus_one, bernoulli_exp, geometric_exp
from tests.mechanisms.examples import SEED
from tests.mechanisms.sources import Scripted

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


def test_one_word_decides_on_twenty_coins():
    # The first failing coin is the k with 20!/k! ≤ U < 20!/(k-1)!; heads when that k is odd.
    whole = math.factorial(20)
    edges = {k: whole // math.factorial(k) for k in range(1, 21)}
    words = [edges[2], edges[2] - 1, edges[3], edges[3] - 1, edges[19], 1]
    first_failures = [2, 3, 3, 4, 19, 20]
    heads = _heads_exp_minus_one(Scripted(*words), len(words))
    assert heads.tolist() == [k % 2 == 1 for k in first_failures]


@pytest.mark.parametrize(("words", "heads"), [((0, 1), True), ((0, 0, 1), False), ((0, 0, 0, 1), True)])
def test_what_twenty_coins_leave_open_is_tossed_on(words, heads):
    # After U = 0 come coins of probability 1/21, 1/22, …: a word of 0 shows heads there.
    source = Scripted(*words)
    assert _heads_exp_minus_one(source, 1).tolist() == [heads]
    assert source.left == []
