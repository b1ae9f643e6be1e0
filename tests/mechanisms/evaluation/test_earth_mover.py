"""Earth mover's distance: known values, two solvers against each other, and when a solver gives up."""

import numpy as np
import pytest
from pylmcf import Graph
from scipy.stats import wasserstein_distance

from mechanisms.check import ParameterError
from mechanisms.evaluation import earth_mover
from mechanisms.evaluation.earth_mover import TransportError, block_sums, emd, emd_exact, emd_metres
from mechanisms.space.grid import Region

both = pytest.mark.parametrize("solve", [emd, emd_exact])


def point(row, col, side=32):
    dense = np.zeros((side, side))
    dense[row, col] = 1
    return dense


def random_maps(seed, shape=(32, 32), sparsity=0.7):
    rng = np.random.default_rng(seed)
    for _ in range(2):
        dense = rng.exponential(size=shape) * (rng.random(shape) > sparsity)
        yield dense / dense.sum()


@both
@pytest.mark.parametrize(
    ("a", "b", "cells"),
    [((0, 0), (0, 1), 1), ((0, 0), (31, 31), 62), ((5, 7), (9, 2), 9), ((3, 3), (3, 3), 0)],
)
def test_it_moves_a_point_by_its_l1_distance(solve, a, b, cells):
    assert solve(point(*a), point(*b)) == pytest.approx(cells / 32, abs=1e-9)


@both
def test_it_moves_a_shifted_map_by_the_shift(solve):
    a = np.zeros((32, 32))
    a[4:12, 4:12] = next(random_maps(1, (8, 8), 0.0))
    assert solve(a, np.roll(a, (3, 5), (0, 1))) == pytest.approx(8 / 32, abs=1e-9)


@both
def test_it_agrees_with_the_line_where_the_map_is_one_row(solve):
    a, b = random_maps(2, (1, 40), 0.3)
    expected = wasserstein_distance(np.arange(40), np.arange(40), a[0], b[0]) / 40
    assert solve(a, b) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_it_solves_the_same_by_plan_and_by_flow(seed):
    a, b = random_maps(seed, (32, 32), seed / 6)
    assert emd(a, b) == pytest.approx(emd_exact(a, b), abs=1e-8)
    assert emd(a, b, width=3, height=0.5) == pytest.approx(emd_exact(a, b, width=3, height=0.5), abs=1e-8)


@both
def test_it_solves_maps_that_hardly_differ(solve):
    a, _ = random_maps(3, sparsity=0.0)
    b = a.copy()
    b[3, 4], b[20, 30] = b[3, 4] - 1e-6, b[20, 30] + 1e-6
    assert solve(a, b) == pytest.approx(1e-6 * 43 / 32, rel=1e-6)


@both
def test_it_is_a_metric(solve):
    (a, b), (c, _) = random_maps(4), random_maps(5)
    assert solve(a, b) == pytest.approx(solve(b, a), abs=1e-9)
    assert solve(a, c) <= solve(a, b) + solve(b, c) + 1e-9
    assert 0 < solve(a, b) <= 2
    assert solve(a, a) == 0


def test_it_is_nearly_the_same_on_blocks():
    a, b = random_maps(6, (128, 128), 0.9)
    on_blocks = emd(block_sums(a), block_sums(b))
    assert on_blocks == pytest.approx(emd_exact(a, b), abs=2 / 32)
    assert emd_exact(block_sums(a), block_sums(b)) == pytest.approx(on_blocks, abs=1e-8)


def test_it_sums_blocks():
    dense = np.arange(64.0 * 64).reshape(64, 64)
    sums = block_sums(dense)
    assert sums.shape == (32, 32)
    assert sums[1, 2] == dense[2:4, 4:6].sum()
    assert block_sums(dense[:16, :16]).shape == (16, 16)
    with pytest.raises(ParameterError, match="multiple of 32"):
        block_sums(np.zeros((48, 48)))


def test_it_measures_metres_along_each_axis():
    region = Region(-98.3, 29.8, -97.3, 31.0)
    assert emd_metres(point(0, 0), point(0, 8), region) == pytest.approx(region.width_m / 4)
    assert emd_metres(point(0, 0), point(8, 0), region) == pytest.approx(region.height_m / 4)
    a, b = random_maps(7)
    by_plan, by_flow = emd_metres(a, b, region), emd_metres(a, b, region, exact=True)
    assert by_plan == pytest.approx(by_flow, rel=1e-6)
    low, high = sorted([region.width_m, region.height_m])
    assert low * emd(a, b) < by_plan < high * emd(a, b)


def test_it_refuses_more_than_256_cells_a_side():
    with pytest.raises(ParameterError, match="at most 256") as caught:
        emd_exact(point(0, 0, 512), point(1, 1, 512))
    assert caught.value.parameter == "resolution"


def test_it_refuses_a_plan_that_would_not_fit_memory():
    with pytest.raises(ParameterError, match="sum to blocks"):
        emd(*random_maps(8, (128, 128), 0.1))


@both
@pytest.mark.parametrize(
    "wrong",
    [
        np.full((32, 32), 1 / 1000),
        np.full((16, 16), 1 / 256),
        np.full(1024, 1 / 1024),
        np.full((32, 32), np.nan),
    ],
)
def test_it_refuses_what_is_no_pair_of_maps(solve, wrong):
    with pytest.raises(ValueError, match="map"):
        solve(point(0, 0), wrong)


def test_it_gives_no_number_when_the_plan_is_unfinished(monkeypatch, recwarn):
    monkeypatch.setattr(earth_mover, "_PIVOTS", 3)
    with pytest.raises(TransportError, match="not solved"):
        emd(*random_maps(9))
    assert not recwarn.list


def test_it_gives_no_number_when_the_flow_is_unfinished(monkeypatch):
    solved = earth_mover.Graph.result
    monkeypatch.setattr(earth_mover.Graph, "result", lambda graph: solved(graph) // 2)
    with pytest.raises(TransportError, match="mass was lost"):
        emd_exact(*random_maps(9))


@pytest.mark.parametrize("seed", range(3))
def test_its_flow_is_optimal_by_the_dual(seed, monkeypatch):
    """A potential that no step can beat proves that no flow costs less (complementary slackness)."""
    graphs = []
    monkeypatch.setattr(
        earth_mover, "Graph", lambda *arguments: graphs.append(Graph(*arguments)) or graphs[-1]
    )
    a, b = random_maps(seed, (64, 64), 0.5)
    distance = emd_exact(a, b)
    (graph,) = graphs
    height = graph.potentials()
    drop = height[graph.edge_ends()] - height[graph.edge_starts()]
    if (drop > graph.get_edge_costs()).any():  # the sign of potentials is the solver's choice
        height, drop = -height, -drop
    assert (np.abs(drop) <= graph.get_edge_costs()).all()
    bound = abs(height.astype(float) @ graph.get_node_supply()) / 2.0**78 / 64
    assert distance == pytest.approx(bound * np.abs(a - b).sum() / 2, rel=1e-9)


def test_it_solves_256_cells_a_side():
    """Two blurred maps far apart: the difference of the means is what has to be moved at least."""
    a, b = np.zeros((256, 256)), np.zeros((256, 256))
    a[30:60, 20:50] = next(random_maps(10, (30, 30), 0.5))
    b[:, 6:] = np.roll(a, 8, 0)[:, :-6]
    assert emd_exact(a, b) == pytest.approx(14 / 256, abs=1e-9)
