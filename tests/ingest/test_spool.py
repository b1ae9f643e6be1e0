"""Web and workers hand each other files in folders that only one of them writes."""

import os
from uuid import uuid4

import pytest

from heatmaps import spool
from heatmaps.config import environment
from heatmaps.ingest import rejected, upload_files
from heatmaps.management import spooled_files
from heatmaps.models import Upload, UploadState
from heatmaps.record import hold


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(b"a key")
    return path


@pytest.mark.parametrize("place", ["link", "pipe", "folder"])
def test_whoever_reads_follows_nothing_that_the_other_planted(tmp_path, secret, place):
    path = tmp_path / "planted"
    {"link": lambda: path.symlink_to(secret), "pipe": lambda: os.mkfifo(path), "folder": path.mkdir}[place]()
    with pytest.raises(OSError, match=r".+"):
        spool.opened(path)


def test_names_that_are_no_ids_are_somebody_elses(tmp_path):
    own = uuid4()
    for name in (f"round-{own}.key", "round-x.key", "round-.key", "city.key"):
        (tmp_path / name).touch()
    assert list(spool.ids(tmp_path, prefix="round-", suffix=".key")) == [own]


def test_a_link_in_place_of_a_list_or_an_upload_is_not_read(dataset, upload, secret):
    row = upload(dataset, b"user,lat,lon\np1,0.1,0.1\np2,no,0.1\n" + b"p3,0.1,0.2\n" * 300)
    (listed := rejected.path_of(row.pk)).unlink()
    listed.symlink_to(secret)
    assert rejected.opened(row.pk) is None
    upload_files.path_of(row.pk).symlink_to(secret)
    with pytest.raises(OSError, match=r".+"):
        upload_files.opened(row.pk)


def test_the_web_server_deletes_what_workers_may_only_read(dataset, upload, state, monkeypatch):
    row = upload(dataset, b"user,lat,lon\np1,0.1,0.1\n")
    waiting = Upload.objects.create(
        id=uuid4(), dataset=dataset, uploaded_by=row.uploaded_by, content_digest="0" * 64, size_bytes=1
    )
    ended, needed = (upload_files.path_of(one.pk) for one in (row, waiting))
    for path in (ended, needed):
        path.write_bytes(b"raw")
    assert (row.state, waiting.state) == (UploadState.READY, UploadState.RECEIVED)
    with monkeypatch.context() as patched:
        patched.setattr(hold, "cause", lambda: "restored")
        spooled_files.sweep()
        assert ended.exists()
    spooled_files.sweep()
    assert (ended.exists(), needed.exists()) == (False, True)


def test_a_folder_that_somebody_else_writes_is_taken_as_it_is(tmp_path, monkeypatch):
    (given := tmp_path / "given").mkdir()
    given.chmod(0o555)
    monkeypatch.setenv("HAZEMAP_UPLOAD_DIR", str(given))
    monkeypatch.setattr(os, "access", lambda path, how: False)  # root may write everywhere
    assert environment.shared_dir("HAZEMAP_UPLOAD_DIR", tmp_path / "usual") == given
    assert given.stat().st_mode & 0o777 == 0o555
    monkeypatch.delenv("HAZEMAP_UPLOAD_DIR")
    monkeypatch.undo()
    assert environment.shared_dir("HAZEMAP_UPLOAD_DIR", tmp_path / "usual") == tmp_path / "usual"


def test_what_was_in_flight_before_an_upgrade_goes_where_workers_look(state, settings, tmp_path, secret):
    for name in ("uploads/rounds", "rejected"):
        (state / name).mkdir(parents=True, exist_ok=True)
    for name in ("uploads/a.raw", "uploads/rounds/b.batch", "rejected/c.csv"):
        (state / name).write_bytes(b"raw")
    (state / "uploads" / "link.raw").symlink_to(secret)
    spooled_files.move_old()
    assert (state / "uploads" / "a.raw").exists()  # one folder, as without containers

    settings.UPLOAD_DIR, settings.REJECTED_DIR = tmp_path / "web", tmp_path / "lists"
    settings.UPLOAD_DIR.mkdir()
    spooled_files.move_old()
    moved = {str(path.relative_to(settings.UPLOAD_DIR)) for path in settings.UPLOAD_DIR.rglob("*")}
    assert moved == {"a.raw", "rounds", "rounds/b.batch"}
    assert not (state / "uploads").exists()
    assert not (state / "rejected").exists()
    assert secret.read_bytes() == b"a key"
