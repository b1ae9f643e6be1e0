"""Solves the linear programme of the optimal local mechanism, reduced by its symmetries."""

from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

from mechanisms.check import ParameterError
from mechanisms.local.directions import detour, moves, usual_longest
from mechanisms.local.lattice import Floats, Lattice

MOST_CONSTRAINTS: Final = 40_000  # by choice of the spanner, as long as there is a choice: more take minutes
LONGEST_S: Final = 900  # then it is refused; minutes are for large lattices with a prior without symmetry
SOLVER: Final = "highs-ipm"  # several times as fast here as the simplex method

Integers: TypeAlias = NDArray[np.int64]


def solution(lattice: Lattice, decay_per_m: float, prior: Floats) -> Floats:
    """Returns `(size, size)` probabilities with the least expected distance, within the solver's tolerance.

    P(y|x) ≤ exp(decay · distance / detour) · P(y|x') along a spanner's edges (Bordenabe et al. 2014). Where
    reflections leave the prior as it is, averaging a solution over them leaves it one with the same error:
    one variable stands for all pairs of cells that they map to each other.
    Errors: `ParameterError` when the solver gives up.
    """
    size = lattice.size
    if size == 1:
        return np.ones((1, 1))
    same = _same_pairs(lattice, prior)
    count, longest = int(same.max()) + 1, _longest(lattice, same)
    bounds = _constraints(lattice, decay_per_m / float(detour(lattice, longest)), longest, same)
    costs = (prior[:, np.newaxis] / prior.sum() * lattice.pairs_m()).ravel()
    cells = np.repeat(np.arange(size), size)
    sums: Any = coo_array((np.ones(size**2), (cells, same)), shape=(size, count))
    optimum = linprog(
        np.bincount(same, costs),
        A_ub=bounds,
        b_ub=np.zeros(bounds.shape[0]),
        A_eq=sums.tocsr()[_first_of_each(lattice, same)],
        b_eq=np.ones(len(_first_of_each(lattice, same))),
        method=SOLVER,
        options={"time_limit": LONGEST_S},
    )
    if optimum.x is None or optimum.status != 0:
        unsolved = f"unsolved for {lattice.columns} x {lattice.rows} cells"
        raise ParameterError("prior", unsolved, "larger cells, or an even prior")
    table = np.maximum(optimum.x[same].reshape(size, size), 0)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def pairs(grid: Any, a: int, b: int) -> list[tuple[Any, Any]]:
    """Returns the pairs of slices (a, b) and (a, -b) apart in a `(columns, rows, …)` array;
    b = 0 and a = 0 only once.
    """
    wide, high = grid.shape[:2]
    if a >= wide or b >= high:
        return []
    slices = [(grid[: wide - a, : high - b], grid[a:, b:])]
    if a and b:
        slices.append((grid[a:, : high - b], grid[: wide - a, b:]))
    return slices


def _same_pairs(lattice: Lattice, prior: Floats) -> Integers:
    """Returns `(size²,)`: the number of the variable that stands for a pair of cells x · size + y."""
    cells = np.arange(lattice.size).reshape(lattice.columns, lattice.rows)
    square = lattice.columns == lattice.rows and lattice.column_m == lattice.row_m
    least = np.arange(lattice.size**2)
    for west, south, turned in product((False, True), (False, True), (False, True) if square else (False,)):
        image = cells[::-1] if west else cells
        image = image[:, ::-1] if south else image
        image = (image.T if turned else image).ravel()
        if (prior[image] == prior).all():
            least = np.minimum(least, (image[:, np.newaxis] * lattice.size + image).ravel())
    _, variables = np.unique(least, return_inverse=True)
    return np.asarray(variables.ravel(), dtype=np.int64)


def _first_of_each(lattice: Lattice, same: Integers) -> Integers:
    """Returns one of the cells that reflections map together: their pairs (x, x) have one number."""
    diagonal = same.reshape(lattice.size, lattice.size).diagonal()
    return np.asarray(np.unique(diagonal, return_index=True)[1], dtype=np.int64)


def _longest(lattice: Lattice, same: Integers) -> int:
    """Returns moves of the spanner: as long as the programme stays of a bearable size."""
    alike = lattice.size**2 / (int(same.max()) + 1)
    for longest in range(usual_longest(lattice), 1, -1):
        if 2 * len(_edges(lattice, longest)[0]) * lattice.size / alike <= MOST_CONSTRAINTS:
            return longest
    return 1


def _constraints(lattice: Lattice, decay_per_m: float, longest: int, same: Integers) -> Any:
    """Returns rows P(y|x) · exp(-decay · length) - P(y|x') ≤ 0 for both directions of each edge and every y;
    no number is above 1, and rows that say the same are there once."""
    size, (starts, ends, length_m) = lattice.size, _edges(lattice, longest)
    here, there = np.concatenate((starts, ends)), np.concatenate((ends, starts))
    shrunk = np.repeat(np.exp(-decay_per_m * np.concatenate((length_m, length_m))), size)
    reports = np.arange(size)
    first = same[(here[:, np.newaxis] * size + reports).ravel()]
    second = same[(there[:, np.newaxis] * size + reports).ravel()]
    # The same two variables may stand for cells at several distances: the shortest says it all.
    order = np.argsort(-shrunk, kind="stable")
    first, second, shrunk = first[order], second[order], shrunk[order]
    _, distinct = np.unique(first * (same.max() + 1) + second, return_index=True)
    distinct = distinct[first[distinct] != second[distinct]]
    rows = np.tile(np.arange(distinct.size), 2)
    columns = np.concatenate((first[distinct], second[distinct]))
    values = np.concatenate((shrunk[distinct], -np.ones(distinct.size)))
    return coo_array((values, (rows, columns)), shape=(distinct.size, int(same.max()) + 1)).tocsr()


def _edges(lattice: Lattice, longest: int) -> tuple[Integers, Integers, Floats]:
    """Returns (cells, cells, metres) of the spanner's edges, each once."""
    cells = np.arange(lattice.size).reshape(lattice.columns, lattice.rows, 1)
    ends: list[tuple[Integers, Integers]] = []
    lengths_m: list[Floats] = []
    for (a, b), length_m in moves(lattice, longest):
        edges = [(first.ravel(), second.ravel()) for first, second in pairs(cells, a, b)]
        ends += edges
        lengths_m += [np.full(first.size, float(length_m)) for first, _ in edges]
    first, second = (np.concatenate(part) for part in zip(*ends, strict=True))
    return first, second, np.concatenate(lengths_m)
