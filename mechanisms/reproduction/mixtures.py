"""Makes synthetic places: mixtures of Gaussians with a given share of cells that are not empty."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.evaluation.places import BOX, CheckInPlace
from mechanisms.space.grid import Region

REGION: Final = Region(0, 0, 1, 1)
SIDE: Final = 256  # cells that sparsity is counted in
_AT_ONCE: Final = 4096
_MOST: Final = 2_000_000  # points: a mixture may never fill as many cells as asked for


def mixture(share: float, gaussians: int, seed: int, *, persons: int) -> CheckInPlace:
    """Returns points of a uniform mixture, drawn until that share of cells is not empty,
    and dealt to persons.

    Means are uniform, axes of the covariances have deviations of 2 to 12 % of the square, turned at random;
    points outside the square are drawn again. Source: Ghazi et al. 2022, Appendix E.3.
    """
    random = np.random.default_rng((seed, gaussians))
    means = random.random((gaussians, 2))
    roots = np.stack([_root(random) for _ in range(gaussians)])
    covered, blocks, count = np.zeros(SIDE * SIDE, np.bool_), list[NDArray[np.float64]](), 0
    while covered.mean() < share and count < _MOST:
        points = _points_inside(random, means, roots)
        cells = (points * SIDE).astype(np.int64) @ (1, SIDE)
        fresh = np.maximum.accumulate(np.cumsum(_first_occurrences(cells, covered)))
        enough = int(np.searchsorted(fresh, share * covered.size - covered.sum())) + 1
        points, cells = points[:enough], cells[:enough]
        covered[cells] = True
        blocks.append(points)
        count += len(points)
    points = np.concatenate(blocks)
    owners = np.arange(len(points)) % persons
    return CheckInPlace.of(BOX + 1 + seed, REGION, owners, points[:, 1], points[:, 0])


def _root(random: np.random.Generator) -> NDArray[np.float64]:
    turn = random.random() * np.pi
    axes = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    root: NDArray[np.float64] = axes * random.uniform(0.02, 0.12, 2)
    return root


def _points_inside(
    random: np.random.Generator, means: NDArray[np.float64], roots: NDArray[np.float64]
) -> NDArray[np.float64]:
    which = random.integers(0, len(means), _AT_ONCE)
    points = means[which] + np.einsum("nij,nj->ni", roots[which], random.normal(size=(_AT_ONCE, 2)))
    inside: NDArray[np.float64] = points[((points >= 0) & (points < 1)).all(axis=1)]
    return inside


def _first_occurrences(cells: NDArray[np.int64], covered: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Returns 1 where a cell comes up for the first time."""
    first = np.zeros(cells.size, np.int64)
    first[np.unique(cells, return_index=True)[1]] = 1
    return first * ~covered[cells]
