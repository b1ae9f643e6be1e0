"""Masses that were summed apart are one map: the same cells, sums and releases, joined or not."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heatmaps.masses import partial
from mechanisms import catalogue
from mechanisms.experiments.seeded import SeededSource
from mechanisms.guarantee import Relation
from mechanisms.interface import MassMap, Target
from mechanisms.interval_sums import Run
from mechanisms.joined_masses import JoinedMasses
from mechanisms.records import masses

LEVEL, UNIT = 3, 2**20
maps = st.dictionaries(st.integers(0, 4**LEVEL - 1), st.integers(1, 2**40), max_size=30)


def run(masses_of_cells):
    cells = np.array(sorted(masses_of_cells), np.int64)
    return Run.of(cells, np.array([masses_of_cells[cell] for cell in cells.tolist()], np.int64))


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(maps, min_size=1, max_size=5))
def test_they_are_the_sum_cell_by_cell_and_in_every_quadtree_cell(parts):
    joined = JoinedMasses(level=LEVEL, unit=UNIT, parts=[run(part) for part in parts])
    dense = np.zeros(4**LEVEL, np.int64)
    for part in parts:
        for cell, mass in part.items():
            dense[cell] += mass
    for level in range(LEVEL + 1):
        held = joined.interval_sums().within(level, np.arange(4**level))
        assert held.tolist() == dense.reshape(4**level, -1).sum(axis=1).tolist()
    assert joined.cells.tolist() == np.flatnonzero(dense).tolist()
    assert joined.masses.tolist() == dense[dense > 0].tolist()
    whole = MassMap(level=LEVEL, unit=UNIT, cells=joined.cells, masses=joined.masses)
    assert whole.interval_sums().within(1, np.arange(4)).tolist() == dense.reshape(4, -1).sum(axis=1).tolist()


@pytest.mark.parametrize(
    "name", ["sparse-emd", "adaptive", "privtree", "laplace", "laplace-top", "dense-emd"]
)
def test_a_release_of_parts_is_a_release_of_all(name):
    random = np.random.default_rng(1)
    persons, cells = random.integers(0, 200, 9000), random.integers(0, 4**31, 9000)
    target = Target(relation=Relation.ADD_REMOVE, epsilon=Fraction(2), expected_persons=200)
    mechanism = catalogue.build(name, target=target, resolution=64, parameters={})
    of = {"level": 6, "unit": mechanism.unit}
    whole = masses(persons=persons, cells=cells, **of)
    shares = [
        masses(persons=persons[mine], cells=cells[mine], **of)
        for mine in (persons % 2 == 0, persons % 2 == 1)
    ]
    parts = [Run.of(shares[0].cells, shares[0].masses), partial.unpacked(partial.packed(shares[1]))]
    joined = JoinedMasses(parts=parts, **of)
    released = [mechanism.release(read, SeededSource(7)).to_bytes() for read in (whole, joined)]
    assert released[0] == released[1]


@pytest.mark.parametrize(
    "change",
    [
        {"level": 2},
        {"level": 32},
        {"unit": 3},
        {"parts": [run({5: 2**61}), run({6: 2**61})]},
        {"parts": [Run.of(np.array([-1, 5]), np.array([1, 1]))]},
    ],
)
def test_parts_that_are_no_map_cannot_be_joined(change):
    parts = {"level": LEVEL, "unit": UNIT, "parts": [run({1: 2, 63: 4711})]}
    JoinedMasses(**parts)
    with pytest.raises(ValueError, match=r"must|cells|level|unit") as refused:
        JoinedMasses(**parts | change)
    assert "2305843009213693952" not in str(refused.value)  # no data in errors


def test_nothing_of_them_is_shown():
    joined = JoinedMasses(level=LEVEL, unit=UNIT, parts=[run({1: 2, 63: 31337})])
    assert repr(joined) == "JoinedMasses(level=3, unit=1048576)"
    assert "31337" not in repr(joined.interval_sums()) + repr(run({63: 31337}))
