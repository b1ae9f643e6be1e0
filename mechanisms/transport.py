"""Earth mover's distance of two maps, with the L1 ground distance.

Maps are (rows, cols) arrays of one shape with sum 1 on a rectangle, by default the unit square; mass sits
in the middle of its cell. The distance depends on the difference of the maps only, since mass both have
need not move in L1 (Kantorovich–Rubinstein), so the common part is dropped first.
"""

import warnings
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from ot.lp import emd as network_simplex
from scipy.optimize import linprog
from scipy.sparse import csc_array

from mechanisms.check import ParameterError, in_range
from mechanisms.grid import Region
from mechanisms.similarity import Dense, checked_pair

BLOCKS: Final = 32  # cells a side that reports are computed on
EXACT_SIDE_LIMIT: Final = 128
_SUPPORT_LIMIT: Final = 4096  # cells of either sign; the cost matrix of POT is dense
_PIVOTS: Final = 10_000_000  # never reached in practice: POT's default of 100,000 can be


class TransportError(RuntimeError):
    """A solver stopped before the optimum; no number is returned then."""


def block_sums(dense: ArrayLike, blocks: int = BLOCKS) -> Dense:
    """A square map summed to at most `blocks` × `blocks`; a coarser one is returned as it is.

    Errors: `ParameterError` where the side is no multiple of `blocks`.
    """
    cells = np.asarray(dense, np.float64)
    side = cells.shape[0]
    if side <= blocks:
        return cells
    if cells.shape != (side, side) or side % blocks:
        raise ParameterError("resolution", cells.shape, f"a multiple of {blocks}")
    size = side // blocks
    return np.asarray(cells.reshape(blocks, size, blocks, size).sum(axis=(1, 3)))


def emd(a: ArrayLike, b: ArrayLike, *, width: float = 1.0, height: float = 1.0) -> float:
    """Distance on a rectangle of that width and height, for maps up to 64 × 64 (reports: 32 × 32 blocks).

    Exact to about 1e-9 of width + height, by network simplex on a dense cost matrix (POT).
    Errors: ValueError for other than two maps, `TransportError` when the solver gives up.
    """
    surplus, step_x, step_y = _problem(a, b, width, height)
    rows, cols = np.nonzero(surplus)
    sources, sinks = (np.flatnonzero(sign * surplus[rows, cols] > 0) for sign in (1, -1))
    if sources.size == 0 or sinks.size == 0:
        return 0.0
    if max(sources.size, sinks.size) > _SUPPORT_LIMIT:
        raise ParameterError("resolution", surplus.shape[0], "at most 64 here; sum to blocks first")
    moved = surplus[rows, cols]
    cost = step_x * np.abs(cols[sources, np.newaxis] - cols[sinks])
    cost += step_y * np.abs(rows[sources, np.newaxis] - rows[sinks])
    return _simplex(moved[sources], -moved[sinks], cost)


def emd_exact(a: ArrayLike, b: ArrayLike, *, width: float = 1.0, height: float = 1.0) -> float:
    """As `emd` on the full grid, up to 128 cells a side (refused above: `ParameterError`).

    A minimum-cost flow between neighbouring cells, whose shortest paths are the L1 distances: O(cells)
    variables instead of the O(cells²) of a transport plan, which at 128² is two to five times slower and
    takes more than a gigabyte.
    """
    surplus, step_x, step_y = _problem(a, b, width, height)
    if max(surplus.shape) > EXACT_SIDE_LIMIT:
        side = max(surplus.shape)
        raise ParameterError("resolution", side, f"at most {EXACT_SIDE_LIMIT} for the exact distance")
    return _grid_flow(surplus, step_x, step_y)


def emd_metres(a: ArrayLike, b: ArrayLike, region: Region, *, exact: bool = False) -> float:
    """The distance in metres: |Δx| + |Δy| on the region's local projection, its own transport problem.

    It is not `emd` times a length: where width and height differ, so may the best plan.
    """
    solve = emd_exact if exact else emd
    return solve(a, b, width=region.width_m, height=region.height_m)


def _problem(a: ArrayLike, b: ArrayLike, width: float, height: float) -> tuple[Dense, float, float]:
    """What a has more than b, per cell, and the size of a cell."""
    in_range(1e-9, 1e9, width=width, height=height)
    first, second = checked_pair(a, b)
    rows, cols = first.shape
    return first - second, width / cols, height / rows


def _simplex(supply: Dense, demand: Dense, cost: Dense) -> float:
    total = float(supply.sum())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the log repeats what is warned of
        _, log = network_simplex(supply / total, demand / demand.sum(), cost, numItermax=_PIVOTS, log=True)
    if log["warning"] is not None:
        raise TransportError(f"the transport problem was not solved: {log['warning']}")
    return float(log["cost"]) * total


def _grid_flow(surplus: Dense, step_x: float, step_y: float) -> float:
    rows, cols = surplus.shape
    tail, head, length = _arcs(rows, cols, step_x, step_y)
    count = tail.size
    balance = csc_array(
        (np.repeat([1.0, -1.0], count), (np.concatenate([tail, head]), np.tile(np.arange(count), 2))),
        shape=(surplus.size, count),
    )
    # HiGHS's tolerances are absolute: scaled so that a cell's surplus is about 1.
    scale = np.abs(surplus).sum() / surplus.size
    if scale == 0:
        return 0.0
    supply = (surplus - surplus.mean()).ravel() / scale  # sums differ by rounding, which has no flow
    result = linprog(  # type: ignore[call-overload]  # its stubs do not know sparse constraints
        length / length.max(), A_eq=balance, b_eq=supply, method="highs-ds"
    )
    if result.status != 0:
        raise TransportError(f"the flow problem was not solved: {result.message}")
    return float(result.fun) * float(scale * length.max())


def _arcs(rows: int, cols: int, step_x: float, step_y: float) -> tuple[NDArray[np.int64], ...]:
    """Arcs both ways between neighbours: (tail, head, length) of 4·rows·cols − 2·(rows + cols) arcs."""
    cell = np.arange(rows * cols, dtype=np.int64).reshape(rows, cols)
    west, east = cell[:, :-1].ravel(), cell[:, 1:].ravel()
    north, south = cell[:-1].ravel(), cell[1:].ravel()
    tail = np.concatenate([west, east, north, south])
    head = np.concatenate([east, west, south, north])
    length = np.repeat([step_x, step_y], [2 * west.size, 2 * north.size])
    return tail, head, length
