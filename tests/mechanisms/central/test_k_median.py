"""Centres by local search, their areas as a map, and k-median on the sparse reconstruction."""

import dataclasses
from itertools import combinations
from math import inf

import numpy as np
import pytest

from mechanisms.audit.lower_bound import audit, neighbours
from mechanisms.central.k_median import solver
from mechanisms.central.k_median.mechanism import KMedian, areas_of, weighted_points
from mechanisms.central.k_median.solver import cost, k_medians
from mechanisms.central.sparse_emd.mechanism import SparseEmd
from mechanisms.check import ParameterError
from mechanisms.evaluation.seeded import SeededSource
from mechanisms.guarantee import INFINITY, Relation
from mechanisms.results.areas import Areas, owners
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.serialization import result_from_bytes
from mechanisms.space.grid import morton_decode
from tests.mechanisms.examples import SEED, crowd, make


def best_cost(points, weights, count):
    """By trying all: an optimum has its centres where points have their coordinates."""
    places = [(x, y) for x in np.unique(points[:, 0]) for y in np.unique(points[:, 1])]
    return min(cost(points, weights, np.array(some)) for some in combinations(places, count))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_its_centres_cost_hardly_more_than_the_best_ones(count):
    random = np.random.default_rng(SEED)
    ratios = []
    for _ in range(4):
        points, weights = random.integers(0, 50, (5, 2)), random.dirichlet(np.ones(5))
        centres = k_medians(points, weights, count)
        assert centres.shape == (count, 2)
        ratios.append(cost(points, weights, centres) / best_cost(points, weights, count))
    assert min(ratios) >= 1 - 1e-9
    assert max(ratios) < (1 + 1e-9 if count == 1 else 1.2)
    assert np.mean(ratios) < 1.03


def test_a_swap_leaves_a_bad_start():
    # Greedy takes the middle first, where nobody of two far groups wants a centre once there are two.
    points = np.array([[0, 0], [1, 0], [0, 1], [100, 100], [99, 100], [100, 99], [50, 50]])
    weights = np.array([1.0, 1, 1, 1, 1, 1, 0.9])
    centres = k_medians(points, weights, 3)
    assert {tuple(centre) for centre in centres.tolist()} == {(0, 0), (100, 100), (50, 50)}
    assert cost(points, weights, centres) == 4


def test_fewer_points_make_fewer_centres():
    assert k_medians(np.empty((0, 2), np.int64), np.empty(0), 3).shape == (0, 2)
    assert k_medians(np.array([[3, 4], [3, 4]]), np.array([1.0, 2]), 5).tolist() == [[3, 4]]


def test_areas_cover_the_map_once_and_hold_what_they_should():
    centres, masses = np.array([5, 200, 90, 17]), np.array([4.0, 3, 2, 0])
    areas = Areas.around(4, centres, masses)
    owner, (x, y) = owners(4, centres), morton_decode(np.arange(256), 4)
    at_x, at_y = morton_decode(centres, 4)
    distance = np.abs(x[:, None] - at_x) + np.abs(y[:, None] - at_y)
    assert np.array_equal(owner, distance.argmin(axis=1))
    assert (4 ** (4 - areas.levels.astype(int))).sum() == 256
    dense = areas.dense() * 9
    found = np.bincount(owner, dense[15 - y, x], minlength=4)
    assert found == pytest.approx(masses)
    assert areas.levels.min() < 4  # squares are joined where one centre has them all


def test_a_map_without_mass_has_no_centres():
    nothing = np.empty(0)
    empty = Heatmap(
        level=3,
        levels=nothing.astype(np.uint8),
        prefixes=nothing.astype(np.int64),
        values=nothing,
        standard_errors=nothing,
    )
    areas = areas_of(empty, 4)
    assert areas.centres.size == 0
    assert areas.dense() == pytest.approx(np.full((8, 8), 1 / 64))
    assert result_from_bytes(areas.to_bytes()).to_bytes() == areas.to_bytes()


def test_it_is_stored_as_what_it_is():
    areas = Areas.around(5, np.array([7, 300]), np.array([2.5, 1]))
    again = result_from_bytes(areas.to_bytes())
    assert isinstance(again, Areas)
    assert again.to_bytes() == areas.to_bytes()
    assert again.centres.tolist() == [7, 300]
    assert again.masses.tolist() == [2.5, 1]
    for damaged in (areas.to_bytes()[:20], areas.to_bytes()[:-1], b"HZA1"):
        with pytest.raises(ValueError, match=r"damaged|known"):
            result_from_bytes(damaged)
    with pytest.raises(ValueError, match="centres"):
        dataclasses.replace(areas, centres=np.array([7, 4**5]))


def test_the_middle_of_a_region_stands_for_it():
    heatmap = Heatmap(
        level=3,
        levels=np.array([1, 3], np.uint8),
        prefixes=np.array([1, 0]),
        values=np.array([2.0, 1]),
        standard_errors=np.full(2, np.nan),
    )
    points, weights = weighted_points(heatmap)
    assert points.tolist() == [[1, 1], [12, 4]]  # in half cells; the south-eastern quarter of 8 × 8
    assert weights.tolist() == [1, 2]


@pytest.mark.parametrize("relation", Relation)
def test_its_centres_are_nearly_as_good_as_those_of_the_truth(relation):
    mechanism = make("k-median", relation=relation, epsilon=20, resolution=64, centres=3)
    masses = crowd(mechanism, cells=6, persons=2000)
    points = 2 * np.stack(morton_decode(masses.cells, 6), axis=1) + 1
    weights = masses.masses / masses.unit
    areas = mechanism.release(masses, SeededSource(SEED))
    found = 2 * np.stack(morton_decode(areas.centres, 6), axis=1) + 1
    best = cost(points, weights, k_medians(points, weights, 3))
    assert cost(points, weights, found) < 1.1 * best
    assert areas.masses.sum() == pytest.approx(2000, rel=0.02)


@pytest.mark.parametrize("centres", ["0", "101", "2.5"])
def test_a_wrong_number_of_centres_is_refused(centres):
    with pytest.raises(ParameterError, match="centres"):
        make("k-median", centres=centres)


class ForgottenLevel(KMedian):
    """The finest level of the coreset gets all of the budget once more."""

    __slots__ = ()

    def measure(self, masses, rng):
        coreset = self.coreset

        class Faulty(SparseEmd):
            __slots__ = ()

            @property
            def level_scales(self):
                scales = SparseEmd.level_scales.fget(self)
                return (*scales[:-1], scales[-1] * self.level_epsilons[-1] / self.epsilon)

        return Faulty(
            relation=coreset.relation, epsilon=coreset.epsilon, resolution=coreset.resolution, width=16
        ).measure(masses, rng)


def lower_bound(kind, relation, draws):
    """Of the private part: noisy masses of every cell, level by level."""
    mechanism = kind(relation=relation, epsilon=2, resolution=8, centres=4)

    def draw(masses, rng):
        measured = mechanism.measure(masses, rng)
        vectors = [np.full(4**level.level, -inf) for level in measured]
        for vector, level in zip(vectors, measured, strict=True):
            vector[level.cells] = level.noisy
        return np.concatenate(vectors)

    assert mechanism.guarantee.loss(INFINITY) == 2
    return audit(draw, *neighbours(mechanism), SeededSource(SEED), draws=draws).epsilon


def test_what_is_private_is_the_sparse_map():
    mechanism = make("k-median", centres=10)
    masses = crowd(mechanism, cells=12, persons=150)
    assert (mechanism.coreset.width, mechanism.coreset.epsilon) == (40, mechanism.epsilon)
    assert mechanism.guarantee == mechanism.coreset.guarantee
    released, sparse = (m.release(masses, SeededSource(SEED)) for m in (mechanism, mechanism.coreset))
    assert released.to_bytes() == areas_of(sparse, 10).to_bytes()  # and nothing else is looked at


@pytest.mark.long
def test_it_costs_what_it_says():
    assert 0.4 < lower_bound(KMedian, Relation.REPLACE, 4_000) <= 2


@pytest.mark.long
def test_a_level_that_is_paid_twice_is_caught():
    assert (
        lower_bound(KMedian, Relation.ADD_REMOVE, 6_000)
        <= 2
        < lower_bound(ForgottenLevel, Relation.ADD_REMOVE, 6_000)
    )


def test_swaps_find_what_adding_one_by_one_misses(monkeypatch):
    random, totals = np.random.default_rng(SEED), []
    crowds = [(random.integers(0, 1000, (30, 2)), random.dirichlet(np.ones(30))) for _ in range(12)]
    for swaps in (solver._MOST_SWAPS, 0):
        monkeypatch.setattr(solver, "_MOST_SWAPS", swaps)
        totals.append(sum(cost(*crowd, k_medians(*crowd, 5)) for crowd in crowds))
    assert totals[0] < 0.995 * totals[1]
