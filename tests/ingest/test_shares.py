"""Masses in shares of the persons: whatever the rows, the shares and the files that are packed, they sum to
the definition, exactly."""

import math
from collections import Counter, defaultdict
from fractions import Fraction
from uuid import uuid4

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import connection
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from heatmaps import masses
from heatmaps.ingest import rows
from heatmaps.ingest.versions import next_version
from heatmaps.masses import Share, embedded, packing
from heatmaps.models import Dataset, DataVersion, PackedCheckIns, Suppression, Upload, UploadState
from heatmaps.models.packed import SLOTS
from heatmaps.slices import Slice
from mechanisms.grid import FINEST_LEVEL, morton_decode
from mechanisms.guarantee import Relation
from mechanisms.part import LINES, Part
from tests.services import seed

UNITS = (1, 2**10, 2**24, 2**50)
PERSONS = 50
NONE = rows.NO_TIME

checkins = st.tuples(
    st.one_of(st.integers(0, 5), st.sampled_from([2**63 - 1, 2**62, 2**62 + 1, 2**40])),  # person
    st.one_of(st.integers(0, 4**FINEST_LEVEL - 1), st.sampled_from([0, 1, 2, 3, 4**FINEST_LEVEL - 1])),
    st.sampled_from([NONE, 0, 10, 20]),  # time
    st.booleans(),  # outside
)
lines = st.sampled_from([0, 1, LINES // 3, LINES // 2, LINES - 1, LINES])
parts = st.tuples(lines, lines, lines, lines).filter(lambda at: at[0] < at[2] and at[1] < at[3])
slices = st.builds(
    lambda period, part: Slice(since=period[0], until=period[1], part=part and Part(*part)),
    st.sampled_from([(None, None), (5, None), (None, 20), (5, 20)]),
    st.one_of(st.none(), parts),
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
                Suppression.objects.create(dataset=dataset, person=opted_out, created_by=steward)
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
    )
    if content:
        person, cell, time, outside = map(np.array, zip(*content, strict=True))
        rows.insert(upload.pk, rows.Block(persons=person, cells=cell, times=time, outside=outside))


def counted(content, asked):
    """The rows of a period."""
    since, until = asked.since, asked.until
    return [
        row
        for row in content
        if not asked.has_period
        or (row[2] != NONE and (since is None or row[2] >= since) and (until is None or row[2] < until))
    ]


def by_definition(content, asked, level, unit):
    """{cell: mass}, with fractions: floor(unit · share) by person and cell."""
    records = defaultdict(Counter)
    for person, cell, _, outside in counted(content, asked):
        own = own_cell(cell, asked.part, level)
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
    asked=slices,
    level=st.sampled_from([0, 1, 6, 16, 31]),
    unit=st.sampled_from(UNITS),
    of=st.sampled_from([1, 2, 3, 4, 5, 2 * SLOTS]),
    packed=st.sampled_from([(0,), (1,), (0, 1)]),  # of the two files
    again=st.integers(0, 1),  # the version that is read again then
)
def test_shares_sum_to_the_definition(versions, *, first, second, asked, level, unit, of, packed, again):
    opted_out = first[0][0] if first else None
    dataset, made = versions(first, second, opted_out)
    held = [first, [row for row in first + second if row[0] != opted_out]]
    for version, content in zip(made, held, strict=True):
        check_masses(dataset, version, content, asked, level=level, unit=unit, of=of)
    if connection.vendor == "postgresql":
        for number in packed:
            pack_all_of(made[number])
        check_masses(dataset, made[again], held[again], asked, level=level, unit=unit, of=of)


def pack_all_of(version):
    """Its own file, however small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "LEAST_CHECKINS", 0)
        packing.pack(Upload.objects.get(version=version).pk)
    assert PackedCheckIns.objects.filter(upload__version=version).count() == SLOTS


def check_masses(dataset, version, content, asked, *, level, unit, of):
    shares = [Share(number, of) for number in range(of) if of <= SLOTS or number in in_use(content, of)]
    read = [
        masses.read_part(dataset, version, level=level, unit=unit, asked=asked, share=share)
        for share in shares or [Share(0, of)]
    ]
    whole = as_dict(masses.read(dataset, version, level=level, unit=unit, asked=asked))
    embedded_too = embedded.masses(dataset, version, asked, masses.EVERYBODY, level=level, unit=unit)
    assert whole == by_definition(content, asked, level, unit)
    written = [[*part] for part in read[1:]]  # what the worker that draws has read is not
    assert as_dict(masses.joined([*read[:1], *written], level=level, unit=unit)) == whole
    assert as_dict(embedded_too) == whole
    check_means(dataset, version, asked, shares or [Share(0, of)])


def in_use(content, of):
    """Shares of somebody, and their neighbours: all of many would take long."""
    return {(row[0] + step) % of for row in content[:4] for step in (0, 1)} | {row[0] % of for row in content}


def check_means(dataset: Dataset, version: DataVersion, asked: Slice, shares: list[Share]) -> None:
    """Of whole records: the part of the region does not count."""
    period = Slice(since=asked.since, until=asked.until)
    read = [masses.read_part_of_means(dataset, version, asked=period, share=share) for share in shares]
    whole = masses.read_means(dataset, version, enrolled=PERSONS, asked=period)
    joined = masses.joined_means(read, enrolled=PERSONS)
    assert (joined.x, joined.y) == (whole.x, whole.y)
    in_database = embedded.means(dataset, version, period, masses.EVERYBODY)
    assert masses.means_of([in_database], enrolled=PERSONS).x == whole.x
    assert masses.means_of([in_database], enrolled=PERSONS).y == whole.y
