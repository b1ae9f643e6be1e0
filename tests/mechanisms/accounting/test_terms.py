"""Every tail, slack and rounding of the accounts is needed: without it an exact law here is understated."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest

from mechanisms.accounting.conditioned import (
    _chernoff,
    charge_of_clamping,
    charge_of_conditioning,
    conditioned,
    conditioned_sum,
    log_truncation,
    smallest_padding,
)
from mechanisms.accounting.flipped_bits import LARGEST_BITS, flipped_bits
from mechanisms.accounting.hockey_stick import calibrate_geo_sum, geo_sum_delta, hockey_stick
from mechanisms.accounting.randomised_response import (
    _DeltaSearch,
    flip_without_ones,
    largest_ones_delta,
    ones_delta,
)
from mechanisms.accounting.sgdl import _running, sgdl
from mechanisms.accounting.symmetric_law import SymmetricLaw
from mechanisms.accounting.two_axes import two_axes_delta
from mechanisms.check import ParameterError


def cut(law, radius):
    """The table of −radius … radius of a whole law on −R … R, and what it leaves out."""
    middle = law.size // 2
    beyond = float(law[: middle - radius].sum() + law[middle + radius + 1 :].sum())
    table = np.log(law[middle : middle + radius + 1])
    return SymmetricLaw(log_probabilities=table, mass_beyond=beyond)


def exact_delta(law, shift, loss):
    """Of a whole law on a line or, of two draws of it, in the plane."""
    here, there = np.ones(()), np.ones(())
    for steps in shift:
        here = np.multiply.outer(here, np.pad(law, (0, steps)))
        there = np.multiply.outer(there, np.pad(law, (steps, 0)))
    return float(np.maximum(there - math.exp(loss) * here, 0).sum())


# --- tails of tables ---


def test_what_has_no_entry_to_compare_with_counts_in_full():
    even = np.full(3, 1 / 3)
    assert exact_delta(even, (1,), 1.0) == pytest.approx(1 / 3)
    assert hockey_stick(cut(even, 1), distance=1, loss=1.0) >= 1 / 3


def test_what_a_table_leaves_out_counts_wherever_it_is():
    """A fifth each at −10, −1, 0, 1 and 10: none of it stands beside another after a move by one, or two."""
    law = np.zeros(21)
    law[[0, 9, 10, 11, 20]] = 0.2
    assert exact_delta(law, (1,), 5.0) == pytest.approx(0.6)
    assert hockey_stick(cut(law, 1), distance=1, loss=5.0) >= 0.6 - 1e-12


@pytest.mark.parametrize(
    ("law", "radius", "shift", "loss"),
    [
        (np.full(37, 1 / 37), 13, (12, 12), 0.0367),  # what is missing on both axes
        (np.full(21, 1 / 21), 10, (6, 5), 3.0),  # nothing is missing, but by the move
    ],
)
def test_what_a_table_leaves_out_counts_in_the_plane(law, radius, shift, loss):
    assert exact_delta(law, shift, loss) <= two_axes_delta(cut(law, radius), shift=shift, loss=loss) + 1e-12


def test_each_axis_may_miss_what_its_table_leaves_out():
    logs = np.log(np.array([0.4, 0.2, 0.05]))
    whole, less = (SymmetricLaw(log_probabilities=logs, mass_beyond=mass) for mass in (0.0, 0.05))
    found = [two_axes_delta(law, shift=(1, 1), loss=1.0) for law in (whole, less)]
    assert found[1] - found[0] >= 2 * 0.05 * (1 - 1e-9)


# --- rounding of losses and sums ---


@pytest.mark.parametrize("shift", [(1,), (3,), (2, 1)])
def test_a_loss_just_below_what_a_move_costs_has_a_delta(shift):
    """Geometric noise: all of δ is on a plateau of the ratio that rounding could hide."""
    for epsilon in np.linspace(0.3, 2, 60).tolist():
        law, loss = sgdl(1, epsilon, radius=150), epsilon * sum(shift) * (1 - 1e-15)
        with mpmath.workdps(40):
            e = mpmath.mpf(epsilon)
            # An axis is on the plateau from its step on: P(N ≥ 0) = 1/(1 + p) after the move.
            plateau = (1 + mpmath.exp(-e)) ** -len(shift)
            exact = plateau * (1 - mpmath.exp(mpmath.mpf(loss) - e * sum(shift)))
        if len(shift) == 1:
            found = hockey_stick(law, distance=shift[0], loss=loss)
        else:
            found = two_axes_delta(law, shift=shift, loss=loss)
        assert 0 < exact <= found


@pytest.mark.parametrize("distance", [5, 9, 14])
def test_sums_of_a_table_are_rounded_up(distance):
    """All of the law but next to nothing tells the difference: δ is the sum of its entries."""
    for width in (3.0, 4.1, 5.3, 6.7):
        logs = np.log(np.exp(-np.arange(24) * width) * math.tanh(width / 2))
        law = SymmetricLaw(log_probabilities=np.minimum(logs, 0), mass_beyond=0.0)
        with mpmath.workdps(60):
            table = [mpmath.exp(mpmath.mpf(float(x))) for x in law.two_sided()]
            shifted = [0] * distance + table
            here = table + [0] * distance
            odds = mpmath.exp(mpmath.mpf("0.5"))
            exact = sum(max(0, a - odds * b) for a, b in zip(shifted, here, strict=True))
            plane = [
                max(0, a * s - odds * b * t)
                for a, b in zip(shifted, here, strict=True)
                for s, t in zip([0, *table], [*table, 0], strict=True)
            ]
        found = hockey_stick(law, distance=distance, loss=0.5)
        assert min(exact, 1) <= found
        assert min(sum(plane), 1) <= two_axes_delta(law, shift=(distance, 1), loss=0.5)


# --- tables of summed noise ---


def test_entries_are_good_to_a_part_of_the_slack_in_long_tables():
    for epsilon, radius in ((0.01, 10_000), (0.001, 100_000)):
        steps = np.linspace(0, radius, 7).astype(int)
        found = sgdl(1, epsilon, radius=radius).log_probabilities[steps]
        exact = math.log(math.tanh(epsilon / 2)) - epsilon * steps
        assert np.abs(found - exact).max() < 2e-12


@pytest.mark.parametrize("beta", [0.01, 0.5, 3, 50, 1000])
@pytest.mark.parametrize("epsilon", [0.003, 0.5])
def test_entries_are_good_in_short_tables(beta, epsilon):
    """Ratios of neighbours in short tables are those of the law: by its power series, in 30 digits."""
    law = sgdl(beta, epsilon, radius=20).log_probabilities
    with mpmath.workdps(30):
        p2 = mpmath.exp(-2 * mpmath.mpf(epsilon))

        def entry(m):  # p^m · (β)_m / m! · ₂F₁(β, β + m; m + 1; p²), up to a factor
            power = mpmath.exp(-m * mpmath.mpf(epsilon)) * mpmath.rf(beta, m) / mpmath.factorial(m)
            return mpmath.log(power * mpmath.hyp2f1(beta, beta + m, m + 1, p2))

        exact = [float(entry(m) - entry(0)) for m in (1, 7, 20)]
    assert law[[1, 7, 20]] - law[0] == pytest.approx(exact, abs=2e-12)


def test_what_a_table_of_noise_leaves_out_is_rounded_up():
    for epsilon in np.linspace(0.4, 2, 30).tolist():
        for radius in (100, 133, 800):
            with mpmath.workdps(40):
                p = mpmath.exp(-mpmath.mpf(epsilon))
                exact = 2 * p ** (radius + 1) / (1 + p)
            assert sgdl(1, epsilon, radius=radius).mass_beyond >= min(exact, mpmath.mpf("2e-308"))
            assert sgdl(1, epsilon, radius=radius).mass_beyond > 0


def test_running_sums_do_not_add_up_rounding():
    found = _running(np.full(10**6 + 1, 0.1))
    assert found.size == 10**6 + 1
    assert abs(found[-1] - (10**6 + 1) * Fraction(0.1)) < 1e-8  # a plain sum is off by 1e-6


def test_tables_of_one_entry_are_laws():
    for epsilon in np.geomspace(0.01, 3, 40).tolist():
        for beta in (0.3, 1, 7):
            assert sgdl(beta, epsilon, radius=0).log_probabilities[0] <= 0


def test_noise_as_wide_as_one_loss_costs_no_delta_and_wider_than_rounding_some():
    assert geo_sum_delta(persons=3, epsilon_geo=0.4999, radius=10, epsilon=0.5) == 0
    assert geo_sum_delta(persons=3, epsilon_geo=0.5, radius=10, epsilon=0.5) > 0
    assert 0.4999 < calibrate_geo_sum(persons=1, epsilon=0.5, delta=1e-16, radius=10) < 0.5


# --- noise that is cut ---


def test_charges_of_a_cut_are_met_exactly_by_some_laws():
    """Two events, of which one holds all that was cut, before the move or after it."""
    for u, cut_off, loss in ((0.3, 0.1, 0.5), (0.9, 0.01, 2.0), (0.5, 0.2, 0.0)):
        uncut = max(u - math.exp(loss) * cut_off, 0) + max(1 - u - math.exp(loss) * (1 - cut_off), 0)
        factor, addend = charge_of_conditioning(log_truncation=math.log(cut_off), loss=loss)
        assert u / (1 - cut_off) <= (uncut * factor + addend) * (1 + 1e-12)
        v = (u - uncut) / math.exp(loss)  # the event's probability after the move
        clamped = u + cut_off - math.exp(loss) * (v - cut_off)
        factor, addend = charge_of_clamping(log_truncation=math.log(cut_off), loss=loss)
        assert clamped <= (uncut * factor + addend) * (1 + 1e-12)


def test_tails_of_noise_are_rounded_up_and_not_lost_when_they_are_tiny():
    for epsilon in (0.3, 1.0):
        for padding in (3, 10, 31, 100, 690):
            with mpmath.workdps(40):
                p = mpmath.exp(-mpmath.mpf(epsilon))
                exact = mpmath.log(2 * p ** (padding + 1) / (1 + p))
                none = mpmath.log(-mpmath.expm1(3 * mpmath.log1p(-mpmath.exp(exact))))
            found = log_truncation(persons=1, beta=1, epsilon=epsilon, padding=padding)
            assert exact <= found <= exact + 1e-9
            assert none <= log_truncation(persons=3, beta=1, epsilon=epsilon, padding=padding) <= none + 1e-9
    for padding in range(725, 742):
        least = math.log(3 * 2 / (1 + math.exp(-1))) - padding - 1
        assert least <= log_truncation(persons=3, beta=1, epsilon=1.0, padding=padding) <= least + 1


def test_a_tail_counts_what_is_beyond_its_own_table():
    """Noise that is wider than its table of padding and 60/ε: that of 1,000 persons together."""
    wide = np.exp(sgdl(1000, 1.0, radius=900).log_probabilities)
    found = log_truncation(persons=1, beta=1000, epsilon=1.0, padding=20)
    assert math.log(2 * wide[21:].sum()) <= found


def test_the_padding_that_is_found_suffices_and_wider_noise_is_refused():
    for epsilon in (0.01, 1.0, 6.0):
        for log_probability in (-0.01, -3.0, -80.0):
            law = {"persons": 2, "beta": 1, "epsilon": epsilon}
            found = smallest_padding(**law, log_probability=log_probability)
            assert log_truncation(**law, padding=found) <= log_probability
    with pytest.raises(ParameterError, match="beta"):
        smallest_padding(persons=2, beta=50, epsilon=1.0, log_probability=-3.0)


def test_a_window_charges_all_that_convolutions_may_cut():
    """At most (2n + 64) times the mass beyond it, both sides; a law at ±R alone is beyond it for certain."""
    law, persons, radius = conditioned(sgdl(1, 0.3, radius=40), 20), 30, 150
    whole = conditioned_sum(law, persons=persons, radius=600)
    missing = 2 * np.exp(whole.log_probabilities[radius + 1 :]).sum()
    assert conditioned_sum(law, persons=persons, radius=radius).mass_beyond >= (2 * persons + 64) * missing
    ends = np.full(21, -800.0)
    ends[20] = math.log(0.5)
    assert _chernoff(SymmetricLaw(log_probabilities=ends, mass_beyond=0.0), 1, 19) == 1


def test_a_whole_sum_counts_what_underflows():
    law = conditioned(sgdl(1, 30.0, radius=60), 40)
    found = conditioned_sum(law, persons=2, radius=80)
    assert found.radius < 80
    assert found.mass_beyond > 0


# --- flipped bits ---


@pytest.mark.parametrize("flip", [0.01, 0.3])
def test_entries_of_the_largest_tables_are_good_to_half_of_the_slack(flip):
    found = flipped_bits(LARGEST_BITS, 0, flip)
    assert found.mass_beyond >= 2 * math.exp(-60)  # both ends
    with mpmath.workdps(50):
        for place in np.linspace(0, found.log_probabilities.size - 1, 5).astype(int).tolist():
            y, f = found.first + place, mpmath.mpf(flip)
            ways = (mpmath.loggamma(x + 1) for x in (LARGEST_BITS, y, LARGEST_BITS - y))
            whole, some, rest = ways
            exact = whole - some - rest + y * mpmath.log(f) + (LARGEST_BITS - y) * mpmath.log(1 - f)
            assert abs(found.log_probabilities[place] - exact) < 1e-10


def bits_law(bits, ones, flip, one=1):
    law = np.array([one])
    for p in [1 - flip] * ones + [flip] * (bits - ones):
        law = np.append(law * (1 - p), 0 * one) + np.append(0 * one, law * p)
    return law


def bits_delta(bits, ones, flip, distance, loss):
    """Exact, in 40 digits."""
    with mpmath.workdps(40):
        here, there = (bits_law(bits, t, mpmath.mpf(flip), mpmath.mpf(1)) for t in (ones, ones + distance))
        return sum(max(mpmath.mpf(0), a - mpmath.exp(loss) * b) for a, b in zip(here, there, strict=True))


def test_a_loss_just_below_that_of_one_bit_has_a_delta():
    for flip in (0.1, 0.3, 0.45):
        loss = math.log((1 - flip) / flip) * (1 - 1e-14)
        assert (
            0
            < bits_delta(1, 0, flip, 1, loss)
            <= ones_delta(bits=1, ones=0, flip=flip, distance=1, loss=loss)
        )


@pytest.mark.parametrize("flip", [0.01, 0.03, 0.07])
def test_sums_over_far_bits_are_rounded_up(flip):
    for bits in (11, 19, 30):
        exact = bits_delta(bits, 0, flip, bits, 0.4)
        assert min(exact, 1) <= ones_delta(bits=bits, ones=0, flip=flip, distance=bits, loss=0.4)


def test_the_worst_case_may_be_at_the_lighter_end_or_between_the_ends():
    """(1, 3) of 4 bits; one bit set among 150."""
    for bits, flip, radius, epsilon, ones, distance in ((4, 0.02, 4, 2.0, 1, 3), (150, 0.2, 1, 0.6, 1, 1)):
        worst = bits_delta(bits, ones, flip, distance, epsilon * distance)
        assert worst > bits_delta(bits, 0, flip, radius, epsilon * radius) * mpmath.mpf("1.005")
        assert worst <= largest_ones_delta(bits=bits, flip=flip, radius=radius, epsilon=epsilon)


@pytest.mark.parametrize(("flip", "epsilon"), [(0.2, 0.15), (0.05, 0.8)])
def test_bounds_of_intervals_are_above_every_value_in_them(flip, epsilon):
    search = _DeltaSearch(60, flip, 8, epsilon)
    for low, high in pairwise((0, 3, 20, 50)):
        bound = search.over_ones(low, high)
        for ones in range(low, high + 1):
            assert ones_delta(bits=60, ones=ones, flip=flip, distance=8, loss=epsilon * 8) <= bound * (
                1 + 1e-8
            )
    for low, high in ((1, 3), (2, 7), (5, 5)):
        bound = search.over_distances(low, high)
        for distance in range(low, high + 1):
            for ones in range(53, 60 - distance + 1):
                value = ones_delta(bits=60, ones=ones, flip=flip, distance=distance, loss=epsilon * distance)
                assert value <= bound * (1 + 1e-8)


def test_the_flip_of_one_person_meets_its_delta():
    for delta in (1e-3, 1e-6, 1e-9):
        flip = flip_without_ones(bits=500, epsilon=0.3, delta=delta, radius=4)
        assert ones_delta(bits=500, ones=0, flip=flip, distance=4, loss=1.2) <= delta
