"""Masses in narrow integers say what wide ones say, at the borders of their blocks as anywhere."""

import numpy as np
import pytest

from mechanisms.interval_sums import Run
from mechanisms.narrow_run import BLOCK, NarrowRun

ROWS = [1, BLOCK - 1, BLOCK, BLOCK + 1, 4 * BLOCK + 7]


def made(rows, farthest=2**30, heaviest=2**20):
    """Cells and masses, and the run of them; blocks are as the definition says, row by row."""
    random = np.random.default_rng(rows)
    cells = np.cumsum(random.integers(1, max(2, farthest // rows), rows)) - 1
    masses = random.integers(1, heaviest, rows)
    block = np.arange(rows) // BLOCK
    firsts, totals = cells[::BLOCK], np.cumsum(masses)
    befores = np.append(0, totals[BLOCK - 1 :: BLOCK])[: firsts.size]
    run = NarrowRun(
        firsts=firsts,
        befores=befores,
        offsets=(cells - firsts[block]).astype(np.uint32 if farthest < 2**32 else np.int64),
        totals=(totals - befores[block]).astype(np.uint32),
    )
    return cells, masses, run


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("farthest", [1, 2**30, 2**44])
def test_it_says_what_a_wide_run_says(rows, farthest):
    cells, masses, run = made(rows, farthest)
    wide = Run.of(cells, masses)
    assert (run.ends, run.total) == (wide.ends, wide.total)
    assert (run.cells == cells).all()
    assert (run.masses == masses).all()
    asked = np.concatenate([cells, cells + 1, cells - 1, [-1, 0, 2**62], np.flip(cells)])
    assert (run.before(asked) == wide.before(asked)).all()


def test_without_rows_it_holds_nothing():
    none, narrow = np.zeros(0, np.int64), np.zeros(0, np.uint32)
    run = NarrowRun(firsts=none, befores=none, offsets=narrow, totals=narrow)
    assert (run.ends, run.total, run.cells.size, run.masses.size) == (None, 0, 0, 0)
    assert run.before(np.array([0, 5])).tolist() == [0, 0]


@pytest.mark.parametrize("row", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK])
@pytest.mark.parametrize("column", ["firsts", "befores", "offsets", "totals"])
def test_what_is_out_of_order_is_refused(row, column):
    _, _, run = made(4 * BLOCK)
    columns = {name: getattr(run, name).copy() for name in ("firsts", "befores", "offsets", "totals")}
    at = row // BLOCK if column in {"firsts", "befores"} else row
    columns[column][at] = 2**31
    with pytest.raises(ValueError, match="ascend") as refused:
        NarrowRun(**columns)
    assert str(2**31) not in str(refused.value)


def test_nothing_of_it_is_shown():
    assert repr(made(3)[2]) == "NarrowRun()"
