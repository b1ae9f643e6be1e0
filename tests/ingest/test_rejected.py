"""Rejected rows: few are left out and listed by row and reason, many refuse the file."""

import os
import stat
import time
from fractions import Fraction

import pytest

from heatmaps.ingest import rejected, uploads
from heatmaps.ingest.formats.reader import Rejection
from heatmaps.models import CheckIn, UploadState

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


BAD = ("anna", "", 91, 2.5)


def rows(count, *bad):
    """`count` good rows, with bad ones in the given places (from 0)."""
    return [BAD if place in bad else ("anna", "", 41.5, 2.5) for place in range(count)]


def test_it_leaves_out_a_few_rows_and_lists_them_by_line(dataset, upload):
    row = upload(dataset, rows(300, 0, 150, 299))
    assert (row.state, row.rows_accepted, row.rows_rejected) == (UploadState.READY, 297, 3)
    path = uploads.rejected_rows_path(row)
    header, *lines = path.read_text().splitlines()
    assert header == "row,reason"
    assert [line.split(",")[0] for line in lines] == ["2", "152", "301"]
    assert all("lat" in line for line in lines)
    assert not any("anna" in line or "91" in line for line in lines)


def test_it_keeps_the_list_private(dataset, upload, state):
    path = uploads.rejected_rows_path(upload(dataset, rows(300, 0)))
    assert path.parent == state / "rejected"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_it_has_no_list_without_rejected_rows(dataset, upload):
    assert uploads.rejected_rows_path(upload(dataset, rows(3))) is None


@pytest.mark.parametrize(("bad", "state"), [(1, UploadState.READY), (2, UploadState.FAILED)])
def test_it_takes_one_bad_row_in_a_hundred_and_no_more(dataset, upload, bad, state):
    row = upload(dataset, rows(100, *range(bad)))
    assert row.state == state
    assert CheckIn.objects.count() == (99 if bad == 1 else 0)


def test_it_lists_the_rows_of_a_refused_file_too(dataset, upload):
    row = upload(dataset, rows(10, 4))
    assert "1 of 10 rows cannot be used, more than the 1 %" in row.failure
    assert row.rows_rejected == 1
    assert uploads.rejected_rows_path(row).read_text().splitlines()[1].startswith("6,")


def test_it_takes_the_share_from_the_settings(dataset, upload, settings):
    settings.MAX_REJECTED_SHARE = Fraction(1, 2)
    assert upload(dataset, rows(10, *range(5))).state == UploadState.READY


def test_it_counts_rows_outside_as_usable(dataset, upload):
    outside = [("anna", "", 50, 2.5)] * 99
    assert upload(dataset, [*outside, BAD]).state == UploadState.READY


def test_it_begins_a_new_list_when_a_file_is_read_again(dataset, receive):
    row = receive(dataset, rows(300, 7))
    rejected.append(row.pk, [Rejection(row=2, reason="of a worker that died")], listed=0)
    uploads.run(row.pk)
    assert len(uploads.rejected_rows_path(row).read_text().splitlines()) == 2


def test_it_lists_over_many_chunks_under_one_header(dataset, upload):
    row = upload(dataset, rows(120_000, 1, 60_000, 119_999))
    lines = uploads.rejected_rows_path(row).read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["row", "3", "60002", "120001"]


def test_it_stops_listing_before_the_disk_is_full(database, state, monkeypatch):
    monkeypatch.setattr(rejected, "MAX_LISTED", 3)
    for number in range(4):
        two = [Rejection(row=2 * number + place, reason="bad") for place in (0, 1)]
        rejected.append("upload", two, listed=2 * number)
    lines = rejected.path_of("upload").read_text().splitlines()
    assert lines == ["row,reason", "0,bad", "1,bad", "2,bad"]


@pytest.mark.parametrize(("days", "kept"), [(6.9, True), (7.1, False)])
def test_it_deletes_a_list_after_seven_days(dataset, upload, days, kept):
    row = upload(dataset, rows(300, 0))
    path = uploads.rejected_rows_path(row)
    then = time.time() - days * 24 * 3600
    os.utime(path, (then, then))
    uploads.sweep()
    assert (uploads.rejected_rows_path(row) is not None) == kept
