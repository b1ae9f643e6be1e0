"""Samplers word by word, and their tables in many digits: what no number of draws would ever show."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from mechanisms.calibration import LARGEST_SCALE, noise_scale
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation
from mechanisms.metric.itemwise.reduction import sample_records
from mechanisms.samplers.bernoulli_exp import bernoulli_exp
from mechanisms.samplers.binomial import binomial
from mechanisms.samplers.clustered_polya import (
    TOTAL_VARIATION,
    _octaves,
    _uniform_below_each,
    cluster_counts,
)
from mechanisms.samplers.discrete_laplace import LARGEST_NUMERATOR
from mechanisms.samplers.negative_binomial import table, table_of
from mechanisms.samplers.two_sided import total_variation
from mechanisms.samplers.uniform import integer_below
from tests.mechanisms.sources import Scripted

LARGEST = 2**64 - 1


def test_words_without_a_whole_share_of_the_bound_are_drawn_again():
    assert integer_below(Scripted(5, 2), 5) == 2  # the bound itself is none of the numbers
    assert integer_below(Scripted(15), 8) == 7  # a power of two takes no bit too many
    assert _uniform_below_each(Scripted(LARGEST, 4), np.array([3], np.uint64)) == 1
    assert _uniform_below_each(Scripted(LARGEST), np.array([4], np.uint64)) == 3
    assert sample_records(np.array([3]), 1, Scripted(0, 5)) == 2
    assert sample_records(np.array([4]), 1, Scripted(0)) == 0


@pytest.mark.parametrize("first_failure", range(2, 13))
def test_a_coin_that_fails_late_still_tells_odd_from_even(first_failure):
    """exp(−1): coins of 1/2, 1/3, …; so late once in 13!."""
    words = [0] * (first_failure - 2) + [1]
    heads = bernoulli_exp(Scripted(*words), np.ones(1, np.uint64), 1)
    assert heads[0] == (first_failure % 2 == 1)


def test_the_last_bit_of_a_chance_counts():
    assert binomial(Scripted(*[0] * 32), trials=1, chance=1) == 1
    assert binomial(Scripted(*[0] * 31, 1 << 63), trials=1, chance=1) == 0


def exact_law(shape, epsilon, count):
    """`(count,)` the negative binomial law in 600 digits."""
    p = mpmath.exp(-mpmath.mpf(epsilon.numerator) / epsilon.denominator)
    beta, found = mpmath.mpf(shape.numerator) / shape.denominator, []
    entry = (1 - p) ** beta
    for k in range(count):
        found.append(entry)
        entry = entry * p * (beta + k) / (k + 1)
    return found


@pytest.mark.parametrize(
    ("shape", "epsilon"),
    [
        (Fraction(1), Fraction(2)),
        (Fraction(1, 30), Fraction(1)),
        (Fraction(5), Fraction(2)),
        (Fraction(200), Fraction(1, 2)),
    ],
)
def test_a_table_is_as_near_to_its_law_as_it_says(shape, epsilon):
    drawn = table(shape, epsilon)
    with mpmath.workdps(600):
        exact = exact_law(shape, epsilon, len(drawn.ends))
        total = mpmath.mpf(drawn.ends[-1])
        held = [
            mpmath.mpf(end - before) / total
            for before, end in zip((0, *drawn.ends[:-1]), drawn.ends, strict=True)
        ]
        # Half of the sum of all differences; beyond the table the law has what is missing of 1.
        off = (sum(abs(a - b) for a, b in zip(held, exact, strict=True)) + 1 - sum(exact)) / 2
        claimed = mpmath.mpf(drawn.total_variation.numerator) / drawn.total_variation.denominator
        assert off <= claimed < mpmath.mpf(2) ** -400
        assert claimed < 2 * off


def test_rounding_to_a_power_of_two_is_in_the_distance():
    thirds = table_of([1, 1, 1], Fraction(0))
    held = Fraction(thirds.ends[0], thirds.ends[-1]), Fraction(1, 3)
    assert 0 < abs(held[0] - held[1]) <= thirds.total_variation


def test_a_difference_of_two_draws_that_is_conditioned_is_farther_off():
    """Two tables; and an event of probability 1/2 doubles what a draw is off by."""
    shape, epsilon = Fraction(1, 7), Fraction(1)
    assert total_variation(shape=shape, epsilon=epsilon) >= 2 * 2 * table(shape, epsilon).total_variation


@pytest.mark.parametrize("scale", [Fraction(3), Fraction(10**6)])
def test_numbers_of_clusters_are_as_near_to_poisson_as_is_said(scale):
    drawn, shape = cluster_counts(Fraction(1, 2), scale), Fraction(1, 2)
    with mpmath.workdps(400):
        mean = -mpmath.log(-mpmath.expm1(-mpmath.mpf(scale.denominator) / scale.numerator)) * shape.numerator
        mean /= shape.denominator
        before, off, total, left = 0, mpmath.mpf(0), mpmath.mpf(drawn.ends[-1]), mpmath.mpf(1)
        for k, end in enumerate(drawn.ends):
            exact = mpmath.exp(-mean) * mean**k / mpmath.factorial(k)
            off += abs((end - before) / total - exact)
            before, left = end, left - exact
        assert (off + left) / 2 <= mpmath.mpf(2) ** -380
    assert drawn.total_variation <= TOTAL_VARIATION
    assert Fraction(1, 2**380) <= TOTAL_VARIATION


def test_clusters_of_400_scales_can_be_drawn():
    for scale in (Fraction(1, 16), Fraction(1), Fraction(255), Fraction(2**40)):
        assert 1 << _octaves(scale) > 400 * scale


@pytest.mark.parametrize("places", [1, 7, 20])
def test_a_scale_with_many_digits_is_rounded_up_and_fits(places):
    for below in (Fraction(1), Fraction(8), Fraction(2**20), Fraction(2**40)):
        wanted = below * (1 - Fraction(1, 10**25)) / places  # just below a power of two, for one
        scale = noise_scale(Relation.ADD_REMOVE, 1 / wanted, 1)
        assert wanted <= scale <= wanted * (1 + Fraction(1, 2**50)) + Fraction(1, 2**54)
        assert scale.numerator <= LARGEST_NUMERATOR


def test_a_scale_beyond_the_widest_is_refused_and_the_widest_is_not():
    widest = LARGEST_SCALE * (1 - Fraction(1, 10**25))
    assert noise_scale(Relation.ADD_REMOVE, 1 / widest, 1) >= widest
    with pytest.raises(ParameterError, match="epsilon"):
        noise_scale(Relation.ADD_REMOVE, 1 / (widest * Fraction(11, 10)), 1)
