"""Files that are no check-ins: each is refused in words, and nothing of it is stored."""

import gzip
import re
import zlib

import pytest

from heatmaps.ingest import uploads
from heatmaps.models import CheckIn, DataVersion, UploadState
from tests.ingest.conftest import csv_of, zipped

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


GOOD = [("anna", "", 41.5, 2.5)] * 3


def bomb(line, megabytes=100):
    """The line again and again in a file a thousand times smaller."""
    packer = zlib.compressobj(9, wbits=31)
    block = line * (2**20 // len(line))
    head = packer.compress(b"user,time,lat,lon\n")
    return b"".join([head, *(packer.compress(block) for _ in range(megabytes)), packer.flush()])


def after_many_good_rows(line):
    """Bad content when chunks have been stored already."""
    good = csv_of([(number, "", 41.5, 2.5) for number in range(60_000)])
    return good.encode() + line


BAD = {
    "empty": (b"", "empty"),
    "only a header": (b"user,time,lat,lon\n", "no check-ins"),
    "another header": (b"name,when,x,y\nanna,,41.5,2.5\n", "expected a first line"),
    "a column missing": (b"user,time,lat\nanna,,41.5\n", "lon"),
    "binary": (bytes(range(256)) * 100, "not text|header"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(1000), "not text|header"),
    "a spreadsheet": (b"PK\x03\x04" + bytes(100), "spreadsheet"),
    "UTF-16": ("﻿" + csv_of(GOOD)).encode("utf-16"),
    "half of a gzip file": (zipped([(n, "", 41.5, 2.5) for n in range(5000)])[:-2000], "too early"),
    "a damaged gzip file": (zipped(GOOD)[:10] + b"\xff" * 30, "damaged"),
    "a line of 10 MB": (b"user,time,lat,lon\n" + b"a" * 10**7 + b",,41.5,2.5\n", "line 2 is longer"),
    "a late line of 10 MB": (after_many_good_rows(b"a" * 10**7), "line 60002 is longer"),
    "a late zero byte": (after_many_good_rows(b"anna\0,,41.5,2.5\n"), "not text"),
    "a gzip bomb of rows": (bomb(b"anna,,41.5,2.5," + b"x" * 250 + b"\n"), "unpacks to far more"),
    "a gzip bomb of zeros": (bomb(b"0"), "line 2 is longer"),
    "a gzip bomb of two layers": (gzip.compress(gzip.compress(b"0" * 2**20)), "compressed twice"),
    "NaN": (csv_of([("anna", "", "NaN", 2.5)]), "1 of 1 rows"),
    "91 degrees": (csv_of([*GOOD, ("anna", "", 91, 2.5)]), "1 of 4 rows"),
    "181 degrees": (csv_of([*GOOD, ("anna", "", 41.5, -181)]), "1 of 4 rows"),
    "1e400": (csv_of([*GOOD, ("anna", "", "1e400", 2.5)]), "1 of 4 rows"),
    "infinity": (csv_of([*GOOD, ("anna", "", 41.5, "inf")]), "1 of 4 rows"),
    "nobody": (csv_of([*GOOD, ("", "", 41.5, 2.5)]), "1 of 4 rows"),
    "no time": (csv_of([*GOOD, ("anna", "yesterday", 41.5, 2.5)]), "1 of 4 rows"),
    "a short row": (csv_of(GOOD) + "anna,,41.5\n", "1 of 4 rows"),
}
BAD["UTF-16"] = (BAD["UTF-16"], "UTF-16")


@pytest.mark.parametrize("name", BAD)
def test_it_refuses_readably_and_stores_nothing(dataset, upload, state, name):
    content, reason = BAD[name]
    row = upload(dataset, content)
    assert row.state == UploadState.FAILED
    assert_readable(row.failure, reason)
    assert_nothing_is_stored(row, state)


def assert_readable(failure, reason):
    assert re.search(reason, failure), failure
    assert 10 < len(failure) < 300
    assert "Traceback" not in failure
    assert "anna" not in failure


def assert_nothing_is_stored(row, state):
    assert not CheckIn.objects.exists()
    assert not DataVersion.objects.exists()
    assert (row.rows_accepted, row.rows_outside, row.version, row.lease_until) == (0, 0, None, None)
    assert list((state / "uploads").iterdir()) == []


def test_it_fails_the_upload_on_an_error_of_the_program_and_shows_nothing_of_it(
    dataset, receive, state, monkeypatch, caplog
):
    row = receive(dataset, GOOD)

    def broken(*_args):
        raise ZeroDivisionError("secret data")

    monkeypatch.setattr("heatmaps.ingest.row_copy.insert", broken)
    uploads.run(row.pk)
    row.refresh_from_db()
    assert row.state == UploadState.FAILED
    assert "error of the program" in row.failure
    assert "ZeroDivisionError at " in caplog.text
    assert "secret" not in row.failure + caplog.text
    assert_nothing_is_stored(row, state)


def test_it_fails_the_upload_when_the_operator_stops_it(dataset, receive, state):
    row = receive(dataset, GOOD)

    def stop(*_args):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        uploads.run(row.pk, progress=stop)
    row.refresh_from_db()
    assert "stopped by the operator" in row.failure
    assert_nothing_is_stored(row, state)
