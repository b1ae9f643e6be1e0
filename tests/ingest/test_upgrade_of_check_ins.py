"""What an upgrade makes of check-ins that name their upload, also where somebody kills it."""

import importlib
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from heatmaps import masses
from heatmaps.ingest import opt_outs, row_copy
from heatmaps.ingest.versions.advance import next_version
from heatmaps.migrations.tables_of_2026 import moved_check_ins
from heatmaps.models import CheckIn, Upload, UploadState

SWAP = importlib.import_module("heatmaps.migrations.0035_check_ins_of_extents")
BEFORE = "0032"
UNIT = 2**20
NAMES = [f"user-{number}" for number in range(30)]


@pytest.fixture
def dataset(make_dataset, upload, steward):
    """Two uploads in versions, one undone by half, somebody who opted out, somebody outside."""
    dataset = make_dataset(relation="replace")
    upload(dataset, [(name, "2020-01-01", 41.1 + at / 50, 2.2) for at, name in enumerate(NAMES)])
    opt_outs.opt_out(steward, dataset, NAMES[:3])
    upload(dataset, [(name, "", 41.1 + at / 50, 2.8 + at / 50) for at, name in enumerate(NAMES)])
    return dataset


def read(dataset):
    maps = [masses.read(dataset, version, level=5, unit=UNIT) for version in dataset.versions.order_by("pk")]
    return [(mass_map.cells.tolist(), mass_map.masses.tolist()) for mass_map in maps]


def rows():
    columns = ("pk", "person", "person_rest", "cell", "time", "outside", "extent__upload")
    return list(CheckIn.objects.order_by("pk").values_list(*columns))


def run(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


@pytest.fixture
def before(dataset, monkeypatch):
    """The version before, with blocks of few rows; what the product reads and has."""
    monkeypatch.setattr(moved_check_ins, "BLOCK", 7)
    expected = read(dataset), rows()
    call_command("migrate", "heatmaps", BEFORE, verbosity=0)
    return expected


class Killed(BaseException):
    pass


def killed_after(blocks, monkeypatch):
    """Migrates until somebody kills the process in the block after so many, which is rolled back."""
    execute, made = moved_check_ins._execute, []

    def dying(schema_editor, statement, *values):
        execute(schema_editor, statement, *values)
        made.append(values)
        if len(made) > blocks:
            raise Killed

    with monkeypatch.context() as deadly:
        deadly.setattr(moved_check_ins, "_execute", dying)
        with pytest.raises(Killed):
            call_command("migrate", verbosity=0)


def test_it_reads_the_same_after_two_kills(dataset, before, monkeypatch):
    killed_after(2, monkeypatch)
    killed_after(3, monkeypatch)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {moved_check_ins.NUMBERED}")
        assert cursor.fetchone() == (5 * 7,)

    call_command("migrate", verbosity=0)

    assert (read(dataset), rows()) == before
    assert [upload.extents.count() for upload in Upload.objects.all()] == [1, 1]
    assert row_copy.without_upload() == 0


@pytest.mark.long
def test_it_takes_up_what_changed_meanwhile(dataset, before):
    """A worker that nobody stopped deletes rows that have moved, and writes others."""
    call_command("migrate", "heatmaps", "0034", verbosity=0)
    run("DELETE FROM heatmaps_checkin WHERE id = (SELECT min(id) FROM heatmaps_checkin)")
    run(
        "INSERT INTO heatmaps_checkin (person, person_rest, cell, outside, upload_id) "
        "SELECT 1, 2, 3, outside, upload_id FROM heatmaps_checkin WHERE id = "
        "(SELECT max(id) FROM heatmaps_checkin)"
    )

    call_command("migrate", verbosity=0)

    _, earlier = before
    [*kept, new] = rows()
    assert kept == earlier[1:]
    assert new[1:4] == (1, 2, 3)
    assert row_copy.without_upload() == 0


@pytest.mark.long
def test_it_takes_up_a_late_row_for_one_that_went(dataset, before):
    """A worker commits a key that was passed by, another deletes one that has moved: as many as before."""
    first, gone = (row[0] for row in before[1][:2])
    run(f"CREATE TEMPORARY TABLE late AS SELECT * FROM heatmaps_checkin WHERE id = {first}")
    run("DELETE FROM heatmaps_checkin WHERE id = %s", first)
    call_command("migrate", "heatmaps", "0034", verbosity=0)
    run("INSERT INTO heatmaps_checkin SELECT * FROM late")
    run("DELETE FROM heatmaps_checkin WHERE id = %s", gone)
    run("DROP TABLE late")

    call_command("migrate", verbosity=0)

    assert rows() == [row for row in before[1] if row[0] != gone]
    assert row_copy.without_upload() == 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["0034", "0033"])
def test_a_way_back_that_ends_between_loses_nothing(dataset, name):
    expected = read(dataset), rows()
    call_command("migrate", "heatmaps", name, verbosity=0)

    call_command("migrate", verbosity=0)

    assert (read(dataset), rows()) == expected
    assert row_copy.without_upload() == 0


@pytest.mark.long
def test_rows_that_are_interleaved_or_of_nobody(dataset, before):
    """Keys of one upload between those of the other; a row without any is left behind."""
    _, other = Upload.objects.order_by("created_at").values_list("pk", flat=True)
    as_stored = Upload._meta.pk.get_db_prep_value
    with transaction.atomic():
        for statement in SWAP.CHECK_INS.dropping(connection.vendor):
            run(statement)
        run("UPDATE heatmaps_checkin SET upload_id = %s WHERE id %% 2 = 0", as_stored(other, connection))
        run(
            "UPDATE heatmaps_checkin SET upload_id = %s WHERE id = (SELECT min(id) FROM heatmaps_checkin)",
            as_stored(uuid4(), connection),
        )
        for statement in SWAP.CHECK_INS.creating(connection.vendor):
            run(statement)

    call_command("migrate", verbosity=0)

    _, earlier = before
    expected = [(*row[:-1], other if row[0] % 2 == 0 else row[-1]) for row in earlier[1:]]
    assert rows() == expected
    assert row_copy.without_upload() == 0


@pytest.mark.long
def test_new_uploads_follow_the_ones_of_before(dataset, before, upload):
    call_command("migrate", verbosity=0)

    row = upload(dataset, [("somebody", "2020-01-01", 41.5, 2.5)])

    assert row.state == UploadState.READY
    assert rows()[:-1] == before[1]
    assert rows()[-1][0] > before[1][-1][0]
    assert next_version(dataset, actor=dataset.created_by).number == 4
