"""Rows that are painted one by one are those of the whole grid, bit for bit."""

import numpy as np
import pytest

from mechanisms.results.dense_rows import SquareRows, dense_total, masses
from mechanisms.results.heatmap import Heatmap


def made_of(level, *squares):
    """A map of squares: (level, Morton code, value, standard error)."""
    levels, codes, values, errors = np.array(squares, dtype=float).reshape(-1, 4).T
    return Heatmap(
        level=level,
        levels=levels.astype(np.uint8),
        prefixes=codes.astype(np.int64),
        values=values.copy(),
        standard_errors=errors.copy(),
    )


def quadtree(level, *, seed):
    """A map of squares of all sizes, some of them left out."""
    rng, squares = np.random.default_rng(seed), []
    waiting = [(0, 0)]
    while waiting:
        depth, code = waiting.pop()
        if depth < level and (depth < 2 or rng.random() < 0.4):
            waiting += [(depth + 1, 4 * code + child) for child in range(4)]
        elif rng.random() < 0.8:
            squares.append((depth, code))
    levels, codes = np.array(squares, dtype=np.int64).reshape(-1, 2).T
    return Heatmap(
        level=level,
        levels=levels.astype(np.uint8),
        prefixes=codes,
        values=rng.gamma(0.3, 5, levels.size),
        standard_errors=np.full(levels.size, np.nan),
    )


@pytest.mark.parametrize("level", [0, 1, 3, 7, 8, 9, 10])
@pytest.mark.parametrize("seed", [1, 2])
def test_they_are_the_rows_of_the_grid(level, seed):
    heatmap = quadtree(level, seed=seed)
    rows = SquareRows.of(heatmap)
    shares = masses(heatmap) / dense_total(heatmap, rows)

    runs = list(rows.runs())

    assert [row for run in runs for row in run] == list(range(1 << level))
    painted = np.concatenate([np.tile(rows.paint(run.start, shares, 0.0), (len(run), 1)) for run in runs])
    assert painted.tobytes() == heatmap.dense().tobytes()


def test_what_no_square_covers_is_background():
    heatmap = made_of(2, (1, 0, 1, np.nan), (2, 15, 2, np.nan))
    rows = SquareRows.of(heatmap)

    assert [list(run) for run in rows.runs()] == [[0], [1], [2, 3]]
    assert rows.paint(0, heatmap.values, -1.0).tolist() == [-1, -1, -1, 2]
    assert rows.paint(1, heatmap.values, -1.0).tolist() == [-1, -1, -1, -1]
    assert rows.paint(3, heatmap.values, -1.0).tolist() == [1, 1, -1, -1]
