"""What a steward says about a file: columns, time zone, how many bad rows to bear."""

import io
import json
from datetime import UTC, datetime
from fractions import Fraction

import pyarrow as pa
import pytest

from heatmaps.ingest.formats.reader import read_checkins
from heatmaps.ingest.options import Options
from heatmaps.models import UploadState
from mechanisms.check import ParameterError
from tests.ingest.formats.test_reader import read, refusal
from tests.ingest.formats.written import table

RENAMED = ("uid", "when", "latitude", "Longitude")
VALUES = ("anna", "2012-04-07T17:42:00Z", "41.5", "2.5")
CHOICE = "user=uid, time=when ,lat=latitude,lon=longitude"
NOON = int(datetime(2012, 4, 7, 12, tzinfo=UTC).timestamp())


def csv():
    return ",".join(RENAMED) + "\n" + ",".join(VALUES) + "\n"


def ndjson():
    return json.dumps(dict(zip(RENAMED, VALUES, strict=True)))


def parquet():
    user, time, lat, lon = VALUES
    values = ([user], [time], [float(lat)], [float(lon)])
    return table(dict(zip(RENAMED, map(pa.array, values), strict=True)))


every_format = pytest.mark.parametrize("write", [csv, ndjson, parquet])


@every_format
def test_it_reads_the_columns_that_were_chosen(write):
    assert refusal(write()).code == "header"
    rows, rejected = read(write(), options=Options.parse(columns=CHOICE))
    assert [(row[0], row[2], row[3]) for row in rows] == [("anna", 41.5, 2.5)]
    assert rejected == []


@every_format
def test_it_says_which_chosen_column_is_not_there(write):
    error = refusal(write(), options=Options.parse(columns="user=uid,lat=y,lon=longitude"))
    assert error.code == "header"
    assert "there is no column y for lat; found uid, when, latitude, longitude" in str(error)


def test_it_may_leave_the_time_out():
    rows, rejected = read("user,time,lat,lon\na,rubbish,1,2\n", options=Options.parse(columns="time="))
    assert (len(rows), rejected) == (1, [])


def test_it_reads_a_column_with_a_comma_in_its_name():
    rows, _ = read('user,"lat, deg",lon\na,1,2\n', options=Options.parse(columns='"lat=lat, deg"'))
    assert rows[0][2] == 1


@pytest.mark.parametrize(
    "text", ["user", "who=a", "user=", "user=a,user=b", "user=a,lat=A", '"user=a', "=", "user=a,"]
)
def test_it_refuses_an_unusable_choice_of_columns(text):
    with pytest.raises(ParameterError, match="columns"):
        Options.parse(columns=text)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", "Europe", "/etc/localtime", "\0"])
def test_it_refuses_what_is_no_zone(zone):
    with pytest.raises(ParameterError, match="time_zone"):
        Options.parse(time_zone=zone)


@pytest.mark.parametrize("share", ["-1", "100.1", "nan", "one", "1e9"])
def test_it_refuses_what_is_no_percentage(share):
    with pytest.raises(ParameterError, match="max_rejected"):
        Options.parse(max_rejected=share)


@pytest.mark.parametrize(
    "options",
    [
        Options(),
        Options.parse(columns=CHOICE, time_zone="Europe/Madrid", max_rejected="2.5 %"),
        Options.parse(columns="time=", max_rejected="0"),
    ],
)
def test_it_comes_back_from_json_as_it_was(options):
    assert Options.from_json(json.loads(json.dumps(options.to_json()))) == options


def test_it_takes_percent():
    assert Options.parse(max_rejected="2.5").max_rejected == Fraction(1, 40)


def times(values, zone, *, typed):
    """Epoch seconds of naive times in a zone, read as text or as timestamps."""
    if typed:
        moments = pa.array([datetime.fromisoformat(value) for value in values], pa.timestamp("us"))
        places = {name: pa.array([1.0] * len(values)) for name in ("lat", "lon")}
        content = table({"user": pa.array(["a"] * len(values)), "time": moments, **places})
    else:
        content = ("user,time,lat,lon\n" + "".join(f"a,{value},1,1\n" for value in values)).encode()
    [batch] = read_checkins(io.BytesIO(content), options=Options.parse(time_zone=zone))
    return [datetime.fromtimestamp(second, UTC).strftime("%m-%d %H:%M") for second in batch.times.tolist()]


@pytest.mark.parametrize("typed", [False, True])
def test_it_takes_naive_times_in_the_chosen_zone(typed):
    summer, winter = "2024-07-01T12:00", "2024-01-01T12:00"
    assert times([summer, winter], "", typed=typed) == ["07-01 12:00", "01-01 12:00"]
    assert times([summer, winter], "Europe/Madrid", typed=typed) == ["07-01 10:00", "01-01 11:00"]
    assert times([winter], "Asia/Kolkata", typed=typed) == ["01-01 06:30"]


@pytest.mark.parametrize("typed", [False, True])
def test_it_takes_an_hour_that_comes_twice_for_the_first_one(typed):
    # Madrid, 27 October 2024: at 03:00 summer time clocks went back to 02:00.
    assert times(["2024-10-27T02:30"], "Europe/Madrid", typed=typed) == ["10-27 00:30"]
    assert times(["2024-10-27T03:00"], "Europe/Madrid", typed=typed) == ["10-27 02:00"]


@pytest.mark.parametrize("typed", [False, True])
def test_it_takes_an_hour_that_clocks_skip_as_if_they_had_not_been_set(typed):
    # Madrid, 31 March 2024: at 02:00 winter time clocks went on to 03:00.
    assert times(["2024-03-31T02:30"], "Europe/Madrid", typed=typed) == ["03-31 01:30"]


def test_a_time_with_an_offset_keeps_it():
    [row], _ = read(
        "user,time,lat,lon\na,2012-04-07T14:00+02:00,1,1\n", options=Options(time_zone="Asia/Tokyo")
    )
    assert row[1] == NOON


@pytest.mark.parametrize("moment", ["0001-01-01T00:00", "9999-12-31T23:59"])
def test_it_bears_the_ends_of_the_calendar_in_every_zone(moment):
    for zone in ("Asia/Tokyo", "America/New_York"):
        rows, rejected = read(f"user,time,lat,lon\na,{moment},1,1\n", options=Options(time_zone=zone))
        assert len(rows) + len(rejected) == 1


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("percent", "state"),
    [("", UploadState.FAILED), ("10", UploadState.READY), ("9.99", UploadState.FAILED)],
)
def test_an_upload_has_its_own_share_of_bad_rows(dataset, upload, percent, state):
    rows = [("anna", "", 41.5, 2.5)] * 9 + [("anna", "", 91, 2.5)]
    assert upload(dataset, rows, options=Options.parse(max_rejected=percent)).state == state


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_upload_may_refuse_any_bad_row(dataset, upload):
    rows = [("anna", "", 41.5, 2.5)] * 999 + [("anna", "", 91, 2.5)]
    failed = upload(dataset, rows, options=Options.parse(max_rejected="0"))
    assert "more than the 0 % that may be left out" in failed.failure


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_upload_is_read_with_its_columns_and_zone(dataset, upload):
    options = Options.parse(columns=CHOICE, time_zone="Asia/Kolkata")
    row = upload(dataset, csv().replace("Z", ""), options=options)
    assert row.state == UploadState.READY
    assert row.extents.get().checkins.get().time == NOON + 12 * 60
