"""What is particular to PrivTree: its two budgets, the theorem along a path, the law of its leaves."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.calibration import check_masses
from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation
from tests.mechanisms.examples import SEED, crowd, make, masses_for
from tests.mechanisms.laws import cumulative, fits

epsilons = st.builds(
    lambda digits, places: Fraction(digits, 10**places), st.integers(1, 10**6), st.integers(0, 4)
)


@settings(derandomize=True, deadline=None)
@given(epsilons, st.integers(1, 99), st.sampled_from(Relation))
def test_tree_and_leaves_cost_epsilon_exactly_and_their_noise_no_less(epsilon, percent, relation):
    mechanism = make("privtree", epsilon=epsilon, relation=relation, tree_percent=str(percent))
    assert mechanism.tree_epsilon == epsilon * percent / 100
    assert mechanism.tree_epsilon + mechanism.leaf_epsilon == epsilon == mechanism.guarantee.loss(INFINITY)
    reach = mechanism.unit * (2 if relation is Relation.REPLACE else 1)
    assert reach / mechanism.leaf_scale <= mechanism.leaf_epsilon
    assert reach / mechanism.tree_scale <= mechanism.tree_epsilon * Fraction(3, 7)
    assert mechanism.bias >= float(mechanism.tree_scale) * math.log(4) * (1 - 1e-12)


def log_split(biased, scale):
    """(log P(split), log P(no split)) of a cell with this biased mass, P(X > -b) of discrete Laplace X."""
    away = np.abs(np.where(biased > 0, biased, 1 - biased)) / scale
    rare = -away - np.log1p(np.exp(-1 / scale))  # log of the smaller of the two
    often = np.log1p(-np.exp(rare))
    return np.where(biased > 0, often, rare), np.where(biased > 0, rare, often)


def path_losses(masses, persons, *, scale, bias):
    """Loss of the tree for each leaf that a path may end in, when all its masses fall by `persons`."""
    depths = np.arange(masses.size)
    one, other = (
        log_split(np.maximum(values - depths * bias, -bias), scale) for values in (masses, masses - persons)
    )
    split, kept = one[0] - other[0], one[1] - other[1]
    return np.concatenate(([0.0], np.cumsum(split)[:-1])) + kept


@pytest.mark.parametrize("percent", ["15", "30", "50"])
def test_a_person_on_a_path_costs_no_more_than_the_trees_epsilon(percent):
    """Second path to the theorem: exact losses of 2,000 random paths, both ways, and a misprint is seen.

    Masses are large multiples of the noise, about one level's bias apart, or random; a scale without the
    factor 7/3 that depth costs exceeds the budget on some of them.
    """
    mechanism = make("privtree", epsilon=2, tree_percent=percent)
    unit, scale, bias = mechanism.unit, float(mechanism.tree_scale), mechanism.bias
    random = np.random.default_rng(SEED)
    worst = {1.0: 0.0, 3 / 7: 0.0}
    for number in range(2000):
        steps = random.choice([0.0, 1.0, random.uniform(0, 3)], size=12)
        masses = unit + np.cumsum((steps * bias)[::-1])[::-1] + random.uniform(-1, 12) * bias * (number % 2)
        masses = np.maximum(masses, unit)
        for factor, so_far in worst.items():
            losses = path_losses(masses, unit, scale=factor * scale, bias=factor * bias)
            worst[factor] = max(so_far, np.abs(losses).max())
    assert worst[1.0] <= float(mechanism.tree_epsilon) * (1 + 1e-9)
    assert worst[3 / 7] > 1.2 * float(mechanism.tree_epsilon)


@pytest.mark.parametrize("resolution", [2, 16, 64])
def test_leaves_cover_every_finest_cell_once(resolution):
    mechanism = make("privtree", epsilon=2, resolution=resolution)
    masses = crowd(mechanism, cells=4, persons=100)
    check_masses(masses, level=resolution.bit_length() - 1, unit=mechanism.unit)
    for seed in range(20):
        cut = mechanism.tree(masses, SeededSource(seed))
        starts = cut.starts(masses.level)
        after = starts + (1 << 2 * (masses.level - cut.levels))
        assert starts[0] == 0
        assert after[-1] == resolution**2
        assert (starts[1:] == after[:-1]).all()


def test_leaves_have_noise_of_the_scale_that_was_paid_for():
    """20,000 leaves pooled: the exact law, not one of 1.1 times the scale."""
    mechanism = make("privtree", epsilon=1, resolution=16)
    masses = masses_for(mechanism, dict.fromkeys(range(256), 200))
    noise = []
    for seed in range(80):
        heatmap = mechanism.release(masses, SeededSource(seed))
        truth = 200 * 4.0 ** (4 - heatmap.levels.astype(int)) * mechanism.unit
        noise.append(np.rint(heatmap.values * mechanism.unit - truth).astype(np.int64))
    noise = np.concatenate(noise)
    assert noise.size > 20_000
    assert fits(noise, mechanism.leaf_scale)
    assert not fits(noise, mechanism.leaf_scale * 11 / 10)


@pytest.mark.parametrize("persons", [0, 1, 4])
def test_the_root_is_split_as_often_as_its_law_says(persons):
    """2,000 trees on two levels; five standard errors, at most 6 percentage points."""
    mechanism = make("privtree", epsilon=1, resolution=2)
    masses = masses_for(mechanism, {0: persons} if persons else {})
    trees = [mechanism.tree(masses, SeededSource(seed)) for seed in range(2000)]
    seen = np.mean([cut.levels.size > 1 for cut in trees])
    biased = max(persons * mechanism.unit, -mechanism.bias)
    expected = 1 - float(cumulative(mechanism.tree_scale, -biased))
    assert abs(seen - expected) < 5 * math.sqrt(expected * (1 - expected) / 2000)


def test_it_goes_deep_where_persons_are_and_nowhere_else():
    mechanism = make("privtree", epsilon=2, resolution=256)
    cut = mechanism.tree(masses_for(mechanism, {5: 10_000}), SeededSource(SEED))
    assert cut.levels[np.searchsorted(cut.starts(8), 5, side="right") - 1] == 8
    assert cut.levels.size < 80


@pytest.mark.parametrize("percent", ["0", "0.5", "100", "-1", "x"])
def test_a_share_that_leaves_nothing_is_refused_by_name(percent):
    with pytest.raises(ParameterError, match="tree_percent"):
        make("privtree", tree_percent=percent)
