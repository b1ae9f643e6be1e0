"""Where the check-ins of an upload are: one range of keys, or several where others were written between."""

import numpy as np
import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import F

from heatmaps import masses
from heatmaps.ingest import row_copy, undoing, uploads
from heatmaps.ingest.formats.reader import NO_TIME
from heatmaps.ingest.row_copy import Block
from heatmaps.models import CheckIn, Extent, UploadState, check_in
from heatmaps.models.check_in import MOST_SPANS, _spans, of_uploads
from heatmaps.pseudonyms.person_hashes import persons_of
from tests.ingest.conftest import SQLITE
from tests.triggers import disabled

BLOCKS = 3


def block(person, size=4):
    numbers = np.arange(size, dtype=np.int64)
    return Block(
        persons=persons_of(numbers + person, numbers),
        cells=numbers << 50,
        times=np.where(numbers == 1, NO_TIME, numbers),
        outside=numbers == 2,
    )


@pytest.fixture
def interleaved(make_dataset, receive):
    """Two staged uploads of different datasets, written block by block in turn."""
    rows = [receive(make_dataset(name), [(name, "", 41.5, 2.5)]) for name in ("first", "other")]
    for turn in range(BLOCKS):
        for number, row in enumerate(rows):
            with transaction.atomic():
                row_copy.insert(row.pk, block(100 * number + 10 * turn))
    return rows


def persons(upload):
    return sorted(CheckIn.objects.filter(of_uploads([upload])).values_list("person", flat=True))


def test_blocks_that_follow_each_other_are_one_extent(dataset, receive):
    row = receive(dataset, [("anna", "", 41.5, 2.5)])
    for person in (0, 10):
        row_copy.insert(row.pk, block(person))
    row_copy.insert(row.pk, block(0, size=0))
    [extent] = row.extents.all()
    assert CheckIn.objects.filter(extent=extent, pk__range=(extent.first, extent.last)).count() == 8


def test_interleaved_uploads_are_told_apart(interleaved):
    for number, row in enumerate(interleaved):
        assert row.extents.count() == BLOCKS
        assert persons(row) == [100 * number + 10 * turn + at for turn in range(BLOCKS) for at in range(4)]
    assert row_copy.without_upload() == 0


def test_rows_of_others_between_two_keys_are_not_read(interleaved):
    """As where workers of PostgreSQL write at the same moment."""
    row, other = interleaved
    first = row.extents.earliest("first")
    Extent.objects.filter(pk=first.pk).update(last=CheckIn.objects.latest("pk").pk)
    assert len(persons(row)) == len(persons(other)) == 4 * BLOCKS


@pytest.mark.parametrize("most", [BLOCKS, BLOCKS - 1])
def test_many_extents_are_looked_up_by_the_statement_itself(interleaved, monkeypatch, most):
    """PostgreSQL refuses statements of 65,536 values."""
    monkeypatch.setattr(check_in, "MOST_NUMBERS", most)
    row, _ = interleaved
    assert persons(row) == [10 * turn + at for turn in range(BLOCKS) for at in range(4)]
    _, values = CheckIn.objects.filter(of_uploads([row])).query.sql_with_params()
    numbers = {*row.extents.values_list("pk", flat=True)}
    assert numbers.issubset(values) == (most == BLOCKS)


def test_an_upload_goes_with_its_extents_and_no_others(interleaved, monkeypatch):
    row, other = interleaved
    monkeypatch.setattr(row_copy, "DELETE_ROWS", 5)
    assert row_copy.delete_some(row.pk) == 5
    assert row.extents.count() == BLOCKS
    with disabled():
        type(row).objects.filter(pk=row.pk).update(state=UploadState.UNDONE)
    assert undoing.unfinished() == [row.pk]
    assert undoing.delete_rows(row.pk)
    assert undoing.unfinished() == []
    assert not persons(row)
    assert not row.extents.exists()
    assert len(persons(other)) == CheckIn.objects.count() == 4 * BLOCKS


@pytest.mark.parametrize("change", [{"id": 99}, {"upload": "other"}, {"first": 2}, {"last": 2}])
def test_the_database_refuses_to_give_check_ins_to_somebody_else(interleaved, change):
    row, other = interleaved
    extents = Extent.objects.filter(pk=row.extents.earliest("first").pk)
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        extents.update(**(change | ({"upload": other} if "upload" in change else {})))
    assert extents.update(last=F("last") + 1) == 1


def test_a_block_that_is_rolled_back_leaves_no_extent(dataset, receive):
    row = receive(dataset, [("anna", "", 41.5, 2.5)])
    with transaction.atomic():
        row_copy.insert(row.pk, block(0))
        transaction.set_rollback(True)
    assert not Extent.objects.exists()
    assert not CheckIn.objects.exists()


def test_an_upload_after_one_that_is_gone_takes_none_of_its_rows(dataset, upload, steward):
    """SQLite gives keys of deleted rows again, and numbers of extents never."""
    gone = upload(dataset, [("anna", "", 41.5, 2.5)], advance=False)
    number = gone.extents.get().pk
    uploads.undo(steward, gone)
    undoing.delete_rows(gone.pk)
    row = upload(dataset, [("bert", "", 41.5, 2.5)])
    assert row.extents.get().pk > number
    assert masses.read(dataset, row.version, level=2, unit=1).masses.tolist() == [1]


@SQLITE
def test_the_key_is_the_only_index(dataset):
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = %s", [TABLE])
        assert cursor.fetchone() == (0,)


@SQLITE
def test_check_ins_are_found_by_their_keys(interleaved):
    """Not by a look at every row of the table."""
    plan = CheckIn.objects.filter(of_uploads(interleaved[:1])).explain()
    assert "USING INTEGER PRIMARY KEY" in plan
    assert "SCAN" not in plan


TABLE = CheckIn._meta.db_table


@pytest.mark.parametrize("count", [1, 2, MOST_SPANS, MOST_SPANS + 1, 3 * MOST_SPANS])
def test_spans_hold_all_keys_and_leave_the_widest_gaps_out(count):
    ranges = [(10**6 * at**2, 10**6 * at**2 + 10) for at in range(count)]
    spans = _spans(ranges[::-1])
    assert len(spans) == min(count, MOST_SPANS)
    assert all(any(low <= first and last <= high for low, high in spans) for first, last in ranges)
    widest = spans[-1]
    assert widest == ranges[-1]


def test_spans_join_what_lies_close():
    assert _spans([(5, 9), (1, 3), (2, 4), (10**9, 10**9 + 1)]) == [(1, 9), (10**9, 10**9 + 1)]
