"""Reading check-ins: every shape a file can have, and every file that is none."""

import gzip
import io
import random
import tracemalloc
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heatmaps.ingest.formats.reader import NO_TIME, ReaderError, ReaderLimits, read_checkins

HEADER = "user,time,lat,lon\n"
ROW = "7,2012-04-07T17:42:00Z,40.784018,-73.974524\n"
MOMENT = int(datetime(2012, 4, 7, 17, 42, tzinfo=UTC).timestamp())


def read(content, **options):
    data = content.encode() if isinstance(content, str) else content
    batches = list(read_checkins(io.BytesIO(data), **options))
    return [
        (user, time, lat, lon)
        for batch in batches
        for user, time, lat, lon in zip(
            batch.users, batch.times.tolist(), batch.lat.tolist(), batch.lon.tolist(), strict=True
        )
    ], [(rejection.row, rejection.reason) for batch in batches for rejection in batch.rejected]


def refusal(content, **options):
    with pytest.raises(ReaderError) as caught:
        read(content, **options)
    return caught.value


# --- files that are fine ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        HEADER + ROW,
        HEADER + ROW.rstrip("\n"),
        (HEADER + ROW).replace("\n", "\r\n"),
        (HEADER + ROW).replace("\n", "\r"),
        "\ufeff" + HEADER + ROW,
        "\n\n" + HEADER + "\n" + ROW + "\n\n",
        "lon,user,lat,time\n-73.974524,7,40.784018,2012-04-07T17:42:00Z\n",
        'USER , Time, "lat", lon\n" 7 ",2012-04-07T17:42:00Z, 40.784018 ,"-73.974524"\n',
        "user,time,venue,lat,lon\n" + ROW.replace("Z,", 'Z,"Café, ""x""\nsecond line",'),
        b"note,user,time,lat,lon\n\xff\xfe," + ROW.encode(),
    ],
)
def test_it_reads_a_check_in_however_it_is_written(content):
    assert read(content) == ([("7", MOMENT, 40.784018, -73.974524)], [])


def test_it_reads_gzip_of_several_members_with_padding():
    data = (
        gzip.compress(HEADER.encode()) + gzip.compress(ROW.encode()) + bytes(700) + gzip.compress(b"8,,1,2")
    )
    rows, rejected = read(data)
    assert [row[0] for row in rows] == ["7", "8"]
    assert rejected == []


class Trickle(io.BytesIO):
    """A stream that gives one byte at a time, as a slow socket might."""

    def read(self, size=-1):
        return super().read(min(size, 1))


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress])
def test_it_reads_a_stream_that_trickles(pack):
    data = ("\ufeff" + HEADER + ROW * 50 + "né,,1,2\r\n" * 3).encode()
    batches = list(read_checkins(Trickle(pack(data))))
    assert [user for batch in batches for user in batch.users] == ["7"] * 50 + ["né"] * 3


def test_it_reads_without_a_time_column():
    assert read("user,lat,lon\na,1,2\n") == ([("a", NO_TIME, 1.0, 2.0)], [])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("", NO_TIME),
        (" ", NO_TIME),
        ("2012-04-07T17:42:00Z", MOMENT),
        (" 2012-04-07T17:42:00Z ", MOMENT),
        ("2012-04-07T17:42:00", MOMENT),
        ("2012-04-07 17:42", MOMENT),
        ("2012-04-07T19:42:00+02:00", MOMENT),
        ("2012-04-07T12:12:00-0530", MOMENT),
        ("2012-04-07T17:42:00.999999Z", MOMENT),
        ("2012-04-07", MOMENT - (17 * 60 + 42) * 60),
        ("1969-12-31T23:59:59.5Z", -1),
    ],
)
def test_it_reads_the_forms_of_a_time(text, seconds):
    rows, rejected = read(f"{HEADER}7,{text},1,2\n8,,1,2\n")
    assert ([row[1] for row in rows], rejected) == ([seconds, NO_TIME], [])


def test_it_gives_batches_and_how_far_it_is():
    data = gzip.compress((HEADER + ROW * 25_000).encode())
    batches = list(read_checkins(io.BytesIO(data), batch_rows=10_000))
    assert [len(batch.users) for batch in batches] == [10_000, 10_000, 5_000]
    assert 0 < batches[0].bytes_read <= batches[-1].bytes_read == len(data)


def test_it_needs_no_more_memory_for_a_larger_file():
    def peak(rows):
        stream = io.BytesIO(gzip.compress((HEADER + ROW * rows).encode()))
        tracemalloc.start()
        for _ in read_checkins(stream, batch_rows=1_000):
            pass
        _, result = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return result

    assert peak(120_000) < 1.2 * peak(30_000)


def test_it_never_shows_rows_in_a_representation():
    (batch,) = read_checkins(io.BytesIO((HEADER + ROW).encode()))
    assert "40.78" not in repr(batch)


# --- rows that are no check-in ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"7,,91,2", "lat is outside -90..90"),
        (b"7,,-90.0001,2", "lat is outside -90..90"),
        (b"7,,1,180.5", "lon is outside -180..180"),
        (b"7,,nan,2", "lat is outside -90..90"),
        (b"7,,1,inf", "lon is outside -180..180"),
        (b"7,,1,1e400", "lon is outside -180..180"),
        (b"7,,x,2", "lat is not a decimal number"),
        (b"7,,,2", "lat is not a decimal number"),
        (b"7,,1_0,2", "lat is not a decimal number"),
        ("7,,１,2".encode(), "lat is not a decimal number"),
        (b"7,,1,0x10", "lon is not a decimal number"),
        (b",,1,2", "user is missing"),
        (b"  ,,1,2", "user is missing"),
        (b"\xff\xfe,,1,2", "user is not text in UTF-8"),
        (b"7,yesterday,1,2", "time is not ISO 8601, such as 2012-04-07T17:42:00Z"),
        (b"7,2012-02-30T00:00:00Z,1,2", "time is not ISO 8601, such as 2012-04-07T17:42:00Z"),
        ("7,２０１２-04-07,1,2".encode(), "time is not ISO 8601, such as 2012-04-07T17:42:00Z"),
        (b"7,,1", "fewer columns than the header"),
        (b"x" * 3000, "fewer columns than the header"),
        (b'7,,"1"0,2', "quotes are not closed or not at the ends of a field"),
    ],
)
def test_it_rejects_a_bad_row_by_line_and_reason(row, reason):
    good = ROW.encode()
    data = HEADER.encode() + good * 100 + row + b"\n" + good * 100
    rows, rejected = read(data, batch_rows=64)
    assert rejected == [(102, reason)]
    assert len(rows) == 200


def test_it_numbers_lines_as_an_editor_does():
    content = (
        '\n\nuser,lat,lon,note\n1,1,1,"two\nlines"\n\n2,bad,1,\n3,1,1,"x\ny\nz"\n4,99,1,\n"5"5,1,1,\n6,1,1'
    )
    rows, rejected = read(content)
    assert [row for row, _ in rejected] == [7, 11, 12]
    assert [row[0] for row in rows] == ["1", "3", "6"]
    assert read(content, batch_rows=1) == (rows, rejected)


def test_it_rejects_the_last_line_when_its_quote_stays_open():
    rows, rejected = read(HEADER + ROW + '"8,,1,2')
    assert len(rows) == 1
    assert [row for row, _ in rejected] == [3]


def test_it_gives_rejections_where_no_row_is_good():
    assert read(HEADER + "a\nb\n") == ([], [(row, "fewer columns than the header") for row in (2, 3)])


row_texts = st.one_of(
    st.just("7,,1,2"),
    st.sampled_from(["", "8,,91,2", ",,1,2", '"9",,3,4', '"a\nb",,1,2', "x", '1"0,,1,2', '"1"0,,1,2']),
    st.text(alphabet='7,"ax. \t', max_size=12),
)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.lists(row_texts, max_size=30), st.integers(1, 40))
def test_it_decides_the_same_in_every_batch_size(texts, batch_rows):
    def outcome(size):
        try:
            return read(HEADER + "\n".join(texts), batch_rows=size)
        except ReaderError as error:
            return error.code

    assert outcome(batch_rows) == outcome(1)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_it_never_fails_otherwise_than_by_a_reader_error(noise):
    for data in (noise, HEADER.encode() + noise, gzip.compress(HEADER.encode() + noise)[: 40 + len(noise)]):
        try:
            rows, rejected = read(data)
        except ReaderError:
            continue
        assert len(rows) + len(rejected) > 0


FORMATS = {"csv": HEADER + ROW, "ndjson": '{"user": 7, "lat": 1, "lon": 2}\n', "snap": "7\t\t1\t2\n"}


@pytest.mark.parametrize("line", ["\n", "\r\n", "x\n", "[]\n", "7,,91,2\n"])
@pytest.mark.parametrize("first", FORMATS.values(), ids=FORMATS)
def test_a_small_file_of_many_rows_that_are_none_is_refused(first, line):
    content, limits = (first + line * 3000).encode(), ReaderLimits(idle_rows=1000)
    assert refusal(gzip.compress(content), limits=limits, batch_rows=500).code == "bomb"
    # Of a file that has a byte for each of them, no row is lost.
    rows, rejected = read(content, limits=limits, batch_rows=500)
    assert len(rows) == 1
    assert len(rejected) == (0 if line.isspace() else 3000)


def test_millions_of_empty_lines_cost_nothing():
    error = refusal(gzip.compress((HEADER + "\n" * 400_000).encode(), mtime=0))
    assert (error.code, str(error)) == (
        "bomb",
        "the file has far more empty lines than check-ins; remove them",
    )


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress])
def test_an_empty_line_after_each_row_is_nobodys_fault(pack):
    rows, rejected = read(pack((HEADER + (ROW + "\n") * 300 + "7,,91,2\n").encode()), batch_rows=64)
    assert (len(rows), rejected) == (300, [(602, "lat is outside -90..90")])


# --- files that are no check-ins ----------------------------------------------------------------------


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", gzip.compress(b"", mtime=0)])
def test_it_refuses_an_empty_file(content):
    error = refusal(content)
    assert (error.code, str(error)) == ("empty", "the file is empty")


@pytest.mark.parametrize("content", [HEADER, HEADER.rstrip(), HEADER + "\n\n"])
def test_it_refuses_a_header_alone(content):
    error = refusal(content)
    assert (error.code, str(error)) == ("empty", "the file has a header but no check-ins")


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("id,timestamp,latitude,longitude", "found id, timestamp, latitude, longitude"),
        ("user,lat", "found user, lat"),
        ("user,lat,lon,lat", "found user, lat, lon, lat"),
        ("user,lat,lon,time,time", "found user, lat, lon, time, time"),
        ("user;time;lat;lon", "something else than names"),
        (",".join(f"c{i}" for i in range(30)), "c9 and more"),
        ("anna,2012-04-07T17:42:00Z,40.784018,-73.974524", "something else than names"),
        ("user\ttime\tlat\tlon", "something else than names"),
    ],
)
def test_it_says_what_the_header_has_and_lacks(header, found):
    error = refusal(header + "\n" + ROW)
    assert error.code == "header"
    assert "user, lat, lon and optionally time" in str(error)
    assert found in str(error)
    assert "40.78" not in str(error)
    assert "anna" not in str(error)


def test_it_refuses_a_header_with_broken_quotes():
    assert refusal('"user"x,lat,lon\n' + ROW).code == "header"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (bytes(range(256)) * 40, "not text"),
        (HEADER.encode() + ROW.encode() * 9000 + b"\0", "not text"),
        (b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(5000), "not text"),
        (b"\xff\xd8\xe9\xaa", "not text"),
        (b"PK\x03\x04" + random.Random(2).randbytes(5000), "ZIP"),
        (gzip.compress(b"PAR1" + bytes(100), mtime=0), "Parquet inside gzip"),
        ((HEADER + ROW).encode("utf-16"), "UTF-16"),
        (gzip.compress(gzip.compress((HEADER + ROW).encode(), mtime=0), mtime=0), "compressed twice"),
    ],
)
def test_it_refuses_what_is_no_text(content, words):
    error = refusal(content)
    assert error.code == "binary"
    assert words in str(error)
    assert "UTF-8" in str(error)


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress])
def test_it_refuses_a_line_of_ten_megabytes_early(pack):
    row = random.Random(3).randbytes(5_000_000).hex()
    stream = io.BytesIO(pack((HEADER + ROW + row + "\n" + ROW).encode()))
    with pytest.raises(ReaderError, match="line 3 is longer than 65536 characters") as caught:
        list(read_checkins(stream))
    assert caught.value.code == "line_too_long"
    assert stream.tell() < 1_000_000


def test_it_measures_lines_without_their_break():
    limits = ReaderLimits(line_length=len(ROW) - 1)
    assert len(read(HEADER + ROW, limits=limits)[0]) == 1
    assert "line 3" in str(refusal(HEADER + ROW + ROW.replace(",", ", ", 1), limits=limits))


def test_it_refuses_a_quoted_field_that_swallows_rows():
    error = refusal(HEADER + ROW + '8,,"1,2\n' + ROW * 5)
    assert error.code == "quote"
    assert "line 3" in str(error)
    assert refusal(HEADER + '"8,,1,2\n' + ROW * 5000).code == "quote"  # beyond the csv module's own limit


def test_it_refuses_a_bomb_before_it_unpacks():
    data = gzip.compress(HEADER.encode() + b"7,,1,2\n" * 3_000_000)
    batches = read_checkins(io.BytesIO(data), limits=ReaderLimits(ratio_from_bytes=2**20))
    seen = 0

    def read_on():
        nonlocal seen
        for batch in batches:
            seen += len(batch.users)

    with pytest.raises(ReaderError, match="unpacks to far more") as caught:
        read_on()
    assert caught.value.code == "bomb"
    assert 0 < seen < 1_000_000


def test_it_takes_small_files_however_well_they_pack():
    assert len(read(gzip.compress(HEADER.encode() + b"7,,1,2\n" * 300_000))[0]) == 300_000


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress])
def test_it_refuses_more_text_than_allowed(pack):
    data = pack((HEADER + ROW * 30_000).encode())
    assert refusal(data, limits=ReaderLimits(total_bytes=300_000, ratio=10_000)).code == "too_large"


@pytest.mark.parametrize("kept", [2, 9, 40, 500, -9, -1])
def test_it_refuses_a_gzip_file_that_ends_early(kept):
    lines = [f"{i},,{i % 90}.{i},1\n" for i in range(500)]
    data = gzip.compress((HEADER + "".join(lines)).encode())[:kept]
    assert refusal(data).code == "truncated"


def test_it_refuses_a_damaged_gzip_file():
    data = bytearray(gzip.compress((HEADER + ROW * 500).encode()))
    data[-6] ^= 1  # the checksum
    assert refusal(bytes(data)).code == "corrupt"
    assert refusal(gzip.compress((HEADER + ROW).encode()) + b"garbage").code == "corrupt"
