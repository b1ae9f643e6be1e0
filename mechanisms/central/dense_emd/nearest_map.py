"""Finds the map without negative mass that is nearest to noisy cells. Post-processing only."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from pylmcf import Graph

from mechanisms.space.grid import morton_decode

_UNITS: Final = 1 << 50  # most that all cells together hold in the flow problem, whose numbers are 63 bits


def nearest_map(noisy: NDArray[np.int64], *, level: int) -> NDArray[np.int64]:
    """Returns `(4^level,)` masses ≥ 0: argmin over ŝ ≥ 0 of ‖ŝ - s̃‖_EMD (Ghazi et al. 2022, Appendix D).

    noisy: `(4^level,)` in Morton order. What is missing in a cell is brought from cells that have something
    left, step by step between neighbours, or made from nothing for 2, the square's diameter, as the EMD norm
    has it: a minimum-cost flow in integers, where mass that stays in its cell leaves to a root at no cost.
    Total: should the solver ever return no flow, negative cells are cut to 0. That uses noisy values only.
    """
    shift = max(0, int(np.abs(noisy).astype(object).sum()).bit_length() - _UNITS.bit_length())
    supply = noisy >> shift
    side = 1 << level
    columns, rows = morton_decode(np.arange(noisy.size), level)
    place = rows * side + columns
    grid = np.empty_like(supply)
    grid[place] = supply
    left = _left_over(grid, side)
    if left is None:
        return np.maximum(noisy, 0)
    masses: NDArray[np.int64] = left[place] << shift
    return masses


def _left_over(supply: NDArray[np.int64], side: int) -> NDArray[np.int64] | None:
    """Returns `(side²,)` what stays in each cell, or None when the flow found is none."""
    tail, head, cost = _arcs(side)
    root = supply.size
    graph = Graph(root + 1, tail, head)
    balance = np.append(supply, -supply.sum())
    graph.set_node_supply(balance)
    graph.set_edge_capacities(np.full(tail.size, np.abs(balance).sum()))
    graph.set_edge_costs(cost)
    graph.solve()
    flow = graph.result()
    net = np.zeros_like(balance)
    np.add.at(net, tail, flow)
    np.subtract.at(net, head, flow)
    if (flow < 0).any() or (net != balance).any():
        return None
    left: NDArray[np.int64] = flow[head == root]
    return left


def _arcs(side: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Returns (tail, head, cost in steps), ordered by tail and head as the solver asks for."""
    cell = np.arange(side * side, dtype=np.int64).reshape(side, side)
    west, east, south, north = cell[:, :-1].ravel(), cell[:, 1:].ravel(), cell[:-1].ravel(), cell[1:].ravel()
    root = np.full(cell.size, cell.size)
    tail = np.concatenate((west, east, south, north, cell.ravel(), root))
    head = np.concatenate((east, west, north, south, root, cell.ravel()))
    cost = np.repeat((1, 0, 2 * side), (4 * west.size, cell.size, cell.size))
    order = np.lexsort((head, tail))
    return tail[order], head[order], cost[order]
