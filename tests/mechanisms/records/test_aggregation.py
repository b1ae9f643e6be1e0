"""Integer masses: exact, and never more than a unit for a person."""

import tracemalloc
import weakref
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.check import ParameterError
from mechanisms.records import aggregation
from mechanisms.records.aggregation import masses, masses_from_counts, shares_of_ordered, sum_of_shares
from mechanisms.records.row_key import RowKey
from mechanisms.space.grid import parent

property_test = settings(derandomize=True, max_examples=200, deadline=None)
finest_cells = st.integers(0, 4**31 - 1)
few_cells = st.one_of(finest_cells, st.sampled_from([0, 1, 4**31 - 1, 4**30, 4**16]))
check_ins = st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3), few_cells), max_size=60)
units = st.integers(0, 50).map(lambda exponent: 2**exponent)
levels = st.integers(0, 31)


def naive_masses(rows, level, unit):
    """cell -> mass by exact fractions, one person at a time."""
    result = Counter()
    for person in {person for person, _ in rows}:
        record = Counter(cell >> 2 * (31 - level) for owner, cell in rows if owner == person)
        for cell, count in record.items():
            result[cell] += int(unit * Fraction(count, record.total()))
    return {cell: mass for cell, mass in result.items() if mass}


def as_dict(mass_map):
    return dict(zip(mass_map.cells.tolist(), mass_map.masses.tolist(), strict=True))


@property_test
@given(check_ins, levels, units)
def test_it_equals_exact_fractions(rows, level, unit):
    persons, cells = [row[0] for row in rows], [row[1] for row in rows]
    result = masses(persons=persons, cells=cells, level=level, unit=unit)
    assert as_dict(result) == naive_masses(rows, level, unit)
    assert (result.level, result.unit) == (level, unit)


@property_test
@given(
    rows=check_ins,
    level=levels,
    unit=units,
    cut=st.integers(0, 3),
    dense=st.sampled_from([0, 4**9]),
)
def test_it_sums_parts_as_they_come(*, rows, level, unit, cut, dense):
    """Of different persons, each with its own rows by person and finest cell; on grids held whole or not."""
    people = sorted({person for person, _ in rows})
    parts = []
    for some in (people[:cut], people[cut : 2 * cut], people[2 * cut :]):
        own = sorted(row for row in rows if row[0] in some)
        lengths = [sum(row[0] == person for row in own) for person in some]
        cells = np.array([cell for _, cell in own], np.int64)
        parts.append(shares_of_ordered(lengths=lengths, keys=parent(cells, 31 - level), unit=unit))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aggregation, "_DENSE", dense)
        [result] = sum_of_shares(iter(parts), key=RowKey(level=level), unit=unit)
    assert as_dict(result) == naive_masses(rows, level, unit)
    assert (np.diff(result.cells) > 0).all()


def test_it_keeps_no_part_of_a_grid_that_is_held_whole():
    seen = []

    def parts():
        for number in range(4):
            assert not any(earlier() is not None for earlier in seen[:-1])
            cells = np.arange(number, number + 9)
            seen.append(weakref.ref(cells))
            yield cells, np.ones_like(cells)
            del cells

    [result] = sum_of_shares(parts(), key=RowKey(level=2), unit=1)
    assert result.masses.tolist() == [1, 2, 3, *[4] * 6, 3, 2, 1]


def test_few_rows_of_a_fine_grid_take_no_memory_for_its_cells():
    cells = np.arange(0, 4**12, 4**7)
    parts = [(cells, np.ones_like(cells))] * 3
    tracemalloc.start()
    try:
        [result] = sum_of_shares(iter(parts), key=RowKey(level=12), unit=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert as_dict(result) == dict.fromkeys(cells.tolist(), 3)
    assert peak < 4**12  # an eighth of a number a cell


@pytest.mark.parametrize("level", [0, 3, 31])
def test_it_sums_more_rows_than_it_looks_at_together(level, monkeypatch):
    """No cell is cut in two, be its rows fewer or more than that."""
    monkeypatch.setattr(aggregation, "_IN_CACHE", 4)
    random = np.random.default_rng(1)
    for unit in (1, 2**24, 2**56):  # with cells of the finest level the last does not fit an integer
        rows = list(zip(random.integers(0, 9, 60).tolist(), random.integers(0, 40, 60).tolist(), strict=True))
        result = masses(persons=[p for p, _ in rows], cells=[c for _, c in rows], level=level, unit=unit)
        assert as_dict(result) == naive_masses(rows, level, unit)


@pytest.mark.parametrize("lengths", [[2], [4], [3, 0], [4, -1], []])
def test_lengths_that_do_not_fit_the_rows_are_refused(lengths):
    with pytest.raises(ValueError, match="lengths"):
        shares_of_ordered(lengths=lengths, keys=[1, 2, 3], unit=1)


@property_test
@given(check_ins, levels, units, st.randoms(use_true_random=False))
def test_it_counts_rows_in_any_order_and_split(rows, level, unit, random):
    counted = [(person, cell, count) for (person, cell), count in Counter(rows).items()]
    counted += [(9, 5, 0), (77, 5, 0)]  # rows that count nothing belong to nobody
    random.shuffle(counted)
    persons, cells, counts = (list(column) for column in zip(*counted, strict=True))
    with np.errstate(all="raise"):
        [result] = masses_from_counts(
            persons, parent(cells, 31 - level), counts, key=RowKey(level=level), unit=unit
        )
    assert as_dict(result) == naive_masses(rows, level, unit)


@property_test
@given(check_ins.filter(bool), st.integers(0, 3), units, levels)
def test_it_moves_by_at_most_a_unit_when_a_person_leaves(rows, index, unit, level):
    leaving = rows[index % len(rows)][0]
    remaining = [row for row in rows if row[0] != leaving]
    with_person, without = (
        Counter(
            as_dict(masses(persons=[p for p, _ in part], cells=[c for _, c in part], level=level, unit=unit))
        )
        for part in (rows, remaining)
    )
    assert all(with_person[cell] >= mass for cell, mass in without.items())
    assert with_person.total() - without.total() <= unit


def test_it_stays_exact_where_products_leave_63_bits():
    counts = [2**13 + 1, 2**13, 1]  # unit · count is just above 2^63
    [result] = masses_from_counts([5, 5, 5], [0, 1, 2], counts, key=RowKey(level=31), unit=2**50)
    total = sum(counts)
    assert as_dict(result) == {cell: 2**50 * count // total for cell, count in enumerate(counts)}


def test_it_weighs_every_person_the_same():
    persons = [1] * 1000 + [2]
    cells = [0] * 1000 + [4**30 * 3]
    assert as_dict(masses(persons=persons, cells=cells, level=1, unit=8)) == {0: 8, 3: 8}


def test_it_gives_an_empty_map_for_no_rows():
    result = masses(persons=[], cells=[], level=8, unit=2)
    assert result.cells.size == result.masses.size == 0


def test_it_leaves_the_input_as_it_was():
    persons, cells = np.array([3, 1, 3]), np.array([9, 8, 7])
    masses(persons=persons, cells=cells, level=31, unit=4)
    assert persons.tolist() == [3, 1, 3]
    assert cells.tolist() == [9, 8, 7]


@pytest.mark.parametrize(("name", "level", "unit"), [("unit", 8, 3), ("unit", 8, 0), ("level", 32, 1)])
def test_it_refuses_parameters_out_of_range(name, level, unit):
    with pytest.raises(ParameterError) as caught:
        masses(persons=[1], cells=[1], level=level, unit=unit)
    assert caught.value.parameter == name


@pytest.mark.parametrize(
    ("persons", "cells", "counts"),
    [([1, 2], [1], [1]), ([1], [1], [1, 1]), ([[1]], [[1]], [[1]]), ([1], [1], [-1])],
)
def test_it_refuses_columns_that_do_not_fit(persons, cells, counts):
    with pytest.raises(ValueError, match="must"):
        masses_from_counts(persons, cells, counts, key=RowKey(level=3), unit=2)
