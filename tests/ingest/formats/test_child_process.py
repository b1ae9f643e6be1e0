"""Files that are made to take much memory or time are refused; what reads them goes on."""

import gzip
import io
import json
import os
import struct

import numpy as np
import psutil
import pyarrow as pa
import pytest

from heatmaps.children import process
from heatmaps.ingest.formats import child_process, frames, parquet, parquet_magic, text_child
from heatmaps.ingest.formats.frames import Broken
from heatmaps.ingest.formats.lines import ReaderLimits
from heatmaps.ingest.formats.previewer import preview
from heatmaps.ingest.formats.reader import ReaderError, read_checkins
from heatmaps.ingest.formats.row_values import NO_TIME
from heatmaps.ingest.options import Options
from heatmaps.pseudonyms.name_column import NameColumn
from tests.ingest.formats import liar, written

pytestmark = pytest.mark.children

ROWS = [(f"user-{number}", "2012-04-07T17:42:00Z", 41.5, 2.5) for number in range(200)]
LARGE = 2**28  # bytes of one text
HEAD = struct.Struct("<cIQIQ")
END = HEAD.pack(b".", 0, 2, 0, 0) + b"{}"


def varint(value, length=None):
    """Thrift's; padded to a length, which readers take."""
    found = []
    while value >= 0x80 or len(found) + 1 < (length or 0):
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def lying(content):
    """The file with every size of its own end that is as large as its text made small."""
    start = len(content) - 8 - struct.unpack("<I", content[-8:-4])[0]
    end = content[start:]
    metadata = parquet._opened(io.BytesIO(content)).metadata
    group = metadata.row_group(0)
    sizes = {group.column(number).total_uncompressed_size for number in range(group.num_columns)}
    for size in sizes | {group.total_byte_size}:
        if size >= LARGE:
            wide = varint(2 * size)  # zigzag
            assert wide in end
            end = end.replace(wide, varint(2 * 1000, len(wide)))
    return content[:start] + end


@pytest.fixture(scope="module")
def bomb():
    """22 kB that say they unpack to little, and unpack to a quarter of a gigabyte."""
    columns = {
        "user": pa.array(["x" * LARGE], pa.string()),
        "lat": pa.array([41.5]),
        "lon": pa.array([2.5]),
    }
    options = {"compression": "zstd", "use_dictionary": False, "write_statistics": False}
    return lying(written.table(columns, **options))


def read(content):
    return list(read_checkins(io.BytesIO(content)))


def here(content):
    return list(parquet.batches(io.BytesIO(content), Options(), ReaderLimits(), 50_000))


def test_pages_are_believed_rather_than_the_end_of_the_file(bomb):
    assert len(bomb) < 50_000
    before = pa.default_memory_pool().max_memory()
    for look in (here, lambda content: preview(io.BytesIO(content))):
        with pytest.raises(ReaderError) as caught:
            look(bomb)
        assert caught.value.code == "bomb"
    assert pa.default_memory_pool().max_memory() - before < LARGE / 16


def test_a_bomb_is_refused_by_a_child_too(bomb):
    for look in (read, lambda content: child_process.preview(io.BytesIO(content))):
        with pytest.raises(ReaderError, match="send CSV instead") as caught:
            look(bomb)
        assert caught.value.code == "bomb"


def test_a_child_reads_what_would_be_read_here():
    content = written.parquet([*ROWS, ("", "", 95.0, 2.5)])
    (child,), (own,) = read(content), here(content)

    assert child.users == own.users
    assert child.rejected == own.rejected != []
    assert child.bytes_read == own.bytes_read
    for name in ("times", "lat", "lon"):
        assert getattr(child, name).tolist() == getattr(own, name).tolist()
    assert child_process.preview(io.BytesIO(content)) == preview(io.BytesIO(content))


SMALL_CSV = b"user,lat,lon\n" + b"007,41.5,2.5\n8,91,2\n,1,2\nn\xc3\xa9,1,x\n" * 300


@pytest.mark.parametrize(
    ("content", "module"),
    [
        (SMALL_CSV, "text_child"),
        (gzip.compress(SMALL_CSV), "text_child"),
        (SMALL_CSV + b"9,1,2\n" * 180_000, "child"),
        (b'{"user": 7, "lat": 41.5, "lon": 2.5}\n\n{"user": 7.0, "lat": 91, "lon": 2}\n[]\n', "text_child"),
        (b"7\t2012-04-07T17:42:00Z\t41.5\t2.5\t1\nx\n", "text_child"),
        (written.parquet([*ROWS, ("", "", 95.0, 2.5)]), "child"),
    ],
    ids=["csv", "gzip", "large csv", "ndjson", "snap", "parquet"],
)
def test_every_file_is_read_by_a_child_as_it_would_be_read_here(monkeypatch, content, module):
    started, children = process.started, []
    monkeypatch.setattr(
        process, "started", lambda *args, **how: children.append(args[0]) or started(*args, **how)
    )
    is_text = not content.startswith(parquet_magic.MAGIC)
    own = (
        text_child.batches(io.BytesIO(content), Options(), ReaderLimits(), 50_000)
        if is_text
        else here(content)
    )
    assert everything(read(content)) == everything(list(own))
    assert children == [f"heatmaps.ingest.formats.{module}"]


def test_a_pipe_is_read_by_a_child():
    """As `manage.py heatmap <(zcat many.csv.gz)` reads one."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(SMALL_CSV)
    with os.fdopen(reading, "rb") as stream:
        batches = list(read_checkins(stream))
    assert everything(batches) == everything(read(SMALL_CSV))


def everything(batches):
    return (
        [user for batch in batches for user in batch.users],
        [value for batch in batches for value in zip(batch.times, batch.lat, batch.lon, strict=True)],
        [rejection for batch in batches for rejection in batch.rejected],
    )


def test_a_child_that_may_not_take_what_it_needs_is_a_refusal(monkeypatch):
    monkeypatch.setattr(child_process, "_MEMORY_BYTES", 2**22)
    for content in (written.parquet(ROWS), SMALL_CSV, b'{"user": 7, "lat": 41.5, "lon": 2.5}\n'):
        with pytest.raises(ReaderError, match="more memory or time") as caught:
            read(content)
        assert caught.value.code == "costly"


def children():
    return {child for child in psutil.Process().children() if "heatmaps.children" in child.cmdline()}


def test_no_child_stays_when_nobody_reads_on():
    before = children()  # of other tests, whose errors still hold on to what they read
    content = written.parquet(ROWS * 2000)
    reading = child_process.batches(io.BytesIO(content), Options(), ReaderLimits(), 1000)
    assert len(next(reading).users) == 1000
    assert len(children() - before) == 1
    reading.close()

    assert not children() - before


@pytest.mark.parametrize("batch_rows", [liar.SLEEPS, liar.SAYS_TOO_MUCH, 10])
def test_a_child_that_sleeps_or_talks_for_ever_is_ended(monkeypatch, batch_rows):
    monkeypatch.setattr(child_process, "_TEXT_CHILD", "tests.ingest.formats.liar")
    monkeypatch.setattr(child_process, "_LEAST_SECONDS", 1)
    monkeypatch.setattr(child_process, "_ON_THE_CLOCK", 1)
    with pytest.raises(ReaderError) as refusal:
        list(child_process.batches(io.BytesIO(b"user,lat,lon\n"), Options(), ReaderLimits(), batch_rows))
    assert refusal.value.code == "costly"


def batch(
    *,
    names=("a",),
    text=None,
    ends=None,
    number=0,
    rejected=(),
    bytes_read=1,
    lat=41.5,
    lon=2.5,
    time=0,
    rows=1,
):
    column = NameColumn.of(names)
    text = column.text if text is None else text
    ends = column.ends if ends is None else np.array(ends, np.int64)
    facts = json.dumps({"rejected": rejected, "bytes_read": bytes_read}).encode()
    head = HEAD.pack(b"B", rows, len(facts), ends.size, len(text))
    return head + facts + text + ends.tobytes() + struct.pack("<iqdd", number, time, lat, lon)


def refusal(message):
    text = json.dumps({"code": "empty", "message": message}).encode()
    return HEAD.pack(b"R", 0, len(text), 0, 0) + text


def told(content):
    return list(frames.read_frames(io.BytesIO(content), most_rows=10))


def test_a_batch_that_is_well_formed_is_taken():
    (found,) = told(batch(rejected=[[1, "why"]], time=NO_TIME) + END)
    assert (found.users, found.lat.tolist(), found.times.tolist()) == (["a"], [41.5], [NO_TIME])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        batch()[:-1],
        batch(names=("a", "b")),
        batch(names=()),
        batch(names=("",)),
        batch(text=b"\xff"),
        batch(text=b"\xc3"),
        batch(text=b"\xed\xa0\x80"),
        batch(text=b"ab"),
        batch(text=b"", ends=[]),
        batch(text=b"a", ends=[]),
        batch(ends=[0]),
        batch(ends=[2]),
        batch(ends=[-1]),
        batch(ends=[2**63 - 1]),
        batch(rows=1, ends=[1, 1]),
        batch(number=1),
        batch(number=-1),
        batch(number=2**31 - 1),
        batch(lat=91.0),
        batch(lon=np.nan),
        batch(time=2**60),
        batch(rejected=[[1, 2]]),
        batch(rejected=[["1", "why"]]),
        batch(rejected=[[1, "x" * 501]]),
        batch(rejected=[[1, "why"]] * 11),
        batch(bytes_read="1"),
        batch(bytes_read=-1),
        batch(bytes_read=2**63),
        batch(rejected=[[1, "a\0b"]]),
        batch(rejected=[[1, "\ud800"]]),
        refusal("a\0b"),
        refusal("\udfff"),
        HEAD.pack(b"B", 11, 2, 0, 0) + b"{}",
        HEAD.pack(b"B", 1, 2**60, 0, 0),
        HEAD.pack(b"B", 1, 2, 1, 2**60) + b"{}",
        HEAD.pack(b"B", 1, 2, 2, 2) + b"{}ab",
        HEAD.pack(b"?", 0, 2, 0, 0) + b"{}",
        HEAD.pack(b"R", 0, 2, 0, 0) + b"{}",
        HEAD.pack(b".", 0, 2, 0, 0) + b"[]",
        HEAD.pack(b".", 0, 2, 0, 0) + b"{x",
    ],
)
def test_what_no_child_of_ours_says_is_not_believed(content):
    with pytest.raises(Broken):
        next(frames.read_frames(io.BytesIO(content), most_rows=10))


def rows_of(names, numbers):
    """A batch of several rows at one place."""
    facts, count = json.dumps({"rejected": [], "bytes_read": 1}).encode(), len(numbers)
    head = HEAD.pack(b"B", count, len(facts), names.ends.size, len(names.text))
    columns = (np.array(numbers, "<i4"), np.zeros(count, "<i8"), np.zeros(count), np.zeros(count))
    return head + facts + names.text + names.ends.tobytes() + b"".join(map(np.ndarray.tobytes, columns))


def test_names_are_taken_whatever_their_letters():
    (found,) = told(rows_of(NameColumn.of(["é", "a", "日本"]), [2, 0, 1, 2]) + END)
    assert found.names == ["é", "a", "日本"]
    assert found.users == ["日本", "é", "a", "日本"]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (b"x\xc3\xa9y", [2, 4]),  # in the middle of a character
        (b"abc", [2, 1, 3]),
        (b"ab", [1, 1, 2]),
        (b"abc", [2**63 - 1, -2, 3]),  # lengths would wrap around
        (b"ab", [1, 3]),
        (b"abc", [1, 2]),
    ],
)
def test_names_that_end_where_none_can_are_not_believed(text, ends):
    with pytest.raises(Broken):
        told(rows_of(NameColumn(text, np.array(ends, np.int64)), range(len(ends))) + END)


def test_a_child_that_ends_too_early_is_not_believed():
    for length in range(len(batch())):
        with pytest.raises(Broken):
            told(batch()[:length])
    with pytest.raises(Broken):
        told(batch())
