from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.calibration import (
    HIGHEST_EPSILON,
    LARGEST_SCALE,
    LARGEST_UNIT,
    SMALLEST_UNIT,
    checked_epsilon,
    level_of,
    mass_unit,
    noise_scale,
    sensitivity,
)
from mechanisms.check import ParameterError
from mechanisms.guarantee import Relation
from mechanisms.samplers.discrete_laplace import LARGEST_DENOMINATOR, LARGEST_NUMERATOR

relations = st.sampled_from(Relation)
epsilons = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9, max_denominator=10**30)


def test_replacing_a_record_moves_twice_the_mass():
    assert (sensitivity(Relation.ADD_REMOVE), sensitivity(Relation.REPLACE)) == (1, 2)


@settings(derandomize=True)
@given(relations, epsilons)
def test_noise_is_never_too_small_and_hardly_too_large(relation, epsilon):
    unit = mass_unit(relation, epsilon)
    scale = noise_scale(relation, epsilon, unit)
    exact = sensitivity(relation) * unit / epsilon
    assert exact <= scale <= exact * (1 + Fraction(1, 10**9))
    assert scale.numerator <= LARGEST_NUMERATOR
    assert scale.denominator <= LARGEST_DENOMINATOR


@settings(derandomize=True)
@given(relations, epsilons)
def test_the_unit_is_the_largest_power_of_two_that_fits(relation, epsilon):
    unit = mass_unit(relation, epsilon)
    assert SMALLEST_UNIT <= unit <= LARGEST_UNIT
    assert unit & (unit - 1) == 0
    widest = sensitivity(relation) / epsilon
    assert unit * widest <= LARGEST_SCALE
    assert unit == LARGEST_UNIT or 2 * unit * widest > LARGEST_SCALE


def test_short_ratios_are_exact():
    assert noise_scale(Relation.ADD_REMOVE, Fraction(1, 10**6), 2**24) == 2**24 * 10**6
    assert noise_scale(Relation.REPLACE, Fraction(3), 2**24) == Fraction(2**25, 3)


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1), Fraction(HIGHEST_EPSILON + 1)])
def test_epsilons_out_of_range_are_refused(epsilon):
    with pytest.raises(ParameterError, match=r"epsilon is .*, allowed: .* above 0 and of at most 1000000000"):
        checked_epsilon(epsilon)


def test_an_epsilon_below_what_integers_carry_is_refused():
    with pytest.raises(ParameterError, match=r"epsilon is .*, allowed: at least"):
        mass_unit(Relation.ADD_REMOVE, Fraction(1, 10**13))


def test_levels_of_resolutions():
    assert [level_of(2**level, highest=2**16) for level in (1, 8, 16)] == [1, 8, 16]
    for resolution in (0, 1, 3, 255, 2**17):
        with pytest.raises(ParameterError, match="resolution"):
            level_of(resolution, highest=2**16)
