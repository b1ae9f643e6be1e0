"""Inputs and mechanisms that several tests use."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from mechanisms.catalogue.registry import HeatmapEntry, build, entries, get
from mechanisms.mechanism import Target
from mechanisms.records.mass_map import MassMap
from mechanisms.space.grid import children

SEED = 20240229
EXPECTED_PERSONS = 200
# Enough kept cells that a small sparse truth can come out whole.
PARAMETERS = {"laplace-top": {"keep_percent": "25"}}
NAMES = [entry.name for entry in entries(kind="heatmap") if isinstance(entry, HeatmapEntry)]


def make(
    name,
    *,
    epsilon=1,
    relation=None,
    resolution=16,
    expected_persons=EXPECTED_PERSONS,
    **parameters,
):
    if relation is None:
        relation = min(get(name).relations)  # ADD_REMOVE, where it is allowed
    target = Target(relation=relation, epsilon=Fraction(epsilon), expected_persons=expected_persons)
    parameters = parameters or PARAMETERS.get(name, {})
    return build(name, target=target, resolution=resolution, parameters=parameters)


def in_turn(names, relations_of, *, long):
    """Returns parameters of tests: every name under each of its relations.

    In the short suite each name has one relation, in turn; those of `long` have none.
    """
    return [
        pytest.param(
            name,
            relation,
            marks=[pytest.mark.long] * (name in long or turn % len(relations) != number % len(relations)),
        )
        for number, name in enumerate(names)
        for relations in [sorted(relations_of(name))]
        for turn, relation in enumerate(relations)
    ]


def by_pairs(cases, values):
    """Returns parameters of tests: every case, a tuple, with each of the values.

    In the short suite every two parts of a case and a value stand together at least once; the rest is long.
    """
    whole = [(*case, value) for case, value in product(cases, values)]
    pairs = {row: {*combinations(enumerate(row), 2)} for row in whole}
    missing, short = set().union(*pairs.values()), set()
    while missing:
        row = max(whole, key=lambda each: len(pairs[each] & missing))
        short.add(row)
        missing -= pairs[row]
    return [pytest.param(*row, marks=[pytest.mark.long] * (row not in short)) for row in whole]


def level_of(mechanism):
    return mechanism.resolution.bit_length() - 1


def masses_for(mechanism, persons_by_cell):
    """A mass map from {Morton code: persons}."""
    cells = np.array(sorted(persons_by_cell), dtype=np.int64)
    persons = [Fraction(persons_by_cell[cell]) for cell in cells.tolist()]
    masses = np.array([int(share * mechanism.unit) for share in persons], dtype=np.int64)
    return MassMap(level=level_of(mechanism), unit=mechanism.unit, cells=cells, masses=masses)


def crowd(mechanism, *, cells, persons, seed=SEED):
    """Persons in a few random cells, each cell with a different share."""
    random = np.random.default_rng(seed)
    places = random.choice(mechanism.resolution**2, size=cells, replace=False)
    shares = random.dirichlet(np.ones(cells)) * 0.9 + 0.1 / cells
    return masses_for(mechanism, dict(zip(places.tolist(), (shares * persons).tolist(), strict=True)))


def true_dense(masses):
    """The map without noise, painted without the code under test: one quarter of the square at a time."""
    side = 1 << masses.level
    grid = np.zeros((side, side))
    for cell, mass in zip(masses.cells.tolist(), masses.masses.tolist(), strict=True):
        x = sum(((cell >> 2 * bit) & 1) << bit for bit in range(masses.level))
        y = sum(((cell >> 2 * bit + 1) & 1) << bit for bit in range(masses.level))
        grid[side - 1 - y, x] = mass
    return grid / grid.sum()


def spread_over_areas(areas, masses):
    """The map without noise with the mass of each area spread over it: cell by cell, without the code under
    test."""
    side, truth = 1 << masses.level, true_dense(masses)
    x, y = (np.array([_every_other_bit(code >> axis) for code in areas.centres.tolist()]) for axis in (0, 1))
    rows, columns = np.indices((side, side))
    across, along = np.abs(columns[..., np.newaxis] - x), np.abs(side - 1 - rows[..., np.newaxis] - y)
    owner = (across + along).argmin(axis=2)
    share, cells = (np.bincount(owner.ravel(), each.ravel(), x.size) for each in (truth, np.ones_like(truth)))
    return (share / cells)[owner]


def _every_other_bit(code):
    return sum((code >> 2 * bit & 1) << bit for bit in range(16))


def greedy_tree(masses, *, first_level, width):
    """The `width` heaviest cells of each level below the ones kept before, by plain Python."""
    kept_by_level, candidates = {}, list(range(4**first_level))
    for level in range(first_level, masses.level + 1):
        up = 2 * (masses.level - level)
        sums = dict.fromkeys(candidates, 0)
        for cell, mass in zip(masses.cells.tolist(), masses.masses.tolist(), strict=True):
            if cell >> up in sums:
                sums[cell >> up] += mass
        kept = sorted(sorted(candidates, key=lambda cell: (-sums[cell], cell))[:width])
        kept_by_level[level] = {cell: sums[cell] for cell in kept}
        candidates = children(kept).tolist()
    return kept_by_level
