"""Files in flight: what is swept, and what is left alone."""

import os
import time
import uuid

import pytest

from heatmaps.ingest import upload_files

HOUR = 3600


def old(path, seconds):
    then = time.time() - seconds
    path.write_text("x")
    os.utime(path, (then, then))
    return path


@pytest.mark.parametrize(
    ("seconds", "in_use", "kept"), [(300, False, True), (2 * HOUR, False, False), (100 * HOUR, True, True)]
)
def test_it_deletes_files_of_uploads_that_ended(state, seconds, in_use, kept):
    upload_id = uuid.uuid4()
    path = old(upload_files.path_of(upload_id), seconds)
    upload_files.sweep({upload_id} if in_use else set())
    assert path.exists() == kept


def test_a_folder_of_others_stays_and_does_not_end_the_sweep(state, settings):
    folder, path = settings.UPLOAD_DIR / "rounds", old(settings.UPLOAD_DIR / "tmp124.upload.csv", 25 * HOUR)
    folder.mkdir(exist_ok=True)
    os.utime(folder, (0, 0))
    upload_files.sweep(set())
    assert folder.is_dir()
    assert not path.exists()


@pytest.mark.parametrize(("seconds", "kept"), [(2 * HOUR, True), (25 * HOUR, False)])
def test_it_leaves_files_that_a_browser_is_still_sending(state, settings, seconds, kept):
    path = old(settings.UPLOAD_DIR / "tmp123.upload.csv", seconds)
    upload_files.sweep(set())
    assert path.exists() == kept


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("march.csv", "march.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\march.csv", "march.csv"),
        ("a\nb\x1b[31m.csv", "ab[31m.csv"),
        ("\u202egnp.csv", "gnp.csv"),
        ("", "unnamed"),
        ("x" * 300, "x" * 200),
    ],
)
def test_it_shows_names_of_files_without_tricks(name, shown):
    assert upload_files.shown_name(name) == shown
