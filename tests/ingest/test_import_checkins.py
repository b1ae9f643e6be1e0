"""`import-checkins`: several files become available together."""

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from heatmaps.ingest.versions import scheduled
from heatmaps.ingest.versions.schedule import Schedule
from heatmaps.models import CheckIn, Dataset, Membership, Role, Upload, UploadState
from tests.ingest.conftest import csv_of
from tests.ingest.formats.written import FORMATS

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

MARCH, APRIL = (csv_of([("anna", "", lat, 2.5), ("bob", "", lat, 2.6)]) for lat in (41.5, 41.6))


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "march.csv", tmp_path / "april.csv", tmp_path / "bad.csv"]
    for path, content in zip(paths, (MARCH, APRIL, "nothing"), strict=True):
        path.write_text(content)
    return [str(path) for path in paths]


def test_it_imports_all_files_into_one_version(dataset, files, sent, capsys):
    call_command("import-checkins", "harbour", *files[:2])
    assert CheckIn.objects.count() == 4
    assert {upload.version.number for upload in Upload.objects.all()} == {1}
    assert dataset.versions.count() == 1
    assert sent == []  # read here, not by a worker
    errors = capsys.readouterr().err
    assert "march.csv: 2 check-ins inside the region, 0 outside, 0 rejected" in errors
    assert "100 %" in errors
    assert "data version 1" in errors


def test_it_can_keep_the_rows_back(dataset, files):
    call_command("import-checkins", "harbour", files[0], "--no-advance")
    assert Upload.objects.get().state == UploadState.READY
    assert not dataset.versions.exists()


def test_it_stops_at_a_bad_file_and_makes_no_version(dataset, files):
    with pytest.raises(CommandError, match=r"bad\.csv: expected a first line"):
        call_command("import-checkins", "harbour", files[0], files[2])
    assert not dataset.versions.exists()


def test_it_goes_on_where_it_was_stopped(dataset, files, capsys):
    with pytest.raises(CommandError):
        call_command("import-checkins", "harbour", files[0], files[2])
    call_command("import-checkins", "harbour", *files[:2])
    assert "march.csv: skipped" in capsys.readouterr().err
    assert dataset.versions.get().uploads.count() == 2


def test_it_refuses_to_import_nothing_new(dataset, files):
    call_command("import-checkins", "harbour", files[0])
    with pytest.raises(CommandError, match="nothing new"):
        call_command("import-checkins", "harbour", files[0])
    assert dataset.versions.count() == 1


def test_it_names_what_is_not_there(dataset, files):
    with pytest.raises(CommandError, match="no dataset is named 'harbor'"):
        call_command("import-checkins", "harbor", files[0])
    with pytest.raises(CommandError, match=r"may\.csv"):
        call_command("import-checkins", "harbour", "may.csv")


def test_it_acts_in_the_name_of_a_steward(dataset, files):
    other = User.objects.create_user("other")
    with pytest.raises(CommandError, match="no active steward"):
        call_command("import-checkins", "harbour", files[0], "--user", "other")
    Membership.objects.create(dataset=dataset, user=other, role=Role.STEWARD)
    call_command("import-checkins", "harbour", files[0], "--user", "other")
    assert Upload.objects.get().uploaded_by == other


def test_it_asks_for_a_steward_when_the_creator_is_none_any_more(dataset, files):
    Membership.objects.update(role=Role.ANALYST)
    with pytest.raises(CommandError, match="name one with --user"):
        call_command("import-checkins", "harbour", files[0])


def test_it_reads_files_as_it_is_told(dataset, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("uid,when,lat,lon\n" + "anna,2024-07-01T12:00,41.5,2.5\n" * 9 + "anna,,91,2.5\n")
    said = ["--columns", "user=uid,time=when", "--time-zone", "Europe/Madrid", "--max-rejected", "10"]
    call_command("import-checkins", "harbour", str(path), *said)
    assert {row.time for row in CheckIn.objects.all()} == {1719828000}  # 10:00 UTC
    assert CheckIn.objects.count() == 9


@pytest.mark.parametrize("said", [["--columns", "uid"], ["--time-zone", "Mars"], ["--max-rejected", "200"]])
def test_it_refuses_to_be_told_nonsense(dataset, files, said):
    with pytest.raises(CommandError, match=said[0].strip("-").replace("-", "_")):
        call_command("import-checkins", "harbour", files[0], *said)
    assert not Upload.objects.exists()


def test_it_imports_every_format(dataset, tmp_path):
    rows = [("anna", "", "41.5", "2.5"), ("bob", "", "41.6", "2.6")]
    paths = [tmp_path / f"checkins-{name}" for name in FORMATS]
    for path, write in zip(paths, FORMATS.values(), strict=True):
        path.write_bytes(write(rows))
    call_command("import-checkins", "harbour", *map(str, paths))
    assert CheckIn.objects.count() == 2 * len(FORMATS)
    assert CheckIn.objects.values("person", "cell").distinct().count() == 2


def test_under_a_schedule_the_next_version_includes_them(make_dataset, files, capsys):
    dataset = make_dataset(schedule=Schedule(every="daily", hour=3))
    call_command("import-checkins", "harbour", *files[:2])
    assert not dataset.versions.exists()
    assert "stored; in the data version that is due at" in capsys.readouterr().err
    scheduled.advance_due(dataset.pk, Dataset.objects.get().next_version_at)
    assert {upload.version.number for upload in Upload.objects.all()} == {1}
    assert CheckIn.objects.values("person").distinct().count() == 2  # the same two in both files
