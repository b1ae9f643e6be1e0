"""Slot by slot: whatever the rows, however many are read at once and whichever files are packed, masses,
records and means are those of the definition, exactly."""

import math
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from uuid import uuid4

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import connection
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from heatmaps import masses
from heatmaps.data_slice import DataSlice
from heatmaps.ingest import row_copy
from heatmaps.ingest.versions.advance import next_version
from heatmaps.masses import column_copies, postgresql, sqlite
from heatmaps.models import PackedCheckIns, Suppression, Upload, UploadState
from heatmaps.models.packed import SLOTS
from heatmaps.pseudonyms.person_hashes import from_rows
from mechanisms.guarantee import Relation
from mechanisms.records import aggregation
from mechanisms.records.row_key import RowKey, TimeBins
from mechanisms.space.grid import FINEST_LEVEL, morton_decode
from mechanisms.space.subregion import LINES, Rectangle
from tests.services import seed

UNITS = (1, 2**10, 2**24, 2**50)
PERSONS = 50
NONE = row_copy.NO_TIME

# Some have one half of the hash in common, or all but the sign of a half.
halves = st.one_of(
    st.integers(0, 5), st.sampled_from([2**63 - 1, 2**62, 2**62 + 1, 2**40, -1, -(2**63), -(2**62)])
)
checkins = st.tuples(
    st.tuples(halves, st.sampled_from([0, 0, 1, -1, 2**62])),  # person
    st.one_of(st.integers(0, 4**FINEST_LEVEL - 1), st.sampled_from([0, 1, 2, 3, 4**FINEST_LEVEL - 1])),
    st.sampled_from([NONE, 0, 10, 20]),  # time
    st.booleans(),  # outside
)
lines = st.sampled_from([0, 1, LINES // 3, LINES // 2, LINES - 1, LINES])
parts = st.tuples(lines, lines, lines, lines).filter(lambda at: at[0] < at[2] and at[1] < at[3])
slices = st.builds(
    lambda period, part: DataSlice(since=period[0], until=period[1], rectangle=part and Rectangle(*part)),
    st.sampled_from([(None, None), (5, None), (None, 20), (5, 20)]),
    st.one_of(st.none(), parts),
)


time_bins = st.builds(
    lambda start, width, count: TimeBins(start=start, width=width, count=count),
    st.sampled_from([-2_000_000_007, -3, 0, 13, 4_000_000_000]),
    st.sampled_from([1, 7, 10]),
    st.sampled_from([1, 2, 24]),
)


@pytest.fixture
def versions(database):
    """A dataset with two versions, of two files; someone opts out before the second."""

    def make(first, second, opted_out):
        steward, _ = User.objects.get_or_create(username="steward")
        dataset = seed.make_dataset(steward, f"d-{uuid4().hex[:20]}", Relation.REPLACE, persons=PERSONS)
        made = []
        for content in (first, second):
            store(dataset, content)
            if made and opted_out is not None:
                person, rest = opted_out
                Suppression.objects.create(
                    dataset=dataset, person=person, person_rest=rest, since=2, created_by=steward
                )
            made.append(next_version(dataset, actor=steward))
        return dataset, made

    return make


def store(dataset, content):
    upload = Upload.objects.create(
        dataset=dataset,
        state=UploadState.READY,
        uploaded_by=dataset.created_by,
        file_name="rows.csv",
        size_bytes=1,
        content_digest=uuid4().hex,
        rows_accepted=len(content),
    )
    if content:
        person, *columns = zip(*content, strict=True)
        cell, time, outside = map(np.array, columns)
        row_copy.insert(
            upload.pk, row_copy.Block(persons=from_rows(person), cells=cell, times=time, outside=outside)
        )


def counted(content, data_slice):
    """The rows of a period."""
    since, until = data_slice.since, data_slice.until
    return [
        row
        for row in content
        if not data_slice.has_period
        or (row[2] != NONE and (since is None or row[2] >= since) and (until is None or row[2] < until))
    ]


def by_definition(content, data_slice, level, unit):
    """{cell: mass}, with fractions: floor(unit · share) by person and cell."""
    records = defaultdict(Counter)
    for person, cell, _, outside in counted(content, data_slice):
        own = own_cell(cell, data_slice.rectangle, level)
        if not outside and own is not None:
            records[person][own] += 1
    total = Counter()
    for record in records.values():
        for cell, count in record.items():
            total[cell] += math.floor(unit * Fraction(count, sum(record.values())))
    return {cell: mass for cell, mass in total.items() if mass}


def own_cell(cell, part, level):
    if part is None:
        return cell >> 2 * (FINEST_LEVEL - level)
    x, y = (int(axis[0]) for axis in morton_decode([cell], FINEST_LEVEL))
    if not (part.west <= x < part.east and part.south <= y < part.north):
        return None
    column = (x - part.west) * 2**level // (part.east - part.west)
    row = (y - part.south) * 2**level // (part.north - part.south)
    return sum((column >> bit & 1) << 2 * bit | (row >> bit & 1) << 2 * bit + 1 for bit in range(level))


def as_dict(read):
    return dict(zip(read.cells.tolist(), read.masses.tolist(), strict=True))


@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # a smaller example would take minutes of commits
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    first=st.lists(checkins, max_size=30),
    second=st.lists(checkins, max_size=30),
    data_slice=slices,
    level=st.sampled_from([0, 1, 6, 16, 31]),
    unit=st.sampled_from(UNITS),
    at_once=st.sampled_from([3, 25, 10**6]),  # of up to 60 rows that are not packed
    packed=st.sampled_from([(0,), (1,), (0, 1)]),  # of the two files
    again=st.integers(0, 1),  # the version that is read again then
)
def test_slots_sum_to_the_definition(
    versions, *, first, second, data_slice, level, unit, at_once, packed, again
):
    opted_out = first[0][0] if first else None
    dataset, made = versions(first, second, opted_out)
    held = [first, [row for row in first + second if row[0] != opted_out]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgresql, "ROWS_AT_ONCE", at_once)
        for version, content in zip(made, held, strict=True):
            check(dataset, version, content, data_slice, level=level, unit=unit)
        if connection.vendor == "postgresql":
            for number in packed:
                pack_all_of(made[number])
            check(dataset, made[again], held[again], data_slice, level=level, unit=unit)


@settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    first=st.lists(checkins, max_size=30),
    second=st.lists(checkins, max_size=30),
    data_slice=slices,
    bins=time_bins,
    level=st.sampled_from([0, 1, 6, 16, 31]),
    unit=st.sampled_from(UNITS),
    at_once=st.sampled_from([3, 25, 10**6]),
    packed=st.sampled_from([(0,), (1,), (0, 1)]),
)
def test_bins_of_time_share_each_persons_unit(
    versions, *, first, second, data_slice, bins, level, unit, at_once, packed
):
    """By SQL, from rows and from columns; a slot is read with the times that were packed."""
    if level == FINEST_LEVEL:
        bins = replace(bins, count=min(bins.count, 2))
    dataset, made = versions(first, second, None)
    expected = by_bin(first + second, data_slice, bins, level, unit)
    key = RowKey(level=level, rectangle=data_slice.rectangle, bins=bins)

    def read():
        whole = masses.read_by_bin(dataset, made[1], level=level, unit=unit, bins=bins, data_slice=data_slice)
        assert len(whole) == bins.count
        assert list(map(as_dict, whole)) == expected

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgresql, "ROWS_AT_ONCE", at_once)
        patch.setattr(sqlite, "CHUNK_ROWS", 11)
        read()
        in_database = sqlite.masses(dataset, made[1], data_slice, key, unit=unit)
        assert list(map(as_dict, in_database)) == expected
        if connection.vendor == "postgresql":
            for number in packed:
                pack_all_of(made[number])
            read()


def test_one_bin_of_check_ins_with_times_says_what_no_bins_say(versions):
    rows = [((number % 5, 0), number * 2**40 + number, number, number % 7 == 0) for number in range(90)]
    dataset, (_, version) = versions(rows[:40], rows[40:], None)
    question = {"level": 16, "unit": 2**24}
    [one] = masses.read_by_bin(dataset, version, bins=TimeBins(start=3, width=50, count=1), **question)
    without = masses.read(dataset, version, **question)
    assert one.cells.tobytes() == without.cells.tobytes()
    assert one.masses.tobytes() == without.masses.tobytes()


def by_bin(content, data_slice, bins, level, unit):
    """{cell: mass} of each bin: a person's check-ins with a time inside weigh 1 over all of them together."""
    records = defaultdict(Counter)
    for person, cell, time, outside in counted(content, data_slice):
        own = own_cell(cell, data_slice.rectangle, level)
        if not outside and own is not None and time != NONE:
            records[person][math.floor(Fraction(time - bins.start, bins.width)) % bins.count, own] += 1
    maps = [Counter() for _ in range(bins.count)]
    for record in records.values():
        shares = {key: math.floor(unit * Fraction(n, record.total())) for key, n in record.items()}
        assert sum(shares.values()) <= unit
        for (number, cell), mass in shares.items():
            maps[number][cell] += mass
    return [{cell: mass for cell, mass in of_bin.items() if mass} for of_bin in maps]


@pytest.mark.postgres
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_rows_that_are_not_packed_are_read_some_at_a_time(versions, monkeypatch):
    content = [((number * 2**40 + number, 0), number, NONE, False) for number in range(300)]
    dataset, (_, version) = versions([], content, None)
    read, sizes = postgresql._read, []
    monkeypatch.setattr(postgresql, "ROWS_AT_ONCE", 50)
    monkeypatch.setattr(
        postgresql, "_read", lambda some, columns: sizes.append(some.count()) or read(some, columns)
    )

    whole = masses.read(dataset, version, level=FINEST_LEVEL, unit=1)

    assert whole.cells.tolist() == list(range(300))
    assert sum(sizes) == 300
    assert max(sizes) <= 60


def pack_all_of(version):
    """Its own file, however small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_copies, "LEAST_CHECKINS", 0)
        column_copies.pack(Upload.objects.get(version=version).pk)
    assert PackedCheckIns.objects.filter(upload__version=version).count() == SLOTS


def check(dataset, version, content, data_slice, *, level, unit):
    whole = as_dict(masses.read(dataset, version, level=level, unit=unit, data_slice=data_slice))
    assert whole == by_definition(content, data_slice, level, unit)
    key = RowKey(level=level, rectangle=data_slice.rectangle)
    [in_database] = sqlite.masses(dataset, version, data_slice, key, unit=unit)
    assert as_dict(in_database) == whole
    # Of whole records: the part of the region does not count.
    period = DataSlice(since=data_slice.since, until=data_slice.until)
    mean = masses.read_means(dataset, version, enrolled=PERSONS, data_slice=period)
    in_database = aggregation.means_of(sqlite.means(dataset, version, period), enrolled=PERSONS)
    assert (mean.x, mean.y) == (in_database.x, in_database.y)
    records = records_by_definition(content, period, level)
    assert records_of(masses.read_items(dataset, version, level=level, data_slice=period)) == records
    assert sum(sqlite.items(dataset, version, period, records_of, level=level), Counter()) == records


def records_by_definition(content, data_slice, level):
    """How many persons have each record: cells with check-ins in them, in order."""
    records = defaultdict(Counter)
    for person, cell, *_ in counted(content, data_slice):
        records[person][own_cell(cell, None, level)] += 1
    return Counter(tuple(sorted(record.items())) for record in records.values())


def records_of(read):
    """The same, of what was read."""
    pairs = [*zip(read.cells.tolist(), read.counts.tolist(), strict=True)]
    ends = np.cumsum(read.rows)
    starts = ends - read.rows
    return Counter(tuple(pairs[start:end]) for start, end in zip(starts, ends, strict=True))
