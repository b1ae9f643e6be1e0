"""Every format gives the same check-ins, the same rejections and the same refusals."""

import gzip
import io
import json
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heatmaps.ingest.formats.reader import NO_TIME, ReaderError, ReaderLimits, read_checkins
from tests.ingest.formats.test_reader import Trickle, read, refusal
from tests.ingest.formats.written import FORMATS, ndjson, parquet, snap, table

MOMENT = int(datetime(2012, 4, 7, 17, 42, tzinfo=UTC).timestamp())
ROW = ("7", "2012-04-07T17:42:00Z", 40.784018, -73.974524)
GOOD = [ROW, ("né", "", 1.5, 2.5), ("a b", "2012-04-07T19:42:00.9+02:00", -90, 180)]
READ = [("7", MOMENT, 40.784018, -73.974524), ("né", NO_TIME, 1.5, 2.5), ("a b", MOMENT, -90, 180)]
FIRST_ROW = {"csv": 2, "csv.gz": 2}  # a header stands before it

every_format = pytest.mark.parametrize("name", FORMATS)


@every_format
@pytest.mark.parametrize("batch_rows", [1, 4, 50_000])
def test_it_reads_the_same_from_every_format(name, batch_rows):
    content = FORMATS[name](GOOD * 10)
    assert read(content, batch_rows=batch_rows) == (READ * 10, [])
    *_, last = read_checkins(io.BytesIO(content), batch_rows=batch_rows)
    assert last.bytes_read == len(content)  # so that progress reaches the end


@every_format
@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (("7", "", "91", "2"), "lat is outside -90..90"),
        (("7", "", "1", "-180.01"), "lon is outside -180..180"),
        (("7", "", "inf", "2"), "lat is outside -90..90"),
        (("", "", "1", "2"), "user is missing"),
        (("  ", "", "1", "2"), "user is missing"),
        (("7", "yesterday", "1", "2"), "time is not ISO 8601, such as 2012-04-07T17:42:00Z"),
        (("7", "2012-02-30", "1", "2"), "time is not ISO 8601, such as 2012-04-07T17:42:00Z"),
    ],
)
def test_it_rejects_a_bad_row_by_number_and_reason(name, row, reason):
    rows, rejected = read(FORMATS[name](GOOD * 20 + [row] + GOOD), batch_rows=16)
    assert rejected == [(60 + FIRST_ROW.get(name, 1), reason)]
    assert len(rows) == 63


@every_format
def test_it_rejects_what_is_no_number(name):
    rows, rejected = read(FORMATS[name]([ROW, ("7", "", "nan", "2")]))
    assert len(rows) == 1
    assert rejected[0][1] in ("lat is outside -90..90", "lat is missing")


@pytest.mark.parametrize("name", [name for name in FORMATS if name.endswith(".gz")])
def test_it_refuses_a_gzip_file_that_ends_too_early(name):
    assert refusal(FORMATS[name](GOOD * 500)[:-8]).code == "truncated"


@pytest.mark.parametrize("name", ["ndjson", "ndjson.gz", "snap", "snap.gz"])
def test_it_reads_text_that_trickles(name):
    batches = list(read_checkins(Trickle(FORMATS[name](GOOD))))
    assert sum(len(batch.users) for batch in batches) == 3


@pytest.mark.parametrize("write", [ndjson, snap])
def test_it_bears_crlf_blank_lines_and_a_byte_order_mark(write):
    content = b"\xef\xbb\xbf\n\n" + write(GOOD).replace(b"\n", b"\r\n\r\n")
    assert read(content) == (READ, [])
    bad = b"\n\n" + write([ROW, ("7", "", 91, 2)])
    assert [row for row, _ in read(bad)[1]] == [4]


@pytest.mark.parametrize("write", [ndjson, snap])
def test_it_refuses_a_long_line_and_zero_bytes(write):
    assert refusal(write(GOOD) + b"a" * 10**6).code == "line_too_long"
    assert refusal(write(GOOD) + b"\0\n").code == "binary"


# --- NDJSON -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("7", "not a JSON object"),
        ("[1, 2]", "not a JSON object"),
        ('{"user": "7"', "not a JSON object"),
        ("[" * 60_000, "not a JSON object"),
        ('{"user": 7}', "lat is not a decimal number"),
        ('{"user": null, "lat": 1, "lon": 2}', "user is missing"),
        ('{"user": true, "lat": 1, "lon": 2}', "user is not text in UTF-8"),
        ('{"user": ["a"], "lat": 1, "lon": 2}', "user is not text in UTF-8"),
        ('{"user": "\\udc00", "lat": 1, "lon": 2}', "user is not text in UTF-8"),
        ('{"user": 7, "lat": NaN, "lon": 2}', "lat is outside -90..90"),
        ('{"user": 7, "lat": 1e400, "lon": 2}', "lat is outside -90..90"),
        ('{"user": 7, "lat": 1, "lon": {"deg": 2}}', "lon is not a decimal number"),
        ('{"user": 7, "lat": 1, "lon": 2, "time": 1334000000}', "time is not ISO 8601"),
    ],
)
def test_it_rejects_lines_that_are_no_check_in(line, reason):
    rows, rejected = read(ndjson([ROW]) + line.encode() + b"\n" + ndjson([ROW]))
    assert len(rows) == 2
    assert [row for row, _ in rejected] == [2]
    assert rejected[0][1].startswith(reason)


def test_it_takes_equal_numbers_and_texts_for_the_same_user():
    lines = ['{"user": 7, "lat": 1, "lon": 2}', '{"user": "7", "lat": "1.0", "lon": 2, "note": [{}]}']
    assert [row[0] for row in read("\n".join(lines))[0]] == ["7", "7"]


def test_it_keeps_every_digit_of_a_number_that_names_a_user():
    digits = "123456789012345678901234567890"
    assert read(f'{{"user": {digits}, "lat": 1, "lon": 2}}')[0][0][0] == digits


def test_it_finds_a_time_that_only_later_objects_have():
    lines = [json.dumps({"user": "a", "lat": 1, "lon": 2})] * 150
    rows, _ = read("\n".join([*lines, json.dumps({"user": "a", "lat": 1, "lon": 2, "time": "2012-04-07"})]))
    assert rows[-1][1] != NO_TIME


def test_it_says_which_keys_are_missing():
    error = refusal('{"name": "a", "lat": 1, "lon": 2}\n')
    assert error.code == "header"
    assert "found name, lat, lon" in str(error)


def test_it_refuses_a_json_list():
    error = refusal('[{"user": "a", "lat": 1, "lon": 2}]')
    assert (error.code, "one JSON object a line" in str(error)) == ("header", True)


# --- SNAP ---------------------------------------------------------------------------------------------


def test_it_reads_check_ins_without_a_place():
    assert read("7\t2012-04-07T17:42:00Z\t40.784018\t-73.974524\n") == (READ[:1], [])


def test_it_rejects_short_snap_rows():
    _, rejected = read(snap([ROW]) + b"7\t\t\n")
    assert rejected == [(2, "fewer than four columns between tabs")]


# --- Parquet ------------------------------------------------------------------------------------------


def columns(**changed):
    return {"user": pa.array(["a"]), "lat": pa.array([1.5]), "lon": pa.array([2.5])} | changed


@pytest.mark.parametrize(
    ("changed", "row"),
    [
        ({"user": pa.array([7])}, ("7", NO_TIME, 1.5, 2.5)),
        ({"user": pa.array(["a"]).dictionary_encode()}, ("a", NO_TIME, 1.5, 2.5)),
        ({"user": pa.array(["a"], pa.large_string())}, ("a", NO_TIME, 1.5, 2.5)),
        ({"lat": pa.array([1]), "lon": pa.array([Decimal("2.50")])}, ("a", NO_TIME, 1.0, 2.5)),
        ({"lat": pa.array([1.5], pa.float32())}, ("a", NO_TIME, 1.5, 2.5)),
        ({"time": pa.nulls(1)}, ("a", NO_TIME, 1.5, 2.5)),
        *(
            ({"time": pa.array([MOMENT * factor], pa.timestamp(unit, zone))}, ("a", MOMENT, 1.5, 2.5))
            for unit, factor in {"ms": 10**3, "us": 10**6, "ns": 10**9}.items()
            for zone in (None, "UTC", "Europe/Madrid")
        ),
    ],
)
def test_it_reads_columns_of_many_types(changed, row):
    assert read(table(columns(**changed))) == ([row], [])


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"user": pa.array([7.5])}, "for user is of the type double"),
        ({"user": pa.array([b"a"])}, "for user is of the type binary"),
        ({"user": pa.array([{"a": 1}])}, "for user is of the type struct"),
        ({"lat": pa.array(["1.5"])}, "for lat is of the type string"),
        ({"lon": pa.array([True])}, "for lon is of the type bool"),
        ({"time": pa.array([MOMENT])}, "for time is of the type int64"),
    ],
)
def test_it_refuses_columns_of_other_types(changed, words):
    error = refusal(table(columns(**changed)))
    assert error.code == "header"
    assert words in str(error)


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_moment_that_is_missing_is_no_moment_in_any_unit(unit, zone):
    factor = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    moments = pa.array([MOMENT * factor, None, MOMENT * factor + factor - 1, -1], pa.timestamp(unit, zone))
    users, degrees = pa.array(list("abcd")), pa.array([1.5] * 4)
    rows, rejected = read(table({"user": users, "time": moments, "lat": degrees, "lon": degrees}))
    assert [time for _, time, _, _ in rows] == [MOMENT, NO_TIME, MOMENT, -1]
    assert rejected == []


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_what_numpy_has_for_no_time_is_none_where_it_is_written_as_a_number(unit):
    moments = pa.array([0, NO_TIME, None], pa.int64()).cast(pa.timestamp(unit))
    users, degrees = pa.array(list("abc")), pa.array([1.5] * 3)
    rows, rejected = read(table({"user": users, "time": moments, "lat": degrees, "lon": degrees}))
    assert [time for _, time, _, _ in rows] == [0, NO_TIME, NO_TIME]
    assert rejected == []


def test_missing_and_impossible_moments_are_told_apart():
    moments = pa.array([MOMENT * 10**6, None, 2**60], pa.timestamp("us"))
    users, degrees = pa.array(list("abc")), pa.array([1.5] * 3)
    rows, rejected = read(table({"user": users, "time": moments, "lat": degrees, "lon": degrees}))
    assert [time for _, time, _, _ in rows] == [MOMENT, NO_TIME]
    assert [row for row, _ in rejected] == [3]


def test_times_as_text_may_be_written_in_several_ways():
    texts = ["2012-04-07T17:42:00Z", None, "", "2012-04-07 19:42+02:00", "yesterday", "2012-04-07T17:42:00Z"]
    users, degrees = pa.array(list("abcdef")), pa.array([1.5] * 6)
    for times in (pa.array(texts), pa.array(texts).dictionary_encode(), pa.array(texts, pa.large_string())):
        rows, rejected = read(table({"user": users, "time": times, "lat": degrees, "lon": degrees}))
        assert [time for _, time, _, _ in rows] == [MOMENT, NO_TIME, NO_TIME, MOMENT, MOMENT]
        assert rejected == [(5, "time is not ISO 8601, such as 2012-04-07T17:42:00Z")]


def test_names_of_a_dictionary_are_one_where_they_are_equal_without_space_around_them():
    dictionary = pa.array(["unused", "b", " a ", "a", "b"])
    users = pa.DictionaryArray.from_arrays(pa.array([4, 2, None, 3, 1], pa.int32()), dictionary)
    degrees = pa.array([1.5] * 5)
    content = table({"user": users, "lat": degrees, "lon": degrees})
    [batch] = read_checkins(io.BytesIO(content))
    assert (batch.names, batch.users) == (["b", "a"], ["b", "a", "a", "b"])
    assert [rejection.row for rejection in batch.rejected] == [3]


def test_it_rejects_missing_values():
    nulls = {name: pa.array([None, column[0].as_py()]) for name, column in columns().items()}
    for name in ("user", "lat", "lon"):
        two = {other: pa.array([column[0].as_py()] * 2) for other, column in columns().items()}
        assert read(table(two | {name: nulls[name]}))[1] == [(1, f"{name} is missing")]


@pytest.mark.parametrize("seconds", [-(2**62), -62_135_596_801, 253_402_300_800, 2**62])
def test_it_rejects_times_beyond_the_calendar(seconds):
    content = table(columns(time=pa.array([seconds], pa.timestamp("us" if abs(seconds) > 2**61 else "ms"))))
    if abs(seconds) < 2**61:
        content = table(columns(time=pa.array([seconds * 1000], pa.timestamp("ms"))))
    assert [reason[:20] for _, reason in read(content)[1]] == ["time is not ISO 8601"]


@pytest.mark.parametrize(
    "content",
    [
        b"PAR1",
        b"PAR1" + bytes(100),
        parquet(GOOD * 100)[:-20],
        parquet(GOOD * 100)[: len(parquet(GOOD * 100)) // 2],
        parquet(GOOD)[:30] + b"\xff" * 40 + parquet(GOOD)[70:],
    ],
)
def test_it_refuses_a_damaged_parquet_file(content):
    error = refusal(content)
    assert (error.code, "damaged or ends too early" in str(error)) == ("corrupt", True)


def test_it_refuses_a_parquet_file_without_rows_or_columns():
    empty = {name: column[:0] for name, column in columns().items()}
    assert refusal(table(empty)).code == "empty"
    assert "found user, lat" in str(refusal(table({name: columns()[name] for name in ("user", "lat")})))


def test_it_refuses_a_parquet_file_of_endless_equal_rows():
    count = 3_000_000
    one = {"user": pa.array([0]), "lat": pa.array([1.5]), "lon": pa.array([2.5])}
    bomb = table({name: pa.concat_arrays([column] * count) for name, column in one.items()})
    assert len(bomb) < 100_000
    assert refusal(bomb).code == "bomb"


def test_it_refuses_long_texts_in_parquet():
    assert refusal(table(columns(user=pa.array(["a" * 10**6])))).code == "line_too_long"
    assert refusal(table(columns(time=pa.array(["a" * 10**6])))).code == "line_too_long"


def test_it_refuses_a_long_text_that_many_rows_share_before_reading_them(monkeypatch):
    count = 400_000  # 400 MB of users, if they were read
    users = pa.DictionaryArray.from_arrays(pa.array([0] * count), pa.array(["a" * 1001]))
    content = table({"user": users, "lat": pa.array([1.5] * count), "lon": pa.array([2.5] * count)})
    assert len(content) < 100_000
    monkeypatch.setattr("heatmaps.ingest.formats.typed_columns.Typed.batch", None)
    assert refusal(content).code == "line_too_long"


def test_it_refuses_a_parquet_file_that_is_too_large():
    assert refusal(parquet(GOOD * 100), limits=ReaderLimits(total_bytes=1000)).code == "too_large"


def test_it_refuses_parquet_from_a_stream_that_cannot_seek():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    with pytest.raises(ReaderError, match="Parquet"):
        list(read_checkins(Pipe(parquet(GOOD))))


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.integers(4, 900), st.binary(min_size=1, max_size=20))
def test_it_never_fails_otherwise_than_by_a_reader_error(place, noise):
    content = parquet(GOOD * 5)
    for whole in (
        content[:place] + noise + content[place + len(noise) :],
        ndjson(GOOD)[: place % 90] + noise,
    ):
        try:
            read(whole)
        except ReaderError:
            continue


def test_it_reads_a_gzip_file_of_ndjson_with_several_members():
    assert read(gzip.compress(ndjson(GOOD[:1])) + gzip.compress(ndjson(GOOD[1:]))) == (READ, [])
