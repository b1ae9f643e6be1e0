"""Predicted errors are bounds: they hold in simulation, and their steps hold against second paths."""

import numpy as np
import ot
import pytest

from mechanisms.error_bounds import LevelNoise, _top, noise_in_every_cell, sparse_reconstruction
from mechanisms.evaluation.earth_mover import emd
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import Relation
from tests.mechanisms.examples import SEED, crowd, make, true_dense

CASES = [
    ("laplace", {"resolution": 4}, 500),
    ("laplace-top", {"resolution": 16, "keep_percent": "4"}, 500),
    ("sparse-emd", {"resolution": 16, "width": 8}, 4000),
    ("sparse-emd", {"resolution": 32, "width": 16}, 20000),
]


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize(("name", "parameters", "persons"), CASES)
def test_sparse_data_stay_below_the_bound(name, parameters, persons, relation):
    mechanism = make(name, relation=relation, epsilon=2, **parameters)
    source = SeededSource(SEED)
    errors = []
    for seed in range(20):
        masses = crowd(mechanism, cells=8, persons=persons, seed=seed)
        errors.append(emd(mechanism.release(masses, source).dense(), true_dense(masses)))
    bound = mechanism.expected_error(persons=persons).emd
    assert np.mean(errors) + 5 * np.std(errors) / np.sqrt(20) < bound < 2


@pytest.mark.parametrize(("count", "largest"), [(1, 1), (16, 16), (80, 20), (80, 40), (64, 1)])
def test_the_largest_of_many_exponentials(count, largest):
    draws = np.sort(np.random.default_rng(SEED).exponential(size=(20_000, count)), axis=1)
    assert _top(count, largest) == pytest.approx(draws[:, count - largest :].sum(axis=1).mean(), rel=0.02)
    assert _top(count, 0) == 0


def test_selected_cells_are_noisier_than_the_paper_takes_them_to_be():
    assert _top(80, 20) / 20 == pytest.approx(2.36, abs=0.01)


def test_normalising_costs_no_factor_four():
    # EMD(s/n, ŝ/n̂) ≤ D / max(n, n̂), by solving for D: a transport with a place for unmatched mass.
    random = np.random.default_rng(SEED)
    places = np.stack(np.meshgrid(np.arange(5) / 4, np.arange(5) / 4), axis=-1).reshape(-1, 2)
    cost = np.abs(places[:, np.newaxis] - places).sum(axis=2)
    with_spare = np.pad(cost, (0, 1), constant_values=2.0)
    with_spare[-1, -1] = 0
    for _ in range(200):
        s, released = random.exponential(size=(2, 25)) * random.integers(0, 2, size=(2, 25)) + 1e-9
        released *= random.uniform(0.1, 3)
        n, m = s.sum(), released.sum()
        distance = ot.emd2(np.append(s, m), np.append(released, n), with_spare)
        normalised = ot.emd2(s / n, released / m, cost)
        assert normalised <= distance / max(n, m) + 1e-7


def test_the_closed_form_of_one_level():
    # One level, all 4 cells kept, nothing missed: E = 4 · scale / 2, e_q = 4 · scale, q = 1.
    bound = sparse_reconstruction([LevelNoise(level=1, scale_persons=0.25)], width=4, persons=100)
    assert bound.emd == pytest.approx((5 * 0.5 + 1.5 * 1.0) / 100)


def test_bounds_are_capped_at_the_largest_distance():
    assert noise_in_every_cell(1.0, cells=65536, persons=200).emd == 2
    assert noise_in_every_cell(1.0, cells=10, persons=1000).emd == pytest.approx(0.02)
