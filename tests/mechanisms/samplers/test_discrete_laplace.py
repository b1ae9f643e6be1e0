"""The sampler against its exact law. At 100,000 draws and significance 1e-6 the test sees a scale that is
10 % off, or a shift by one at scale 10, with a probability above 1 - 1e-9: `test_it_notices_…`."""

from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest

from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.samplers.discrete_laplace import LARGEST_NUMERATOR, _magnitudes, discrete_laplace
from tests.mechanisms.examples import SEED
from tests.mechanisms.laws import DRAWS, SIGNIFICANCE, cumulative, fits, two_sample_p_value

SCALES = [
    Fraction(1, 3),
    Fraction(1),
    Fraction(10),
    Fraction(37, 10),
    Fraction(2**24 * 10, 7),
    Fraction(2**24 * 10),
    Fraction(2**53),
    Fraction(LARGEST_NUMERATOR - 1, 2**20 + 1),
    Fraction(LARGEST_NUMERATOR),
]


def draws_of(scale, size=DRAWS, seed=SEED):
    return discrete_laplace(SeededSource(seed), scale=scale, size=size)


@pytest.fixture(scope="module", params=SCALES, ids=str)
def sample(request):
    return request.param, draws_of(request.param)


def test_it_follows_the_exact_law(sample):
    scale, draws = sample
    assert fits(draws, scale)


@pytest.mark.parametrize("factor", [Fraction(9, 10), Fraction(11, 10)])
def test_it_notices_a_scale_that_is_a_tenth_off(sample, factor):
    scale, draws = sample
    assert not fits(draws, scale * factor)


def test_it_notices_a_shift_by_one():
    draws = draws_of(Fraction(10))
    assert fits(draws, 10)
    assert not fits(draws + 1, 10)
    assert not fits(draws - 1, 10)


def test_it_notices_a_zero_that_counts_twice():
    draws = draws_of(Fraction(10))
    doubled = np.concatenate((draws, draws[draws == 0]))  # what skipping the rejection of -0 would give
    assert not fits(doubled, 10)


def test_its_draws_do_not_depend_on_their_neighbours():
    draws = draws_of(Fraction(10)).astype(float)
    for lag in (1, 2, 7, 64):
        correlation = np.corrcoef(draws[:-lag], draws[lag:])[0, 1]
        assert abs(correlation) < 4.9 / np.sqrt(DRAWS)  # 1e-6, two-sided


def test_its_sign_is_fair_and_apart_from_its_size():
    draws = draws_of(Fraction(2**24 * 10))
    large = np.abs(draws) > 2**24 * 10
    for part in (draws, draws[large]):
        assert abs((part > 0).mean() - 0.5) < 4.9 * 0.5 / np.sqrt(part.size)


def test_small_bits_are_as_random_as_large_ones():
    low = draws_of(Fraction(2**53)) & 1023  # a floating-point sampler leaves a pattern here
    counts = np.bincount(low, minlength=1024)
    statistic = ((counts - DRAWS / 1024) ** 2 / (DRAWS / 1024)).sum()
    assert abs(statistic - 1023) < 4.9 * np.sqrt(2 * 1023)


@pytest.mark.parametrize("scale", [Fraction(10), Fraction(37, 10)])
def test_it_agrees_with_another_library(scale):
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = np.array(dp.m.make_laplace(*space, scale=float(scale))([0] * DRAWS))
    assert two_sample_p_value(draws_of(scale), theirs) > SIGNIFICANCE
    assert two_sample_p_value(draws_of(scale * Fraction(9, 10)), theirs) < SIGNIFICANCE


@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_it_gives_as_many_as_asked_for(size):
    assert draws_of(Fraction(5), size=size).shape == (size,)
    assert draws_of(Fraction(5), size=size).dtype == np.int64


def test_it_is_repeatable_from_the_same_words_and_only_then():
    assert np.array_equal(draws_of(Fraction(10), 1000), draws_of(Fraction(10), 1000))
    assert not np.array_equal(draws_of(Fraction(10), 1000), draws_of(Fraction(10), 1000, seed=SEED + 1))


def test_far_draws_are_exact_and_never_wrap():
    t, s = LARGEST_NUMERATOR - 1, 3
    u, v = np.array([t - 1, 5, 0]), np.array([126, 127, 300])
    exact = [(int(a) + t * int(b)) // s for a, b in zip(u, v, strict=True)]
    assert _magnitudes(u, v, t, s).tolist() == exact
    with pytest.raises(OverflowError):
        _magnitudes(np.array([0]), np.array([128]), LARGEST_NUMERATOR, 1)


@pytest.mark.parametrize(
    "scale",
    [Fraction(0), Fraction(-1), Fraction(LARGEST_NUMERATOR + 1), Fraction(1, 2**62 + 1), float("nan")],
)
def test_scales_it_cannot_carry_are_refused(scale):
    with pytest.raises(ParameterError, match="scale"):
        draws_of(scale)


def test_the_law_used_here_is_one():
    # Guards the oracle itself: the cumulative sums to the mass function it claims.
    a = np.exp(-1 / 3.7)
    values = np.arange(-50, 51)
    steps = np.diff(cumulative(Fraction(37, 10), np.arange(-51, 51))).astype(float)
    assert np.allclose(steps, (1 - a) / (1 + a) * a ** np.abs(values), rtol=1e-12)
