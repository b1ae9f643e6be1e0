"""Cuts cover every finest cell exactly once, and are fine where the estimate is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.central.adaptive.quadtree_cut import Cut, cell_masses, grid_level, refined
from mechanisms.records.mass_map import MassMap


def covered(cut, finest):
    """How often each finest cell is covered, by plain Python."""
    times = [0] * 4**finest
    for level, prefix in zip(cut.levels.tolist(), cut.prefixes.tolist(), strict=True):
        size = 4 ** (finest - level)
        for cell in range(prefix * size, (prefix + 1) * size):
            times[cell] += 1
    return times


@settings(derandomize=True, deadline=None)
@given(
    st.lists(st.floats(0, 100), min_size=16, max_size=16),
    st.lists(st.floats(0.5, 50), min_size=2, max_size=4),
)
def test_a_refined_cut_covers_every_cell_once_and_splits_what_its_level_is_worth(masses, most):
    mass, finest = np.array(masses), len(most)
    cut = refined(Cut.grid(2), mass, most=np.array(most), limit=10**6)
    assert covered(cut, finest) == [1] * 4**finest
    spread = np.repeat(mass, 4 ** (finest - 2)) / 4 ** (finest - 2)
    for level, prefix in zip(cut.levels.tolist(), cut.prefixes.tolist(), strict=True):
        size = 4 ** (finest - level)
        inside = spread[prefix * size : (prefix + 1) * size].sum()
        parent = spread[prefix // 4 * size * 4 : (prefix // 4 + 1) * size * 4].sum()
        assert level == finest or inside < most[level] * (1 + 1e-9)
        assert level == 0 or parent >= most[level - 1] * (1 - 1e-9)


def test_time_and_memory_follow_the_cut_not_the_grid():
    everything = np.zeros(64)
    everything[11] = 1e15
    cut = refined(Cut.grid(3), everything, most=np.full(16, 4.0), limit=5000)
    assert cut.levels.size <= 5000
    assert cut.levels.max() > 7  # and it went deep where the mass is
    assert (np.diff(cut.starts(16)) > 0).all()


@pytest.mark.parametrize(
    ("mass", "most", "level"), [(0, 1, 0), (0.9, 1, 0), (1, 1, 1), (100, 2, 3), (10**30, 1, 9)]
)
def test_the_first_grid_is_as_fine_as_the_mass_is_worth(mass, most, level):
    assert grid_level(mass, most=most, finest=9) == level


def test_masses_of_cells_are_sums_of_their_finest_cells():
    random = np.random.default_rng(1)
    cells = np.sort(random.choice(4**6, 300, replace=False))
    summed = MassMap(level=6, unit=1024, cells=cells, masses=random.integers(1, 2**60, 300) // 1000)
    cut = refined(Cut.grid(2), random.exponential(size=16), most=np.full(6, 0.2), limit=10**6)
    dense = np.zeros(4**6, np.int64)
    dense[cells] = summed.masses
    expected = np.add.reduceat(dense, cut.starts(6))
    assert np.array_equal(cut.masses(summed), expected)
    assert cell_masses(summed, np.array([0]), np.array([0])).tolist() == [summed.masses.sum()]
