"""Computes the earth mover's distance of two maps, with the L1 ground distance.

Maps are (rows, cols) arrays of one shape with sum 1 on a rectangle, by default the unit square; mass sits
in the middle of its cell. The distance depends on the difference of the maps only, since mass both have
need not move in L1 (Kantorovich–Rubinstein), so the common part is dropped first.
"""

import warnings
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from ot.lp import emd as network_simplex
from pylmcf import Graph

from mechanisms.check import ParameterError, in_range
from mechanisms.evaluation.similarity import Dense, checked_pair
from mechanisms.space.grid import Region

BLOCKS: Final = 32  # cells a side that reports are computed on
EXACT_SIDE_LIMIT: Final = 256
_SUPPORT_LIMIT: Final = 4096  # cells of either sign; the cost matrix of POT is dense
_PIVOTS: Final = 10_000_000  # never reached in practice: POT's default of 100,000 can be
_SUPPLY_UNITS: Final = 1 << 48  # of a map's whole mass in the flow problem, whose numbers are integers
_LENGTH_UNITS: Final = 1 << 30  # of the longer step between neighbours


class TransportError(RuntimeError):
    """Says that a solver stopped before the optimum; no number is returned then."""


def block_sums(dense: ArrayLike, blocks: int = BLOCKS) -> Dense:
    """Returns a square map summed to at most `blocks` × `blocks`; a coarser one is returned as it is.

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
    """Returns the distance on a rectangle of that width and height,
    for maps up to 64 × 64 (reports: 32 × 32 blocks).

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
    """Computes `emd` on the full grid, up to 256 cells a side (refused above: `ParameterError`).

    A minimum-cost flow between neighbouring cells, whose shortest paths are the L1 distances: O(cells)
    arcs instead of the O(cells²) of a transport plan, solved by network simplex in integers (LEMON).
    The distance is exact to 2^-48 of the mass a cell and, where steps differ, to 2^-30 of its value.
    """
    surplus, step_x, step_y = _problem(a, b, width, height)
    if max(surplus.shape) > EXACT_SIDE_LIMIT:
        side = max(surplus.shape)
        raise ParameterError("resolution", side, f"at most {EXACT_SIDE_LIMIT} for the exact distance")
    return _grid_flow(surplus, step_x, step_y)


def emd_metres(a: ArrayLike, b: ArrayLike, region: Region, *, exact: bool = False) -> float:
    """Returns the distance in metres: |Δx| + |Δy| on the region's local projection,
    its own transport problem.

    It is not `emd` times a length: where width and height differ, so may the best plan.
    """
    solve = emd_exact if exact else emd
    return solve(a, b, width=region.width_m, height=region.height_m)


def _problem(a: ArrayLike, b: ArrayLike, width: float, height: float) -> tuple[Dense, float, float]:
    """Returns the excess of a over b, per cell, and the size of a cell."""
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
    total = float(np.abs(surplus).sum()) / 2
    if total == 0:
        return 0.0
    rows, cols = surplus.shape
    tail, head, length = _arcs(rows, cols, step_x, step_y)
    supply = _integer_supply(surplus.ravel() / total)
    graph = Graph(surplus.size, tail, head)
    graph.set_node_supply(supply)
    graph.set_edge_capacities(np.full(tail.size, np.abs(supply).sum(), np.int64))
    graph.set_edge_costs(np.rint(length / length.max() * _LENGTH_UNITS).astype(np.int64))
    graph.solve()
    flow = graph.result()
    _check_flow(flow, tail, head, supply)
    return float(flow @ length) / _SUPPLY_UNITS * total


def _integer_supply(surplus: Dense) -> NDArray[np.int64]:
    """Returns whole units that sum to 0; what rounding leaves over goes to the cell with most."""
    supply = np.rint(surplus * _SUPPLY_UNITS).astype(np.int64)
    supply[np.argmax(np.abs(supply))] -= supply.sum()
    return supply


def _check_flow(
    flow: NDArray[np.int64], tail: NDArray[np.int64], head: NDArray[np.int64], supply: NDArray[np.int64]
) -> None:
    net = np.zeros_like(supply)
    np.add.at(net, tail, flow)
    np.subtract.at(net, head, flow)
    if (flow < 0).any() or (net != supply).any():
        raise TransportError("the flow problem was not solved: mass was lost on the way")


def _arcs(rows: int, cols: int, step_x: float, step_y: float) -> tuple[NDArray[np.int64], ...]:
    """Returns arcs both ways between neighbours: (tail, head, length) of 4·rows·cols − 2·(rows + cols) arcs.

    In the order of tail and head, which the solver asks for.
    """
    cell = np.arange(rows * cols, dtype=np.int64).reshape(rows, cols)
    west, east = cell[:, :-1].ravel(), cell[:, 1:].ravel()
    north, south = cell[:-1].ravel(), cell[1:].ravel()
    tail = np.concatenate([west, east, north, south])
    head = np.concatenate([east, west, south, north])
    length = np.repeat([step_x, step_y], [2 * west.size, 2 * north.size])
    order = np.lexsort((head, tail))
    return tail[order], head[order], length[order]
