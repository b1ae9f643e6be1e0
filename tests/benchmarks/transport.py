"""The exact distance of full grids against OR-tools' minimum-cost flow on the same graph."""

import numpy as np
from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

from mechanisms.evaluation import earth_mover
from mechanisms.evaluation.smoothing import smooth
from tests.benchmarks.measure import Figure, Size, compare

UNITS = 1 << 48


def figures(size: Size) -> list[Figure]:
    return [exact_distance(side) for side in ((16,) if size.is_tiny else (64, 128, 256))]


def exact_distance(side: int) -> Figure:
    """Two smoothed maps of 400 places each (seed 0)."""
    rng = np.random.default_rng(0)
    a, b = (places(rng, side) for _ in range(2))
    distances = {}
    figure = compare(
        f"exact distance of {side} x {side} cells",
        lambda: distances.update(ours=earth_mover.emd_exact(a, b)),
        "OR-tools' SimpleMinCostFlow",
        lambda: distances.update(theirs=by_or_tools(a, b)),
        repeats=1 if side > 128 else 3,
    )
    if abs(distances["ours"] - distances["theirs"]) > 1e-9:
        raise AssertionError(f"the solvers disagree: {distances}")
    return figure


def places(rng: np.random.Generator, side: int) -> np.ndarray:
    dense = np.zeros((side, side))
    rows, cols = rng.integers(side, size=(2, 400))
    np.add.at(dense, (rows, cols), rng.random(400))
    smoothed = smooth(dense, 4.0)
    return smoothed / smoothed.sum()


def by_or_tools(a: np.ndarray, b: np.ndarray) -> float:
    """On the unit square; all steps are equally long."""
    rows, cols = a.shape
    total = np.abs(a - b).sum() / 2
    tail, head, _ = earth_mover._arcs(rows, cols, 1 / cols, 1 / rows)
    supply = earth_mover._integer_supply((a - b).ravel() / total)
    solver = SimpleMinCostFlow()
    solver.add_arcs_with_capacity_and_unit_cost(
        tail, head, np.full(tail.size, np.abs(supply).sum()), np.ones(tail.size, np.int64)
    )
    solver.set_nodes_supplies(np.arange(a.size), supply)
    if solver.solve() != solver.OPTIMAL:
        raise AssertionError("OR-tools found no optimum")
    return solver.optimal_cost() / UNITS * total / rows
