"""Finds centres with a small sum of weighted L1 distances to the nearest one."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.space.l1_distance import Points, l1_distances, nearest

Weights = NDArray[np.float64]

_CANDIDATES: Final = 1500  # the heaviest points: a table of distances to more would not fit
_WORTH: Final = 1e-9  # of the cost: what rounding could make of a step that gains nothing
_MOST_SWAPS: Final = 1000
_MOST_ROUNDS: Final = 100


def k_medians(points: Points, weights: Weights, count: int) -> Points:
    """Returns `(≤ count, 2)` centres, the one with most weight first; fewer where there are fewer points.

    points: (m, 2) coordinates below 2^40. weights: (m,) above 0. Centres are added one by one where that
    gains most, exchanged one for one as long as that gains (Arya, Garg, Khandekar, Meyerson, Munagala,
    Pandit 2004: at most 5 times the best cost from candidates), then moved to the weighted median of their
    points on each axis, which is the best place for these in L1. Deterministic.
    """
    if not points.size:
        return points.reshape(0, 2)
    order = np.argsort(-weights, kind="stable")[:_CANDIDATES]
    candidates = np.unique(points[order], axis=0)
    distances = _distances(points, candidates)
    places = _swapped(distances, weights, _greedy(distances, weights, min(count, len(candidates))))
    centres = _moved(points, weights, candidates[places])
    shares = np.bincount(nearest(points, centres), weights, minlength=len(centres))
    return centres[np.argsort(-shares, kind="stable")]


def cost(points: Points, weights: Weights, centres: Points) -> float:
    """Returns Σ weight · L1 distance to the nearest centre,
    in the coordinates' unit (Ghazi et al. 2022, App. A).
    """
    best = l1_distances(points, centres[0])
    for centre in centres[1:]:
        best = np.minimum(best, l1_distances(points, centre))
    return float(weights @ best)


def _distances(points: Points, candidates: Points) -> NDArray[np.float64]:
    """Returns `(m, c)` L1 distances."""
    x, y = (np.abs(points[:, np.newaxis, axis] - candidates[:, axis]) for axis in (0, 1))
    distances: NDArray[np.float64] = (x + y).astype(np.float64)
    return distances


def _greedy(distances: NDArray[np.float64], weights: Weights, count: int) -> NDArray[np.int64]:
    """Returns places of candidates, each the one that lowers the cost of those before it most."""
    near = np.full(len(weights), np.inf)
    centres: list[int] = []
    for _ in range(count):
        costs = weights @ np.minimum(distances, near[:, np.newaxis])
        costs[centres] = np.inf
        centres.append(int(np.argmin(costs)))
        near = np.minimum(near, distances[:, centres[-1]])
    return np.array(centres)


def _swapped(
    distances: NDArray[np.float64], weights: Weights, centres: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Makes the best exchange of one centre for one candidate, again and again, until none gains."""
    centres = centres.copy()
    for _ in range(_MOST_SWAPS):
        change, current = _changes(distances, weights, centres)
        change[:, centres] = np.inf
        place, candidate = np.unravel_index(int(np.argmin(change)), change.shape)
        if change[place, candidate] >= -_WORTH * max(current, 1.0):
            break
        centres[place] = candidate
    return centres


def _changes(
    distances: NDArray[np.float64], weights: Weights, centres: NDArray[np.int64]
) -> tuple[NDArray[np.float64], float]:
    """Returns (`(k, c)` change of the cost when a candidate stands in for a centre, the cost).

    A point of a centre that goes falls to its second nearest or to the newcomer, any other stays or moves to
    the newcomer.
    """
    to_centres = distances[:, centres]
    owner = to_centres.argmin(axis=1)
    rows = np.arange(len(weights))
    near = to_centres[rows, owner]
    to_centres[rows, owner] = np.inf
    second = to_centres.min(axis=1)
    with_newcomer = np.minimum(distances, near[:, np.newaxis])
    loses = np.minimum(distances, second[:, np.newaxis]) - with_newcomer
    of_centre = np.zeros((centres.size, len(weights)))
    of_centre[owner, rows] = weights
    current = float(weights @ near)
    return weights @ with_newcomer - current + of_centre @ loses, current


def _moved(points: Points, weights: Weights, centres: Points) -> Points:
    """Returns centres in the weighted median of their points, until that gains nothing."""
    best = cost(points, weights, centres)
    for _ in range(_MOST_ROUNDS):
        owner = nearest(points, centres)
        moved = np.array(
            [
                _median(points[owner == place], weights[owner == place]) if (owner == place).any() else centre
                for place, centre in enumerate(centres)
            ]
        )
        moved_cost = cost(points, weights, moved)
        if moved_cost >= best * (1 - _WORTH):
            break
        centres, best = moved, moved_cost
    return centres


def _median(points: Points, weights: Weights) -> Points:
    """Returns the lower weighted median on each axis."""
    median = np.empty(2, np.int64)
    for axis in (0, 1):
        order = np.argsort(points[:, axis], kind="stable")
        running = np.cumsum(weights[order])
        median[axis] = points[order[np.searchsorted(running, running[-1] / 2)], axis]
    return median
