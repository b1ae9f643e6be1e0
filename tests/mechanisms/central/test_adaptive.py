"""What is particular to the adaptive mechanism: its walk, its rounds, its budget, its public guess."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.calibration import LARGEST_SCALE
from mechanisms.central.adaptive.mechanism import GUIDED, MOST_WALKED, Adaptive, takes_guide
from mechanisms.central.adaptive.one_walk import FINEST_FIRST, TOKENS, OneWalk
from mechanisms.central.adaptive.quadtree_cut import Cut
from mechanisms.central.adaptive.rounds import NoisyRound, epsilon_over
from mechanisms.central.adaptive.two_rounds import MOST_CELLS, TwoRounds
from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.guide import Guide
from mechanisms.mechanism import Target
from mechanisms.space.grid import morton_decode, morton_encode
from tests.mechanisms.examples import SEED, crowd, make, masses_for
from tests.mechanisms.laws import fits

epsilons = st.builds(
    lambda digits, places: Fraction(digits, 10**places), st.integers(1, 10**9), st.integers(0, 6)
)


def two_rounds(**facts):
    """As version 1 always does."""
    return replace(make("adaptive", **facts), version=1).rounds


@settings(derandomize=True, deadline=None)
@given(epsilons, st.sampled_from(Relation), st.integers(1, 10**12))
def test_rounds_cost_epsilon_exactly_and_their_noise_no_less(epsilon, relation, persons):
    mechanism = make("adaptive", epsilon=epsilon, relation=relation, expected_persons=persons)
    rounds = mechanism.rounds
    assert sum(rounds.round_epsilons) == epsilon == mechanism.guarantee.loss(INFINITY)
    reach = mechanism.unit * (2 if relation is Relation.REPLACE else 1)
    for scale, part in zip(rounds.round_scales, rounds.round_epsilons, strict=True):
        assert part * (1 - Fraction(1, 10**9)) <= reach / scale <= part
        assert scale <= LARGEST_SCALE


@pytest.mark.parametrize(
    ("relation", "persons", "kind"),
    [
        (Relation.ADD_REMOVE, MOST_WALKED, OneWalk),
        (Relation.ADD_REMOVE, MOST_WALKED + 1, TwoRounds),
        (Relation.REPLACE, 2 * MOST_WALKED, OneWalk),
        (Relation.REPLACE, 2 * MOST_WALKED + 1, TwoRounds),
    ],
)
def test_public_numbers_say_whether_it_walks(relation, persons, kind):
    assert type(make("adaptive", relation=relation, expected_persons=persons).rounds) is kind
    assert type(two_rounds(relation=relation, expected_persons=persons)) is TwoRounds


@pytest.mark.parametrize("version", [0, 3])
def test_there_are_two_versions(version):
    with pytest.raises(ParameterError, match=f"version is {version}, allowed: .*1.*2"):
        replace(make("adaptive"), version=version)


def test_a_target_without_a_version_asks_for_the_newest():
    targets = [
        Target(relation=Relation.ADD_REMOVE, epsilon=Fraction(1), expected_persons=200, version=version)
        for version in (None, 1, 2)
    ]
    assert [Adaptive.calibrate(target, resolution=16).version for target in targets] == [2, 1, 2]


@pytest.mark.parametrize("relation", Relation)
def test_a_guide_is_taken_where_the_noise_is_neither_too_much_nor_too_little(relation):
    factor, guide = (2 if relation is Relation.REPLACE else 1), Guide.of_values(np.ones((64, 64)))
    least, most = (factor * end for end in GUIDED)
    for persons, taken in ((least - 1, False), (least, True), (most, True), (most + 1, False)):
        assert takes_guide(relation, Fraction(1), persons) is taken
        target = Target(relation=relation, epsilon=Fraction(1), expected_persons=persons, guide=guide)
        if taken:
            assert Adaptive.calibrate(target, resolution=16).guide == guide
        else:
            with pytest.raises(ParameterError, match=r"guide is .*, allowed: none"):
                Adaptive.calibrate(target, resolution=16)


@pytest.mark.parametrize("epsilon", ["0.01", "1", "50"])
@pytest.mark.parametrize("relation", Relation)
def test_epsilon_is_spent_exactly_over_every_finest_cell(relation, epsilon):
    mechanism = make("adaptive", epsilon=epsilon, relation=relation, resolution=32)
    rounds = mechanism.measure(crowd(mechanism, cells=9, persons=200), SeededSource(SEED))
    everywhere = epsilon_over(rounds, level=5, cells=np.arange(4**5))
    assert set(everywhere) == {mechanism.epsilon}


def test_the_sum_over_a_cell_sees_a_round_that_is_counted_twice():
    mechanism = two_rounds(resolution=32)
    first, second = mechanism.measure(crowd(mechanism, cells=9, persons=200), SeededSource(SEED))
    assert epsilon_over((first, second, second), level=5, cells=np.array([17])) == [Fraction(3, 2)]


@pytest.mark.parametrize("relation", Relation)
def test_every_cell_of_both_rounds_has_noise_of_the_scale_that_was_paid_for(relation):
    """The noise of 45 maps pooled, empty squares included: the exact law, not one of 1.1 times the scale."""
    mechanism = two_rounds(epsilon=1, relation=relation, expected_persons=3000)
    masses = masses_for(mechanism, {cell: 24 for cell in range(256) if cell % 64 > 15})
    releases = [mechanism.measure(masses, SeededSource(seed)) for seed in range(45)]
    for number in (0, 1):
        rounds = [rounds[number] for rounds in releases]
        noise = np.concatenate([part.noisy - part.cells.masses(masses) for part in rounds])
        assert noise.size > 7_000
        assert fits(noise, mechanism.round_scales[number])
        assert not fits(noise, mechanism.round_scales[number] * 11 / 10)


@pytest.mark.parametrize("relation", Relation)
def test_every_leaf_of_a_walk_has_noise_of_the_scale_that_was_paid_for(relation):
    """Crowds in every finest cell, so that which token is kept depends on none: 40 maps of 256 leaves."""
    mechanism = make("adaptive", epsilon=1, relation=relation, expected_persons=200)
    masses = masses_for(mechanism, dict.fromkeys(range(256), 10_000))
    rounds = [mechanism.measure(masses, SeededSource(seed))[0] for seed in range(40)]
    noise = np.concatenate([part.noisy - part.cells.masses(masses) for part in rounds])
    assert noise.size == 40 * 256
    scale = Fraction(mechanism.unit * (2 if relation is Relation.REPLACE else 1))
    assert fits(noise, scale)
    assert not fits(noise, scale * 11 / 10)
    assert not fits(noise, scale * 10 / 11)


def test_a_walk_is_fine_where_mass_is():
    mechanism = make("adaptive", epsilon=1, resolution=256, expected_persons=200)
    village = masses_for(mechanism, dict.fromkeys(range(64), 3))  # in a 1,024th of the region
    (only,) = mechanism.measure(village, SeededSource(SEED))
    assert only.cells.levels[0] >= mechanism.rounds.first_level + 3
    assert only.cells.levels[-1] == mechanism.rounds.first_level
    assert only.cells.levels.size < 6 * 4**mechanism.rounds.first_level


def test_the_second_cut_is_fine_where_the_first_round_found_mass():
    mechanism = two_rounds(epsilon=1, resolution=256, expected_persons=2000)
    town = masses_for(mechanism, dict.fromkeys(range(64), 30))  # 2,000 persons in a 1,024th of the region
    _, second = mechanism.measure(town, SeededSource(SEED))
    assert second.cells.levels[0] >= mechanism.first_level + 2
    assert second.cells.levels[-1] < mechanism.first_level
    assert second.cells.levels.size < 1.5 * 4**mechanism.first_level


@pytest.mark.parametrize(("scales", "finest"), [(5.0, 0), (7.0, 4), (10.0, 5), (20.0, 5), (100.0, 6)])
def test_a_cell_of_the_first_grid_is_split_again_once_its_level_is_worth_it(scales, finest):
    """Exact measurements of one occupied cell: one level finer pays off before its fair share says so."""
    mechanism = two_rounds(epsilon=1, resolution=256, expected_persons=500)
    assert mechanism.first_level == 3
    cut = Cut.grid(3)
    noisy = np.zeros(64, np.int64)
    noisy[40] = int(scales * float(mechanism.round_scales[0]))
    second = mechanism.second_cut(NoisyRound(cells=cut, noisy=noisy, epsilon=Fraction(1, 2)))
    assert second.levels.max() == finest


def test_the_second_cut_sees_only_what_was_paid_for():
    mechanism = two_rounds(epsilon=1, resolution=64)
    first, second = mechanism.measure(crowd(mechanism, cells=20, persons=200), SeededSource(SEED))
    again = mechanism.second_cut(first)  # without the data
    assert np.array_equal(again.levels, second.cells.levels)
    assert np.array_equal(again.prefixes, second.cells.prefixes)


def test_few_persons_or_little_epsilon_measure_the_whole_region_as_one_cell_of_two_rounds():
    for facts in ({"epsilon": "1e-6"}, {"epsilon": 1, "expected_persons": 1}):
        assert two_rounds(resolution=256, **facts).first_level == 0


@pytest.mark.parametrize("epsilon", ["1e-6", "1", pytest.param("1e6", marks=pytest.mark.long)])
@pytest.mark.parametrize("persons", [1, 10**8])
def test_any_public_guess_is_carried_out(epsilon, persons):
    mechanism = make("adaptive", epsilon=epsilon, resolution=2**16, expected_persons=persons)
    masses = crowd(mechanism, cells=50, persons=10_000)
    heatmap = mechanism.release(masses, SeededSource(SEED))
    assert heatmap.levels.size <= 2 * MOST_CELLS + 4**mechanism.rounds.first_level
    assert np.isfinite(heatmap.standard_errors).all()


@pytest.mark.parametrize("version", [1, 2])
def test_a_wrong_guess_costs_accuracy_never_the_promise(version):
    right, wrong = (replace(make("adaptive", expected_persons=n), version=version) for n in (200, 20_000))
    assert right.guarantee == wrong.guarantee
    assert right.unit == wrong.unit
    assert type(right.rounds) is type(wrong.rounds) or version == 2


def test_a_walk_has_no_more_leaves_than_tokens():
    """People everywhere, many more than were expected."""
    mechanism = make("adaptive", epsilon=1, resolution=512, expected_persons=1000)
    masses = masses_for(mechanism, dict.fromkeys(range(0, 4**9, 16), 1600))
    (only,) = mechanism.measure(masses, SeededSource(SEED))
    assert only.cells.levels.size == 4**FINEST_FIRST * TOKENS <= MOST_CELLS


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
    assert heatmap.levels.min() == mechanism.rounds.first_level


@pytest.mark.parametrize("version", [1, 2])
def test_time_follows_the_cut_not_the_resolution(version):
    """The same data at 2^8 and 2^16 cells a side: the words drawn, which follow the cells measured."""

    class Counting(SeededSource):
        drawn = 0

        def words(self, count):
            Counting.drawn += count
            return super().words(count)

    counts = []
    for level in (8, 16):
        mechanism = make("adaptive", epsilon=1, resolution=2**level, expected_persons=200)
        mechanism = replace(mechanism, version=version)
        up = 2 * (level - 6)
        masses = masses_for(mechanism, {cell << up: 2 for cell in range(0, 4**6, 41)})
        Counting.drawn = 0
        mechanism.release(masses, Counting(SEED))
        counts.append(Counting.drawn)
    assert counts[1] < 1.5 * counts[0]


@pytest.mark.parametrize("version", [1, 2])
def test_turning_the_data_turns_the_law_of_the_map(version):
    """Maps of mirrored data, mirrored back: means over 20 maps agree. Power: a shift by a quarter of the
    square, the smallest a mix-up of codes can make, is 11 standard errors."""
    mechanism = replace(make("adaptive", epsilon=2, resolution=16), version=version)
    masses = crowd(mechanism, cells=6, persons=200)
    x, y = morton_decode(masses.cells, 4)
    flipped = morton_encode(15 - x, y, 4)
    order = np.argsort(flipped)
    mirror = replace(masses, cells=flipped[order], masses=masses.masses[order])
    one, other = (
        np.mean([mechanism.release(m, SeededSource(seed)).dense() for seed in range(20)], axis=0)
        for m in (masses, mirror)
    )
    assert np.abs(one - other[:, ::-1]).sum() < 0.15
    assert np.abs(one - other).sum() > 0.5
