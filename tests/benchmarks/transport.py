"""The exact distance of full grids beside public exact solvers of the same problem.

Up to 64 cells a side POT's network simplex, with the costs between all cells in which the maps differ; above,
where those no longer fit into memory, the linear programme of a flow between neighbours by HiGHS (scipy).
"""

import time
from collections.abc import Callable
from typing import Final

import numpy as np
import ot
from scipy import sparse
from scipy.optimize import linprog

from mechanisms.evaluation import earth_mover
from mechanisms.evaluation.smoothing import smooth
from tests.benchmarks.measure import Figure, Size, compare

SIDES: Final = {Size.TINY: (16,), Size.USUAL: (64, 128), Size.LARGE: (64, 128)}
MOST_BY_POT: Final = 64
REPEATS: Final = 3


def figures(size: Size) -> list[Figure]:
    return [exact_distance(side, size.repeats(REPEATS)) for side in SIDES[size]]


def exact_distance(side: int, repeats: int) -> Figure:
    """Two smoothed maps of 400 places each (seed 0). Errors: AssertionError where the solvers disagree."""
    rng = np.random.default_rng(0)
    a, b = (places(rng, side) for _ in range(2))
    name, solve = solver(side)
    distances = {}
    figure = compare(
        f"exact distance of {side} x {side} cells",
        lambda: distances.update(ours=earth_mover.emd_exact(a, b)),
        name,
        lambda: distances.update(theirs=solve(a, b)),
        repeats=repeats,
        clock=time.process_time,
        goal=f"transport.{side}",
    )
    if abs(distances["ours"] - distances["theirs"]) > 1e-7:
        raise AssertionError(f"the solvers disagree: {distances}")
    return figure


def solver(side: int) -> tuple[str, Callable[[np.ndarray, np.ndarray], float]]:
    return (
        ("POT's emd2", by_pot)
        if side <= MOST_BY_POT
        else ("the flow as a linear programme (HiGHS)", by_highs)
    )


def places(rng: np.random.Generator, side: int) -> np.ndarray:
    dense = np.zeros((side, side))
    rows, cols = rng.integers(side, size=(2, 400))
    np.add.at(dense, (rows, cols), rng.random(400))
    smoothed = smooth(dense, 4.0)
    return smoothed / smoothed.sum()


def by_pot(a: np.ndarray, b: np.ndarray) -> float:
    surplus = a - b
    (more, fewer) = (np.argwhere(sign * surplus > 0) for sign in (1, -1))
    masses = (np.abs(surplus[tuple(cells.T)]) for cells in (more, fewer))
    first, second = (mass / mass.sum() for mass in masses)
    costs = ot.dist(more / a.shape[0], fewer / a.shape[0], metric="cityblock")
    return float(ot.emd2(first, second, costs, numItermax=10_000_000)) * float(np.abs(surplus).sum()) / 2


def by_highs(a: np.ndarray, b: np.ndarray) -> float:
    """On the unit square; arcs both ways between neighbours, all equally long."""
    cells = np.arange(a.size).reshape(a.shape)
    tail = np.concatenate([cells[:, :-1].ravel(), cells[:-1].ravel()])
    head = np.concatenate([cells[:, 1:].ravel(), cells[1:].ravel()])
    arcs = np.arange(tail.size)
    ends = sparse.coo_array(
        (
            np.repeat([1.0, -1.0, -1.0, 1.0], tail.size),
            (
                np.concatenate([tail, head, tail, head]),
                np.concatenate([arcs, arcs, arcs + tail.size, arcs + tail.size]),
            ),
        ),
        shape=(a.size, 2 * tail.size),
    ).tocsr()
    outcome = linprog(np.ones(2 * tail.size), A_eq=ends, b_eq=(a - b).ravel(), method="highs")
    if outcome.status != 0:
        raise AssertionError(outcome.message)
    return float(outcome.fun) / a.shape[0]
