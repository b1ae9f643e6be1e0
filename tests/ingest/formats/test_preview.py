"""A look at a file before anything of it is stored."""

import gzip
import io

import pytest

from heatmaps.ingest.formats.preview import preview
from heatmaps.ingest.formats.preview_facts import FIRST_ROWS
from heatmaps.ingest.formats.reader import ReaderError, read_checkins
from heatmaps.ingest.options import Options
from tests.ingest.formats.written import FORMATS, parquet

ROWS = [(f"user-{number}", "2012-04-07T17:42:00Z", 41.5, 2.5) for number in range(20_000)]


def look(content, **options):
    return preview(io.BytesIO(content if isinstance(content, bytes) else content.encode()), **options)


@pytest.mark.parametrize("name", FORMATS)
def test_it_shows_columns_and_first_rows_of_every_format(name):
    found = look(FORMATS[name](ROWS[:30]))
    assert found.columns[:4] == ["user", "time", "lat", "lon"]
    assert found.guess == {field: field for field in ("user", "time", "lat", "lon")}
    assert len(found.rows) == FIRST_ROWS
    assert [row[0] for row in found.rows[:2]] == ["user-0", "user-1"]
    assert all(float(row[2]) == 41.5 for row in found.rows)


@pytest.mark.parametrize("name", ["csv", "csv.gz", "ndjson", "ndjson.gz", "snap", "snap.gz"])
def test_it_needs_only_the_beginning(name):
    content = FORMATS[name](ROWS)
    found = look(content[: len(content) // 3 + 1])
    assert len(found.rows) == FIRST_ROWS
    assert found.guess["lat"] == "lat"


def test_it_needs_only_the_end_of_a_parquet_file():
    content = parquet(ROWS, row_group_size=1000)
    found = look(b"PAR1" + content[-20_000:], whole=False)
    assert (found.columns, found.rows) == (["user", "time", "lat", "lon"], [])


@pytest.mark.parametrize(
    ("header", "guess"),
    [
        ("UID,Timestamp,Latitude,Longitude", ("UID", "Timestamp", "Latitude", "Longitude")),
        ("x,y,user_id", ("user_id", "", "y", "x")),
        ("lat,latitude,lng,user", ("user", "", "lat", "lng")),
        ("lat,lat,lon,name", ("", "", "", "lon")),
    ],
)
def test_it_guesses_what_other_programs_call_them(header, guess):
    found = look(header + "\n1,2,3,4\n")
    assert found.guess == dict(zip(("user", "time", "lat", "lon"), guess, strict=True))


def test_its_guess_can_be_read_as_options():
    content = 'uid,"Lat, deg",latitude,lng\na,0,41.5,2.5\n'
    found = look(content)
    chosen = {field: column for field, column in found.guess.items() if column}
    [batch] = read_checkins(io.BytesIO(content.encode()), options=Options(columns=chosen))
    assert batch.lat.tolist() == [41.5]


def test_it_cuts_long_values_and_replaces_what_is_no_text():
    found = look(b"user,lat,lon\n" + b"a" * 1000 + b",\xff,1\n")
    assert len(found.rows[0][0]) == 60
    found.rows[0][1].encode()


@pytest.mark.parametrize(
    "content", [b"", b"\0\1\2", b"PK\x03\x04" + bytes(20), b"PAR1" + bytes(20), gzip.compress(b"", mtime=0)]
)
def test_it_refuses_what_is_no_file_of_check_ins(content):
    with pytest.raises(ReaderError):
        look(content)
