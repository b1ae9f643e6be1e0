"""Keys of check-ins: a bin of time and a cell, as one integer and back."""

from collections import Counter
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.check import ParameterError
from mechanisms.records import aggregation
from mechanisms.records.aggregation import masses, masses_by_bin, masses_from_counts, sum_of_shares
from mechanisms.records.row_key import NO_TIME, RowKey, TimeBins
from mechanisms.space.subregion import LINES, Rectangle

HOURS = TimeBins(start=0, width=3600, count=24)
FIRST, LAST = -62_135_596_800, 253_402_300_799  # seconds of the years 1 to 9999
property_test = settings(derandomize=True, max_examples=200, deadline=None)
moments = st.one_of(st.integers(FIRST, LAST), st.sampled_from([FIRST, LAST, -1, 0, 3599, 3600, 86_399]))
checkins = st.tuples(
    st.integers(0, 4),  # person
    st.one_of(st.integers(0, 4**31 - 1), st.sampled_from([0, 1, 4**31 - 1, 4**30])),
    st.one_of(moments, st.just(NO_TIME)),
)
rectangles = st.sampled_from(
    [None, Rectangle(0, 1, LINES // 3, LINES), Rectangle(LINES // 2, 0, LINES, LINES)]
)


@st.composite
def keys(draw):
    level = draw(st.sampled_from([0, 1, 5, 16, 29, 31]))
    count = draw(st.integers(1, min(30, 2 ** (63 - 2 * level))))
    start, width = draw(moments), draw(st.integers(1, 10**9))
    bins = draw(st.sampled_from([None, TimeBins(start=start, width=width, count=count)]))
    return RowKey(level=level, rectangle=draw(rectangles), bins=bins)


def key_of(cell, time, key):
    """(bin, cell) in plain integers, or None."""
    own = cell >> 2 * (31 - key.level)
    if key.rectangle is not None:
        inside, cells = key.rectangle.cells([cell], key.level)
        if not inside[0]:
            return None
        own = int(cells[0])
    if key.bins is None:
        return 0, own
    if time == NO_TIME:
        return None
    return floor(Fraction(time - key.bins.start, key.bins.width)) % key.bins.count, own


def by_definition(rows, key, unit):
    """Mass by (bin, cell), one person at a time."""
    total = Counter()
    for person in {person for person, *_ in rows}:
        record = Counter(key_of(cell, time, key) for owner, cell, time in rows if owner == person)
        del record[None]
        shares = {pair: int(unit * Fraction(count, record.total())) for pair, count in record.items()}
        assert sum(shares.values()) <= unit
        total.update(shares)
    return {pair: mass for pair, mass in total.items() if mass}


def as_dict(mass_maps):
    return {
        (number, cell): mass
        for number, of_bin in enumerate(mass_maps)
        for cell, mass in zip(of_bin.cells.tolist(), of_bin.masses.tolist(), strict=True)
    }


def columns(rows):
    return (np.array([row[number] for row in rows], np.int64) for number in range(3))


@property_test
@given(rows=st.lists(checkins, max_size=60), key=keys(), unit=st.integers(0, 50).map(lambda power: 2**power))
def test_masses_by_bin_are_those_of_the_definition(rows, key, unit):
    persons, cells, times = columns(rows)
    with_key, integers = key.of_rows(cells, times)
    result = masses_by_bin(persons=persons[with_key], keys=integers, key=key, unit=unit)
    assert len(result) == key.bin_count
    assert {(read.level, read.unit) for read in result} == {(key.level, unit)}
    assert as_dict(result) == by_definition(rows, key, unit)
    counts = np.ones_like(integers)
    counted = masses_from_counts(persons[with_key], integers, counts, key=key, unit=unit)
    assert as_dict(counted) == as_dict(result)


@property_test
@given(
    rows=st.lists(checkins, min_size=1, max_size=60),
    key=keys(),
    unit=st.sampled_from([1, 2**20, 2**50]),
    dense=st.sampled_from([0, 4**9]),
)
def test_shares_of_persons_are_summed_by_key(rows, key, unit, dense):
    persons, cells, times = columns(rows)
    parts = []
    for person in np.unique(persons):
        own = persons == person
        _, integers = key.of_rows(cells[own], times[own])
        numbers = np.zeros_like(integers)
        parts.append(aggregation.shares_of_numbered(numbers=numbers, keys=integers, unit=unit))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aggregation, "_DENSE", dense)
        result = sum_of_shares(iter(parts), key=key, unit=unit)
    assert as_dict(result) == by_definition(rows, key, unit)


@property_test
@given(rows=st.lists(checkins, min_size=1, max_size=40), key=keys())
def test_a_person_moves_all_bins_together_by_a_unit(rows, key):
    unit, leaving = 2**20, rows[0][0]
    with_person = by_definition(rows, key, unit)
    without = by_definition([row for row in rows if row[0] != leaving], key, unit)
    for content, expected in ((rows, with_person), ([r for r in rows if r[0] != leaving], without)):
        persons, cells, times = columns(content)
        with_key, integers = key.of_rows(cells, times)
        result = as_dict(masses_by_bin(persons=persons[with_key], keys=integers, key=key, unit=unit))
        assert result == expected
    assert sum(with_person.get(pair, 0) - without.get(pair, 0) for pair in with_person) <= unit


def test_a_key_of_one_bin_is_the_cell():
    cells = np.array([0, 5, 4**31 - 1])
    key = RowKey(level=31)
    rows, integers = key.of_rows(cells)
    assert cells[rows].tolist() == integers.tolist() == cells.tolist()
    [result] = masses_by_bin(persons=[1, 1, 2], keys=integers, key=key, unit=8)
    expected = masses(persons=[1, 1, 2], cells=cells, level=31, unit=8)
    assert result.cells.tobytes() == expected.cells.tobytes()
    assert result.masses.tobytes() == expected.masses.tobytes()


def test_hours_begin_again_every_day():
    times = np.array([0, 3599, 3600, 86_399, 86_400, -1, FIRST, LAST])
    assert HOURS.of(times).tolist() == [0, 0, 1, 23, 0, 23, 0, 23]


def test_the_last_key_is_the_greatest_integer():
    key = RowKey(level=31, bins=TimeBins(start=0, width=1, count=2))
    assert key.size == 2**63
    _, integers = key.of_rows(np.array([4**31 - 1]), np.array([1]))
    assert integers.tolist() == [2**63 - 1]
    zero, one = key.mass_maps(integers, [7], unit=8)
    assert (zero.cells.size, one.cells.tolist(), one.masses.tolist()) == (0, [4**31 - 1], [7])


def test_more_bins_than_fit_are_refused():
    with pytest.raises(ParameterError, match="bins is 3, allowed: at most 2 with cells of level 31"):
        RowKey(level=31, bins=TimeBins(start=0, width=1, count=3))
    with pytest.raises(ParameterError, match="level"):
        RowKey(level=32)


def test_the_longest_period_stays_within_63_bits():
    bins = TimeBins(start=-(2**40), width=2**40, count=2**22)
    assert bins.of(np.array([-(2**40), 0, 2**41])).tolist() == [0, 1, 3]


@pytest.mark.parametrize(
    ("name", "value"),
    [("start", 2**41), ("start", 0.5), ("width", 0), ("width", True), ("count", 0), ("count", 2**22 + 1)],
)
def test_bins_out_of_range_are_refused(name, value):
    with pytest.raises(ParameterError) as caught:
        TimeBins(**({"start": 0, "width": 1, "count": 1} | {name: value}))
    assert caught.value.parameter == name


def test_bins_need_times():
    with pytest.raises(ValueError, match="bins need times"):
        RowKey(level=1, bins=HOURS).of_rows(np.array([1]))
