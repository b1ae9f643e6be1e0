"""One grid as fine as the noise allows, and the nearest map without negative mass."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from mechanisms.audit.lower_bound import bound_of_runs
from mechanisms.calibration import noise_scale
from mechanisms.central.dense_emd.mechanism import DenseEmd
from mechanisms.central.dense_emd.nearest_map import nearest_map
from mechanisms.check import ParameterError
from mechanisms.evaluation.earth_mover import emd_exact
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.records.mass_map import MassMap
from mechanisms.reproduction.ghazi_2022 import slopes
from mechanisms.space.grid import morton_decode
from tests.mechanisms.examples import SEED, crowd, make, masses_for, true_dense


def emd_norm(difference, level):
    """‖z‖_EMD by a transport plan between all pairs of cells; what is left unmatched costs 2 a unit."""
    columns, rows = morton_decode(np.arange(4**level), level)
    x, y = columns / 2**level, rows / 2**level
    distance = np.abs(x[:, None] - x) + np.abs(y[:, None] - y)
    surplus, missing = np.maximum(difference, 0), np.maximum(-difference, 0)
    cells = difference.size
    # What goes from i to j saves 2 + 2 of leaving both unmatched, and costs the distance between them.
    rows_ = np.kron(np.eye(cells), np.ones(cells)), np.kron(np.ones(cells), np.eye(cells))
    found = linprog(
        (distance - 4).ravel(), A_ub=np.vstack(rows_), b_ub=np.concatenate((surplus, missing)), method="highs"
    )
    return 2 * (surplus.sum() + missing.sum()) + found.fun


@pytest.mark.parametrize("mean", [-0.3, 0.2, 2.0])
def test_the_nearest_map_is_nowhere_negative_and_none_is_nearer(mean):
    level, random = 2, np.random.default_rng(SEED)
    for _ in range(3):
        noisy = np.rint(1000 * (random.laplace(size=16) + mean)).astype(np.int64)
        found = nearest_map(noisy, level=level)
        assert found.min() >= 0
        best = emd_norm(found - noisy, level)
        cut = emd_norm(np.maximum(noisy, 0) - noisy, level)
        assert best <= cut + 1e-6
        # A convex problem: no small change of the map makes it better.
        for _ in range(10):
            other = np.maximum(found + np.rint(random.normal(size=16) * 20 * (random.random(16) < 0.3)), 0)
            assert best <= emd_norm(other - noisy, level) + 1e-6


def test_masses_without_noise_are_left_as_they_are():
    masses = np.arange(64, dtype=np.int64)
    assert np.array_equal(nearest_map(masses, level=3), masses)
    assert np.array_equal(nearest_map(-masses, level=3), np.zeros(64))
    assert np.array_equal(nearest_map(masses << 55, level=3), masses << 55)  # beyond the solver's numbers


@pytest.mark.parametrize(
    ("epsilon", "persons", "resolution", "level"),
    [
        ("1", 200, 256, 3),
        ("1", 256, 256, 4),
        ("0.01", 200, 256, 1),
        ("1", 10**9, 256, 8),
        ("1", 10**9, 16, 4),
    ],
)
def test_the_grid_has_about_the_root_of_epsilon_n_cells_a_side(epsilon, persons, resolution, level):
    mechanism = make("dense-emd", epsilon=epsilon, expected_persons=persons, resolution=resolution)
    assert mechanism.grid_level == level


def test_it_needs_a_public_number_of_persons():
    with pytest.raises(ParameterError, match="expected_persons"):
        make("dense-emd", expected_persons=None)


@pytest.mark.parametrize("relation", Relation)
def test_the_error_stays_below_its_bound(relation):
    mechanism = make("dense-emd", relation=relation, epsilon=4, resolution=64, expected_persons=1000)
    masses = crowd(mechanism, cells=500, persons=1000)
    truth = true_dense(masses)
    errors = [emd_exact(mechanism.release(masses, SeededSource(seed)).dense(), truth) for seed in range(8)]
    bound = mechanism.expected_error(persons=1000).emd
    assert np.mean(errors) < bound < 20 * np.mean(errors)


class HalfNoise(DenseEmd):
    __slots__ = ()

    @property
    def scale(self):
        return DenseEmd.scale.fget(self) / 2


class AlwaysAsIfAdded(DenseEmd):
    """Forgets that replacing a record takes one mass away and brings another."""

    __slots__ = ()

    @property
    def scale(self):
        return noise_scale(Relation.ADD_REMOVE, self.epsilon, self.unit)


def runs(mechanism, persons):
    """`(4096, 4)` noisy persons: so many squares of four cells beside each other, each with the same input.

    Noise is drawn cell by cell, so that each square is an independent run.
    """
    there = np.flatnonzero(persons)
    cells = (4 * np.arange(4096)[:, np.newaxis] + there).ravel()
    masses = np.tile(np.array(persons)[there] * mechanism.unit, 4096)
    found = mechanism.measure(
        MassMap(level=7, unit=mechanism.unit, cells=cells, masses=masses), SeededSource(SEED + sum(persons))
    )
    return found.reshape(4096, 4) / mechanism.unit


def lower_bound(kind, relation):
    # Power as in test_audit.py, with 4,096 draws a side.
    mechanism = kind(relation=relation, epsilon=Fraction(2), resolution=128, expected_persons=10**9)
    assert mechanism.guarantee.loss(INFINITY) == 2
    other = [2, 0, 1, 3] if relation is Relation.ADD_REMOVE else [2, 0, 2, 3]
    return bound_of_runs(runs(mechanism, [2, 1, 1, 3]), runs(mechanism, other)).epsilon


@pytest.mark.parametrize("relation", Relation)
def test_it_costs_what_it_says_and_faults_are_caught(relation):
    assert 0.7 < lower_bound(DenseEmd, relation) <= 2
    assert lower_bound(HalfNoise, relation) > 2
    if relation is Relation.REPLACE:
        assert lower_bound(AlwaysAsIfAdded, relation) > 2


def test_masses_of_finer_cells_are_summed_into_the_grid():
    mechanism = make("dense-emd", epsilon="1e8", expected_persons=1, resolution=16)
    coarse = DenseEmd(relation=mechanism.relation, epsilon=Fraction(10), resolution=16, expected_persons=1)
    masses = masses_for(coarse, {0: 100, 1: 50, 255: 30})
    assert coarse.grid_level == 1
    assert coarse.measure(masses, SeededSource(SEED)) / coarse.unit == pytest.approx([150, 0, 0, 30], abs=2)


@pytest.mark.long
def test_errors_fall_with_the_root_of_epsilon_n_and_of_the_sparse_map_with_epsilon_n():
    """Theorem D.1 and Theorem 3.1 of Ghazi et al. 2022; logarithms make the first a little flatter than -1/2.

    With 8 releases a point slopes have standard errors of about 0.02 and 0.04; a grid of one size for all
    would have -1, a sparse map that follows too few cells a slope near 0.
    """
    assert -0.55 < slopes.slope(slopes.DENSE_PERSONS, slopes.dense_errors(8)) < -0.38
    assert -1.15 < slopes.slope(slopes.SPARSE_PERSONS, slopes.sparse_errors(8)) < -0.85
