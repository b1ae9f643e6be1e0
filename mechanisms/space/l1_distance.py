"""Computes L1 distances of points to centres, and which centre is nearest."""

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.int64]


def nearest(points: Points, centres: Points) -> NDArray[np.int64]:
    """Returns `(m,)` which centre is nearest in L1; of equally near ones the first."""
    owner, best = np.zeros(len(points), np.int64), l1_distances(points, centres[0])
    for place, centre in enumerate(centres[1:], start=1):
        distance = l1_distances(points, centre)
        nearer = distance < best
        owner[nearer] = place
        best = np.minimum(best, distance)
    return owner


def l1_distances(points: Points, centre: Points) -> NDArray[np.int64]:
    """Returns `(m,)` distances, in the coordinates' unit."""
    distances: NDArray[np.int64] = np.abs(points - centre).sum(axis=1)
    return distances
