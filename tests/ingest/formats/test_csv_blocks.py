"""A CSV file by blocks says what it says by lines: the same check-ins, the same reasons of the same rows."""

import gzip
import io
import random

import numpy as np
import pytest

from heatmaps.ingest.formats import arrow_csv, csv_blocks, lines, text_child
from heatmaps.ingest.formats.lines import ReaderLimits
from heatmaps.ingest.formats.reader import ReaderError
from heatmaps.ingest.options import Options

USERS = ["7", "007", "né", "ne\u0301", " anna ", "b c", "-", "NA", "null", "\u00a0x\u00a0", "0", "x" * 1001]
TIMES = [
    "2012-04-07T17:42:00Z",
    "2012-04-07 17:42:09+02:00",
    "2012-04-07T17:42:00",
    "2012-10-28T02:30:00",
    "1969-12-31T23:59:59.5Z",
    "2012-04-07",
    "20120407T1742Z",
    "0001-01-01T00:00:00+02:00",
    "9999-12-31T23:59:59-01:00",
    " ",
    "2012-04-07T17:42:00.25Z",
]
DEGREES = [
    "41.5",
    "-0",
    "1e1",
    " 2.5",
    "3.\t",
    "-.5",
    "0.1234567890123456789",
    "+4",
    "41.38506370000001",
    "1e-400",
]
BAD_USERS = ["", " ", b"\xff\xfe", "\u00a0", b"\xc3"]
BAD_TIMES = ["yesterday", "0000-01-01T00:00:00Z", "2012-02-30", "2012-04-07Z", b"\xff", "２０１２-04-07", "0"]
BAD_DEGREES = [
    "",
    "91",
    "-180.5",
    "nan",
    "inf",
    "1e400",
    "x",
    "1_0",
    "１",
    "0x1",
    "NULL",
    "true",
    b"1\xa0",
    "4\v",
]
BAD_ROWS = [
    "",
    " ",
    ",,,,",
    "x",
    "a,1",
    '"',
    '""',
    '"a"x,,1,2,',
    '"two\nlines",,1,2,',
    '"a,b",,1,2,"c""d"',
    '"open,,1,2,',
    'a,,1,2,"open\n',
    'a"b,,1,2,',
    ' "c" ,,1,2,',
    'a,,1,2,,"more"',
    "a,,1,2,,,",
    "\ufeffa,,1,2,",
    "a,,1,2,\r",
    "y" * 300,
]


def generated(seed):
    """A file, its options and limits: more or less defective, as the seed says."""
    rng = random.Random(seed)
    defects = rng.choice([0, 0, 0.02, 0.2])
    times = rng.choice([TIMES[:1], TIMES[:1], TIMES[2:3], TIMES[:2], TIMES, [""]])
    users, bad_of = (
        rng.choice([USERS[:8], USERS]),
        rng.choice([("row",), ("user", "time", "lat"), ("row", "time", "lat")]),
    )

    def row():
        parts = {"user": rng.choice(users), "time": rng.choice([*times, ""]), "lat": rng.choice(DEGREES)}
        parts |= {"lon": rng.choice(DEGREES), "note": rng.choice(["", "x", "é"])}
        bad = rng.choice(bad_of) if rng.random() < defects else None
        if bad == "row":
            return encoded(rng.choice(BAD_ROWS))
        pools = {"user": BAD_USERS, "time": BAD_TIMES, "lat": BAD_DEGREES}
        if bad:
            parts[bad] = rng.choice(pools[bad])
        return b",".join(map(encoded, parts.values()))

    head = rng.choice(["", "\ufeff", "\n\n", ",,\n"]) + rng.choice(
        ["user,time,lat,lon,note", '"user", Time ,lat,lon,"no\nte"']
    )
    content = b"\n".join([encoded(head), *(row() for _ in range(rng.randrange(1, 80)))])
    content = content.replace(b"\n", rng.choice([b"\n", b"\n", b"\n", b"\r\n", b"\r"])) + rng.choice(
        [b"", b"\n", b"\r"]
    )
    content += rng.choice([b""] * 9 + [b"\0"])
    packed = gzip.compress(content, mtime=0)
    content = rng.choice([content] * 4 + [packed] * 2 + [packed[: -rng.randrange(1, 30)]])
    options = Options.parse(time_zone=rng.choice(["", "Europe/Madrid"]))
    return content, options, ReaderLimits(line_length=rng.choice([200, 2**16]))


def encoded(text):
    return text if isinstance(text, bytes) else text.encode()


def outcome(read, content, options, limits, batch_rows=7):
    """(check-ins, rejections, code and words of a refusal)."""
    batches, refusal = [], None
    try:
        batches.extend(read(io.BytesIO(content), options, limits, batch_rows))
    except ReaderError as error:
        return error.code, str(error)
    assert all(batch.numbers.size + len(batch.rejected) <= batch_rows for batch in batches)
    columns = (
        [np.concatenate([getattr(batch, name) for batch in batches]) for name in ("times", "lat", "lon")]
        if batches
        else []
    )
    users = [user for batch in batches for user in batch.users]
    assert set(users) == {name for batch in batches for name in batch.names}
    rejected = [rejection for batch in batches for rejection in batch.rejected]
    return users, [column.tobytes() for column in columns], rejected, refusal


def by_lines(file, monkeypatch, block_bytes):
    with monkeypatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", block_bytes)
        return outcome(text_child.batches, *file)


@pytest.mark.parametrize(
    "row",
    [
        b"7,,nan,2",
        b"7,2012-10-28T02:30:00,1,2",  # in Madrid
        b"7,,1,2\r8,,1,2\n",  # as many rows as line breaks
        b'"7",,1,2',
        b"7,,1,2" + b" " * 200,
        b"\xef\xbb\xbf7,,1,2",
        b"NA,,1,2",
    ],
)
def test_what_arrow_would_read_otherwise_is_read_by_lines(monkeypatch, row):
    header = b"user,time,lat,lon\n"
    monkeypatch.setattr(lines, "BLOCK_BYTES", len(header))
    monkeypatch.setattr(csv_blocks, "_BLOCK_BYTES", 1)
    file = header + row + b"\n" + b"8,,1,2\n" * 9 + b"8,,91,2\n", Options.parse(time_zone="Europe/Madrid")
    limits = ReaderLimits(line_length=200)
    assert outcome(csv_blocks.batches, *file, limits) == outcome(text_child.batches, *file, limits)


BAD_LINES = [
    b"x",
    b"",
    b"7,1",
    b"7,,x,2,",
    b"7,,,2,",
    b"7,,nan,2,",
    b"7,,1,1_0,",
    b"\xff,,x,2,",
    b"7,yesterday,1,2,",
    b",yesterday,91,200,",
]


@pytest.mark.parametrize("batch_rows", [1, 7, 1000])
@pytest.mark.parametrize("bad_lines", [BAD_LINES, *([line] for line in BAD_LINES)])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_few_bad_rows_are_listed_without_reading_the_others_by_lines(
    monkeypatch, bad_lines, end, batch_rows
):
    rng, limits = random.Random(len(bad_lines)), ReaderLimits()
    rows = [b"7,2012-04-07T17:42:00Z,1,2,", b" anna ,,91,2.5,", b",,-1,2,", b"n\xc3\xa9,,1,2,"] * 20
    for line in bad_lines:
        rows.insert(rng.randrange(len(rows)), line)
    content = end.join([b"user,time,lat,lon,note", *rows, *bad_lines[:1]])
    by_lines = outcome(text_child.batches, content, Options(), limits, batch_rows)
    monkeypatch.setattr(csv_blocks, "batch_of", None)
    assert outcome(csv_blocks.batches, content, Options(), limits, batch_rows) == by_lines


def test_a_row_that_only_lines_can_read_is_read_by_lines():
    file = (
        b"user,lat,lon\n" + b"7,1,2\n" * 9 + b"8, 1\t,2\n" + b"9,1,2,\n" + b"7,1,2\n" * 9,
        Options(),
        ReaderLimits(),
    )
    assert outcome(csv_blocks.batches, *file) == outcome(text_child.batches, *file)
    assert outcome(csv_blocks.batches, *file)[0].count("9") == 1


def test_a_header_that_could_be_a_row_is_none():
    options = Options.parse(columns="user=7,lat=1,lon=2,time=")
    file = b"7,1,2\n8,1,2\n", options, ReaderLimits()
    assert outcome(csv_blocks.batches, *file)[0] == ["8"]


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 2000), marks=pytest.mark.long)])
def test_blocks_say_what_lines_say_whatever_is_in_a_file(monkeypatch, seeds):
    by_arrow, taken = arrow_csv.ArrowCsv.batches, []

    def seen(*args):
        found = by_arrow(*args)
        taken.append(found is not None)
        return found

    monkeypatch.setattr(arrow_csv.ArrowCsv, "batches", seen)
    monkeypatch.setattr(lines, "BLOCK_BYTES", 61)
    for seed in seeds:
        monkeypatch.setattr(csv_blocks, "_BLOCK_BYTES", random.Random(seed).choice([1, 100, 400]))
        file = generated(seed)
        found = outcome(csv_blocks.batches, *file)
        # Which of several faults refuses a file depends on how much of it is read at once.
        assert any(found == by_lines(file, monkeypatch, size) for size in (61, 7, 400, 2**18)), (seed, found)
    assert 0.2 < np.mean(taken) < 0.9
