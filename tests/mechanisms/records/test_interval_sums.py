"""What quadtree cells of any level hold is what their cells hold together."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.records.mass_map import MassMap

LEVEL = 3


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.dictionaries(st.integers(0, 4**LEVEL - 1), st.integers(1, 2**40), max_size=30))
def test_they_are_the_sums_of_the_cells_below(masses):
    dense = np.zeros(4**LEVEL, np.int64)
    dense[list(masses)] = list(masses.values())
    cells = np.flatnonzero(dense)
    held = MassMap(level=LEVEL, unit=1, cells=cells, masses=dense[cells]).interval_sums()
    sums = [dense.reshape(4**level, -1).sum(axis=1).tolist() for level in range(LEVEL + 1)]
    assert [held.within(level, np.arange(4**level)).tolist() for level in range(LEVEL + 1)] == sums
    levels, last = np.arange(LEVEL + 1), 4 ** np.arange(LEVEL + 1) - 1
    assert held.within(levels, last).tolist() == [of_level[-1] for of_level in sums]


def test_nothing_of_them_is_shown():
    held = MassMap(level=LEVEL, unit=1, cells=np.array([5]), masses=np.array([31337]))
    assert "31337" not in repr(held) + repr(held.interval_sums())
