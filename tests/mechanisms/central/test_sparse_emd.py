"""Budgets, measured cells and limits of the sparse reconstruction."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.calibration import LARGEST_SCALE
from mechanisms.central.sparse_emd.level_budgets import shares, start_level
from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.space.grid import children
from tests.mechanisms.examples import SEED, crowd, greedy_tree, make, masses_for, true_dense
from tests.mechanisms.laws import fits

epsilons = st.builds(
    lambda digits, places: Fraction(digits, 10**places), st.integers(1, 10**9), st.integers(0, 6)
)
decays = st.builds(lambda digits: Fraction(digits, 10**12), st.integers(5 * 10**11, 10**12))
widths = st.integers(1, 1000)
resolutions = st.integers(1, 16).map(lambda level: 2**level)


def sparse(**parameters):
    return make("sparse-emd", **{"width": 20, **parameters})


@settings(derandomize=True, deadline=None)
@given(epsilons, decays, widths, resolutions, st.sampled_from(Relation))
def test_level_budgets_sum_to_epsilon_exactly(epsilon, decay, width, resolution, relation):
    mechanism = sparse(epsilon=epsilon, decay=decay, width=width, resolution=resolution, relation=relation)
    assert sum(mechanism.level_epsilons) == epsilon == mechanism.guarantee.loss(INFINITY)
    assert min(mechanism.level_epsilons) > 0
    assert len(mechanism.level_epsilons) == math.log2(resolution) - mechanism.first_level + 1


@settings(derandomize=True, deadline=None)
@given(epsilons, decays, widths, resolutions, st.sampled_from(Relation))
def test_the_noise_never_spends_more_than_its_level(epsilon, decay, width, resolution, relation):
    mechanism = sparse(epsilon=epsilon, decay=decay, width=width, resolution=resolution, relation=relation)
    reach = mechanism.unit * (2 if relation is Relation.REPLACE else 1)
    for scale, share in zip(mechanism.level_scales, mechanism.level_epsilons, strict=True):
        assert share * (1 - Fraction(1, 10**9)) <= reach / scale <= share
        assert scale <= LARGEST_SCALE


def test_budgets_fall_by_the_decay():
    finer, coarser = shares(Fraction(1, 2), 5)[1:], shares(Fraction(1, 2), 5)[:-1]
    assert all(low / high == Fraction(1, 2) for low, high in zip(finer, coarser, strict=True))
    root = shares(Fraction("0.70710678118654752440"), 7)
    ideal = [2 ** (-step / 2) for step in range(7)]
    assert [float(share) for share in root] == pytest.approx([step / sum(ideal) for step in ideal], rel=1e-4)


@pytest.mark.parametrize(
    ("width", "level", "first"),
    [(1, 8, 0), (3, 8, 0), (4, 8, 1), (15, 8, 1), (16, 8, 2), (20, 8, 2), (63, 8, 2), (64, 8, 3), (20, 1, 1)],
)
def test_it_starts_where_all_cells_are_kept(width, level, first):
    assert start_level(width, level) == first
    assert 4**first <= width or level == first


@pytest.mark.parametrize("relation", Relation)
def test_every_measured_level_has_the_noise_its_budget_asks_for(relation):
    # 100 releases of a tree that is measured whole: 16 + 64 cells.
    mechanism = sparse(width=16, resolution=8, decay=Fraction(1, 2), relation=relation)
    masses = masses_for(mechanism, dict.fromkeys(range(64), 100))
    source = SeededSource(SEED)
    runs = [mechanism.measure(masses, source) for _ in range(1500)]
    for place, share, cells in ((0, Fraction(2, 3), 16), (1, Fraction(1, 3), 64)):
        truth = 100 * mechanism.unit * 64 // cells
        noise = np.concatenate([run[place].noisy for run in runs]) - truth
        scale = mechanism.unit * (2 if relation is Relation.REPLACE else 1) / share
        assert fits(noise, scale)
        assert not fits(noise, scale * Fraction(9, 10))
        assert not fits(noise, scale * Fraction(11, 10))


def test_it_measures_the_children_of_kept_cells_only():
    mechanism = sparse(resolution=65536)
    measured = mechanism.measure(crowd(mechanism, cells=500, persons=500), SeededSource(SEED))
    assert [level.level for level in measured] == list(range(2, 17))
    assert measured[0].cells.tolist() == list(range(16))
    for coarser, finer in pairwise(measured):
        assert coarser.is_selected.sum() == min(20, coarser.cells.size)
        assert coarser.noisy[coarser.is_selected].min() >= coarser.noisy[~coarser.is_selected].max(
            initial=-(2**62)
        )
        assert np.array_equal(finer.cells, children(coarser.cells[coarser.is_selected]))


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("resolution", [64, 256, 65536])
def test_at_epsilon_a_million_it_keeps_the_heaviest_tree(resolution, relation):
    mechanism = sparse(resolution=resolution, epsilon=10**6, relation=relation)
    masses = crowd(mechanism, cells=300, persons=500)
    truth = greedy_tree(masses, first_level=2, width=20)
    for level in mechanism.measure(masses, SeededSource(SEED)):
        kept = dict(
            zip(level.cells[level.is_selected].tolist(), level.noisy[level.is_selected].tolist(), strict=True)
        )
        assert kept.keys() == truth[level.level].keys()
        assert all(
            abs(kept[cell] - mass) < mechanism.unit // 100 for cell, mass in truth[level.level].items()
        )


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("resolution", [4, 64, 256, 4096])
def test_at_epsilon_a_million_a_sparse_truth_comes_out_whole(resolution, relation):
    mechanism = sparse(resolution=resolution, epsilon=10**6, relation=relation)
    masses = crowd(mechanism, cells=min(20, resolution**2), persons=200)
    heatmap = mechanism.release(masses, SeededSource(SEED))
    large = heatmap.values > 1e-3
    assert np.array_equal(heatmap.prefixes[large], masses.cells)
    assert (heatmap.levels[large] == mechanism.resolution.bit_length() - 1).all()
    assert heatmap.values[large] == pytest.approx(masses.masses / mechanism.unit, abs=1e-3)
    if resolution <= 256:
        assert np.abs(heatmap.dense() - true_dense(masses)).sum() < 1e-4


@pytest.mark.parametrize("resolution", [256, 65536])
def test_epsilon_a_millionth_works(resolution):
    mechanism = sparse(resolution=resolution, epsilon="1e-6", relation=Relation.REPLACE)
    heatmap = mechanism.release(crowd(mechanism, cells=50, persons=200), SeededSource(SEED))
    assert mechanism.unit >= 2**10
    assert np.isfinite(heatmap.values).all()


def test_a_coarse_grid_is_measured_at_its_own_level():
    mechanism = sparse(resolution=2, epsilon=10**6)
    assert (mechanism.first_level, mechanism.level_epsilons) == (1, (10**6,))
    heatmap = mechanism.release(masses_for(mechanism, {2: 3}), SeededSource(SEED))
    assert heatmap.dense()[0, 0] == pytest.approx(1, abs=1e-4)


def test_it_states_no_standard_errors():
    mechanism = sparse()
    heatmap = mechanism.release(crowd(mechanism, cells=9, persons=99), SeededSource(SEED))
    assert np.isnan(heatmap.standard_errors).all()


@pytest.mark.parametrize(
    "wrong", [{"width": 0}, {"width": 1001}, {"width": "x"}, {"width": "1.5"}, {"decay": "0.4"}]
)
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        sparse(**wrong)


def test_an_epsilon_that_integers_cannot_carry_names_the_smallest_that_they_can():
    with pytest.raises(ParameterError, match=r"epsilon is 1/10+, allowed: at least .*e-") as refused:
        sparse(epsilon=Fraction(1, 10**12), resolution=65536)
    smallest = Fraction(refused.value.allowed.split()[2])
    assert sparse(epsilon=smallest, resolution=65536).unit == 2**10
