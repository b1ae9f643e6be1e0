"""The released point, the sums it is drawn from, and how they are made of check-ins."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.check import ParameterError
from mechanisms.records.aggregation import record_means
from mechanisms.records.means import MOST_PERSONS, PARTS, RecordMeans
from mechanisms.results.heatmap import Heatmap
from mechanisms.results.point import Point
from mechanisms.results.serialization import result_from_bytes
from mechanisms.space.grid import FINEST_LEVEL, Region, morton_decode

POINT = {"lat": 30.25, "lon": -97.75, "expected_m": 12.5, "within_m": 30.0}
CELLS = st.integers(0, 2**FINEST_LEVEL - 1)
RECORDS = st.lists(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5), max_size=6)


def summed(records, enrolled):
    counts, columns, rows = ([f(record) for record in records] for f in (len, _sum_of(0), _sum_of(1)))
    return record_means(counts=counts, columns=columns, rows=rows, enrolled=enrolled)


def _sum_of(axis):
    return lambda record: sum(cell[axis] for cell in record)


def test_bytes_come_back_as_the_same_point():
    point = Point(**POINT)
    assert Point.from_bytes(point.to_bytes()) == point == result_from_bytes(point.to_bytes())
    assert point.sha256 != Point(**POINT | {"lat": 30.26}).sha256


def test_results_are_told_apart_by_their_bytes():
    empty = {"levels": np.empty(0, np.uint8), "prefixes": np.empty(0, np.int64)}
    values = {"values": np.empty(0), "standard_errors": np.empty(0)}
    heatmap = Heatmap(level=3, **empty, **values)
    assert result_from_bytes(heatmap.to_bytes()).sha256 == heatmap.sha256


@pytest.mark.parametrize(
    "change", [lambda b: b[:-1], lambda b: b + b"x", lambda b: b"HZP2" + b[4:], lambda b: b""]
)
def test_damaged_bytes_are_refused(change):
    with pytest.raises(ValueError, match="not a"):
        result_from_bytes(change(Point(**POINT).to_bytes()))


@pytest.mark.parametrize(
    "change",
    [
        {"lat": 91.0},
        {"lon": -181.0},
        {"within_m": -1.0},
        {"expected_m": math.nan},
        {"lat": math.inf},
        {"lat": 3},
    ],
)
def test_points_that_break_the_rules_cannot_exist(change):
    with pytest.raises(ValueError, match="a point"):
        Point(**POINT | change)


@pytest.mark.parametrize(
    "change", [{"x": -1}, {"y": 3 * PARTS + 1}, {"x": 0.5}, {"persons": 0}, {"persons": MOST_PERSONS + 1}]
)
def test_sums_that_break_the_rules_cannot_exist(change):
    with pytest.raises(ValueError, match=r"sums|persons") as refused:
        RecordMeans(**{"persons": 3, "x": 31337, "y": 0} | change)
    assert "31337" not in str(refused.value)


def test_sums_are_hidden():
    assert "31337" not in repr(RecordMeans(persons=3, x=31337, y=0))


@settings(deadline=None, derandomize=True)
@given(RECORDS, st.integers(0, 3))
def test_sums_are_those_of_exact_means_to_half_a_part_a_person(records, missing):
    enrolled = max(1, len(records) + missing)
    means = summed(records, enrolled)
    for axis, found in ((0, means.x), (1, means.y)):
        exact = [Fraction(2 * _sum_of(axis)(record), len(record)) + 1 for record in records]
        exact += [Fraction(PARTS, 2)] * (enrolled - len(records))
        assert abs(found - sum(exact)) <= Fraction(len(records), 2)


@settings(deadline=None, derandomize=True)
@given(RECORDS.filter(len), st.data())
def test_one_person_moves_the_sum_by_their_own_move_alone(records, data):
    # Rounding depends on the record alone, whoever else is there.
    other = data.draw(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5))
    alone = summed([records[0]], 1), summed([other], 1)
    together = summed(records, 9), summed([other, *records[1:]], 9)
    assert together[1].x - together[0].x == alone[1].x - alone[0].x
    assert together[1].y - together[0].y == alone[1].y - alone[0].y


def test_a_check_in_counts_where_it_is():
    region = Region(-97.9, 30.1, -97.5, 30.5)
    x, y = morton_decode(region.morton([30.2], [-97.6]), FINEST_LEVEL)
    means = record_means(counts=[1], columns=x, rows=y, enrolled=1)
    assert means.x / PARTS == pytest.approx(0.75, abs=1e-9)
    assert means.y / PARTS == pytest.approx(0.25, abs=1e-9)


def test_persons_without_check_ins_stand_at_the_centre():
    assert summed([], 4).x == summed([], 4).y == 4 * PARTS // 2


@pytest.mark.parametrize("wrong", [{"enrolled": 1}, {"counts": [1, 0]}])
def test_more_records_than_persons_and_empty_ones_are_refused_without_a_number(wrong):
    with pytest.raises(ValueError, match="at most as many") as refused:
        record_means(**{"counts": [31337, 1], "columns": [1, 2], "rows": [1, 2], "enrolled": 2} | wrong)
    assert "31337" not in str(refused.value)


def test_region_sums_of_billions_of_persons_fit():
    means = RecordMeans(persons=MOST_PERSONS, x=MOST_PERSONS * PARTS, y=0)
    assert means.x.bit_length() <= 64
    with pytest.raises(ParameterError, match="persons"):
        RecordMeans(persons=True + MOST_PERSONS, x=0, y=0)
