"""What is particular to the adaptive mechanism: its rounds, its budget, its public guess, its depth."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.calibration import LARGEST_SCALE
from mechanisms.central.adaptive.mechanism import MOST_CELLS, Adaptive, Round, epsilon_over
from mechanisms.central.adaptive.quadtree_cut import Cut
from mechanisms.check import ParameterError
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.mechanism import Target
from mechanisms.reproduction.seeded import SeededSource
from mechanisms.space.grid import morton_decode, morton_encode
from tests.mechanisms.examples import SEED, crowd, make, masses_for
from tests.mechanisms.laws import fits

epsilons = st.builds(
    lambda digits, places: Fraction(digits, 10**places), st.integers(1, 10**9), st.integers(0, 6)
)


@settings(derandomize=True, deadline=None)
@given(epsilons, st.sampled_from(Relation), st.integers(1, 10**12))
def test_rounds_cost_epsilon_exactly_and_their_noise_no_less(epsilon, relation, persons):
    mechanism = make("adaptive", epsilon=epsilon, relation=relation, expected_persons=persons)
    assert sum(mechanism.round_epsilons) == epsilon == mechanism.guarantee.loss(INFINITY)
    reach = mechanism.unit * (2 if relation is Relation.REPLACE else 1)
    for scale, part in zip(mechanism.round_scales, mechanism.round_epsilons, strict=True):
        assert part * (1 - Fraction(1, 10**9)) <= reach / scale <= part
        assert scale <= LARGEST_SCALE


@pytest.mark.parametrize("epsilon", ["0.01", "1", "50"])
@pytest.mark.parametrize("relation", Relation)
def test_epsilon_is_spent_exactly_over_every_finest_cell(relation, epsilon):
    mechanism = make("adaptive", epsilon=epsilon, relation=relation, resolution=32)
    rounds = mechanism.measure(crowd(mechanism, cells=9, persons=200), SeededSource(SEED))
    everywhere = epsilon_over(rounds, level=5, cells=np.arange(4**5))
    assert set(everywhere) == {mechanism.epsilon}


def test_the_sum_over_a_cell_sees_a_round_that_is_counted_twice():
    mechanism = make("adaptive", resolution=32)
    first, second = mechanism.measure(crowd(mechanism, cells=9, persons=200), SeededSource(SEED))
    assert epsilon_over((first, second, second), level=5, cells=np.array([17])) == [Fraction(3, 2)]


@pytest.mark.parametrize("relation", Relation)
def test_every_cell_of_both_rounds_has_noise_of_the_scale_that_was_paid_for(relation):
    """The noise of 45 maps pooled, empty squares included: the exact law, not one of 1.1 times the scale."""
    mechanism = make("adaptive", epsilon=1, relation=relation, expected_persons=3000)
    masses = masses_for(mechanism, {cell: 24 for cell in range(256) if cell % 64 > 15})
    releases = [mechanism.measure(masses, SeededSource(seed)) for seed in range(45)]
    for number in (0, 1):
        rounds = [rounds[number] for rounds in releases]
        noise = np.concatenate([part.noisy - part.cut.masses(masses) for part in rounds])
        assert noise.size > 7_000
        assert fits(noise, mechanism.round_scales[number])
        assert not fits(noise, mechanism.round_scales[number] * 11 / 10)


def test_the_second_cut_is_fine_where_the_first_round_found_mass():
    mechanism = make("adaptive", epsilon=1, resolution=256, expected_persons=2000)
    town = masses_for(mechanism, dict.fromkeys(range(64), 30))  # 2,000 persons in a 1,024th of the region
    _, second = mechanism.measure(town, SeededSource(SEED))
    assert second.cut.levels[0] >= mechanism.first_level + 2
    assert second.cut.levels[-1] < mechanism.first_level
    assert second.cut.levels.size < 1.5 * 4**mechanism.first_level


@pytest.mark.parametrize(("scales", "finest"), [(5.0, 0), (7.0, 4), (10.0, 5), (20.0, 5), (100.0, 6)])
def test_a_cell_of_the_first_grid_is_split_again_once_its_level_is_worth_it(scales, finest):
    """Exact measurements of one occupied cell: one level finer pays off before its fair share says so."""
    mechanism = make("adaptive", epsilon=1, resolution=256, expected_persons=500)
    assert mechanism.first_level == 3
    cut = Cut.grid(3)
    noisy = np.zeros(64, np.int64)
    noisy[40] = int(scales * float(mechanism.round_scales[0]))
    second = mechanism.second_cut(Round(cut=cut, noisy=noisy, epsilon=Fraction(1, 2)))
    assert second.levels.max() == finest


def test_the_second_cut_sees_only_what_was_paid_for():
    mechanism = make("adaptive", epsilon=1, resolution=64)
    first, second = mechanism.measure(crowd(mechanism, cells=20, persons=200), SeededSource(SEED))
    again = mechanism.second_cut(first)  # without the data
    assert np.array_equal(again.levels, second.cut.levels)
    assert np.array_equal(again.prefixes, second.cut.prefixes)


def test_few_persons_or_little_epsilon_measure_the_whole_region_as_one_cell():
    for facts in ({"epsilon": "1e-6"}, {"epsilon": 1, "expected_persons": 1}):
        assert make("adaptive", resolution=256, **facts).first_level == 0


@pytest.mark.parametrize("epsilon", ["1e-6", "1", pytest.param("1e6", marks=pytest.mark.long)])
@pytest.mark.parametrize("persons", [1, 10**8])
def test_any_public_guess_is_carried_out(epsilon, persons):
    mechanism = make("adaptive", epsilon=epsilon, resolution=2**16, expected_persons=persons)
    masses = crowd(mechanism, cells=50, persons=10_000)
    heatmap = mechanism.release(masses, SeededSource(SEED))
    assert heatmap.levels.size <= 2 * MOST_CELLS + 4**mechanism.first_level
    assert np.isfinite(heatmap.standard_errors).all()


def test_a_wrong_guess_costs_accuracy_never_the_promise():
    right, wrong = (make("adaptive", expected_persons=persons) for persons in (200, 20_000))
    assert right.guarantee == wrong.guarantee
    assert right.round_scales == wrong.round_scales


@pytest.mark.parametrize("persons", [None, 0, -3, 10**12 + 1, 2.5, True])
def test_without_a_public_guess_it_says_what_to_give(persons):
    target = Target(relation=Relation.ADD_REMOVE, epsilon=Fraction(1), expected_persons=persons)
    with pytest.raises(ParameterError, match=r"expected_persons is .*, allowed: .* public guess"):
        Adaptive.calibrate(target, resolution=16)


def test_depth_follows_the_data_to_the_finest_grid():
    mechanism = make("adaptive", epsilon=1, resolution=2**12, expected_persons=10**6)
    village = masses_for(mechanism, {5: 10**6})
    heatmap = mechanism.release(village, SeededSource(SEED))
    fine = heatmap.levels == 12
    assert heatmap.values[fine][heatmap.prefixes[fine] == 5] > 0.99 * 10**6
    assert heatmap.levels.min() == mechanism.first_level


def test_time_follows_the_cut_not_the_resolution():
    """The same data at 2^8 and 2^16 cells a side: the words drawn, which follow the cells measured."""

    class Counting(SeededSource):
        drawn = 0

        def words(self, count):
            Counting.drawn += count
            return super().words(count)

    counts = []
    for level in (8, 16):
        mechanism = make("adaptive", epsilon=1, resolution=2**level, expected_persons=200)
        up = 2 * (level - 6)
        masses = masses_for(mechanism, {cell << up: 2 for cell in range(0, 4**6, 41)})
        Counting.drawn = 0
        mechanism.release(masses, Counting(SEED))
        counts.append(Counting.drawn)
    assert counts[1] < 1.5 * counts[0]


def test_turning_the_data_turns_the_law_of_the_map():
    """Maps of mirrored data, mirrored back: means over 60 maps agree. Power: a shift by a quarter of the
    square, the smallest a mix-up of codes can make, is 20 standard errors."""
    mechanism = make("adaptive", epsilon=2, resolution=16)
    masses = crowd(mechanism, cells=6, persons=200)
    x, y = morton_decode(masses.cells, 4)
    flipped = morton_encode(15 - x, y, 4)
    order = np.argsort(flipped)
    mirror = replace(masses, cells=flipped[order], masses=masses.masses[order])
    one, other = (
        np.mean([mechanism.release(m, SeededSource(seed)).dense() for seed in range(60)], axis=0)
        for m in (masses, mirror)
    )
    assert np.abs(one - other[:, ::-1]).sum() < 0.15
    assert np.abs(one - other).sum() > 0.5
