"""The linear programme against the paper's formula written out, and what happens when it fails."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog

from mechanisms.central.sparse_emd import reconstruction
from mechanisms.evaluation.seeded import SeededSource
from tests.mechanisms.examples import SEED, crowd, make, masses_for

LEVEL, FIRST = 4, 1


@pytest.fixture
def mechanism():
    return make("sparse-emd", width=5, resolution=2**LEVEL)


def pyramid():
    """Rows of P from level FIRST on, over the finest cells in Morton order: 2^-i times an indicator."""
    rows = []
    for level in range(FIRST, LEVEL + 1):
        size = 4 ** (LEVEL - level)
        rows.append(np.kron(np.eye(4**level), np.ones(size)) / 2**level)
    return np.vstack(rows)


def full_measurements(measured, unit):
    """ŷ of line 8: scaled noisy values of kept cells, 0 everywhere else."""
    vectors = []
    for level in measured:
        vector = np.zeros(4**level.level)
        vector[level.cells[level.is_selected]] = level.noisy[level.is_selected] / unit / 2**level.level
        vectors.append(vector)
    return np.concatenate(vectors)


def finest_cells(heatmap):
    cells = np.zeros(4**LEVEL)
    for level, prefix, value in zip(heatmap.levels.tolist(), heatmap.prefixes, heatmap.values, strict=True):
        size = 4 ** (LEVEL - level)
        cells[prefix * size : (prefix + 1) * size] += value / size
    return cells


def least_misfit(target):
    """min ‖target - P s'‖₁ over s' ≥ 0 with a variable per finest cell."""
    p = pyramid()
    identity = np.eye(len(p))
    cost = np.concatenate((np.zeros(p.shape[1]), np.ones(2 * len(p))))
    return linprog(cost, A_eq=np.hstack((p, identity, -identity)), b_eq=target, method="highs").fun


@pytest.mark.parametrize("seed", range(12))
def test_no_map_fits_the_measurements_better(mechanism, seed):
    masses = crowd(mechanism, cells=15, persons=40, seed=seed)
    measured = mechanism.measure(masses, SeededSource(seed))
    heatmap = reconstruction.reconstruct(measured, unit=mechanism.unit)
    target = full_measurements(measured, mechanism.unit)
    misfit = np.abs(target - pyramid() @ finest_cells(heatmap)).sum()
    assert misfit == pytest.approx(least_misfit(target), rel=1e-6)


def test_left_out_cells_of_one_parent_hold_the_same(mechanism):
    """Nothing that was measured tells them apart; all in the first of them would be a pattern of its own."""
    masses = crowd(mechanism, cells=15, persons=40)
    measured = mechanism.measure(masses, SeededSource(SEED))
    heatmap = reconstruction.reconstruct(measured, unit=mechanism.unit)
    held = dict(
        zip(zip(heatmap.levels.tolist(), heatmap.prefixes.tolist(), strict=True), heatmap.values, strict=True)
    )
    left_out = [
        (level.level, cell) for level in measured for cell in level.cells[~level.is_selected].tolist()
    ]
    siblings = {}
    for level, cell in left_out:
        siblings.setdefault((level, cell >> 2), []).append(held.get((level, cell), 0.0))
    assert all(max(found) == pytest.approx(min(found)) for found in siblings.values())
    assert any(len(found) > 1 and min(found) > 0 for found in siblings.values())


def test_regions_of_the_map_are_disjoint_and_cover_kept_cells_only(mechanism):
    measured = mechanism.measure(crowd(mechanism, cells=15, persons=40), SeededSource(SEED))
    leaves = reconstruction._leaves(measured)
    covered = sum(4.0 ** -int(level) for level in leaves.levels)
    assert covered == 1  # every place of the map belongs to exactly one unknown
    assert leaves.fitted.sum() == 5


@pytest.mark.parametrize(
    "outcome",
    [
        SimpleNamespace(status=4, x=None),
        SimpleNamespace(status=1, x=np.zeros(500)),
        SimpleNamespace(status=0, x=np.full(500, np.nan)),
    ],
)
def test_a_failing_solver_does_not_show(mechanism, monkeypatch, outcome):
    masses = masses_for(mechanism, {0: 50, 100: 20, 255: 30})
    measured = mechanism.measure(masses, SeededSource(SEED))
    monkeypatch.setattr(reconstruction, "linprog", lambda *_, **__: outcome)
    heatmap = mechanism.release(masses, SeededSource(SEED))
    finest = measured[-1]
    kept = finest.is_selected & (finest.noisy > 0)
    assert heatmap.prefixes.tolist() == finest.cells[kept].tolist()
    assert heatmap.values == pytest.approx(finest.noisy[kept] / mechanism.unit)
    assert heatmap.values.max() > 20  # still a useful map


def test_the_solver_reaches_an_optimum_over_the_whole_range_of_budgets(monkeypatch):
    statuses = []

    def watched(*arguments, **options):
        result = linprog(*arguments, **options)
        statuses.append(result.status)
        return result

    monkeypatch.setattr(reconstruction, "linprog", watched)
    for epsilon in ("1e-6", "0.01", "1", "20", "1e6"):
        for resolution in (2, 16, 256, 65536):
            mechanism = make("sparse-emd", width=20, resolution=resolution, epsilon=epsilon)
            mechanism.release(crowd(mechanism, cells=4, persons=200), SeededSource(SEED))
    assert statuses == [0] * 20
