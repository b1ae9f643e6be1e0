"""Manifests: a file that is not what it was is found, and what Spark would read otherwise is refused."""

import contextlib
import os
import tempfile
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest

from heatmaps.sources import manifest
from heatmaps.sources.manifest import NUMBER, TIME, USER, FilesChanged, Manifest, TableRefused

COLUMNS = {"user": USER, "lat": NUMBER, "time": TIME}
TIMES = pa.timestamp("us", tz="UTC")
PLAIN = {"user": ["a", "b"], "lat": [1.5, 2.5], "time": pa.array([1, 2], TIMES)}


@pytest.fixture
def put(tmp_path):
    """The path of a Parquet file of these columns instead."""

    def put(name="part-0.parquet", *, without=(), options=None, **columns):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        held = {key: value for key, value in (PLAIN | columns).items() if key not in without}
        pq.write_table(pa.table(held), path, **(options or {}))
        return str(path)

    return put


def pin(*paths, columns=COLUMNS):
    return manifest.pin("", paths, columns)


def refusal(*paths, columns=COLUMNS):
    with pytest.raises(TableRefused) as refused:
        pin(*paths, columns=columns)
    return str(refused.value)


# --- change -------------------------------------------------------------------------------------------


def touched(path):
    os.utime(path, ns=(1, Path(path).stat().st_mtime_ns + 1_000_000_000))


def swapped(path):
    """Other people, in a file of the same size and moment."""
    before = Path(path).stat()
    pq.write_table(pa.table(PLAIN | {"user": ["c", "d"]}), path)
    assert Path(path).stat().st_size == before.st_size
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def appended(path):
    with Path(path).open("ab") as file:
        file.write(b"PAR1")


def removed(path):
    Path(path).unlink()


def made_a_folder(path):
    Path(path).unlink()
    Path(path).mkdir()


@pytest.mark.parametrize("change", [touched, swapped, appended, removed, made_a_folder])
def test_a_changed_file_is_found(put, change):
    stored = pin(put("a.parquet"), put("b.parquet")).manifest
    stored.check()
    stored.check_listed()
    change(stored.files[1].path)
    with pytest.raises(FilesChanged):
        stored.check()
    if change is swapped:
        stored.check_listed()  # a folder's listing does not show it
    else:
        with pytest.raises(FilesChanged):
            stored.check_listed()


def test_a_link_that_leads_elsewhere_is_a_changed_file(put, tmp_path):
    first, second = put("first/a.parquet"), put("second/a.parquet", user=["c", "d"])
    link = tmp_path / "a.parquet"
    link.symlink_to(first)
    stored = pin(str(link)).manifest
    stored.check()
    link.unlink()
    link.symlink_to(second)
    os.utime(second, ns=(1, stored.files[0].modified_ns))
    stored.check_listed()
    with pytest.raises(FilesChanged):
        stored.check()


def test_a_manifest_is_stored_and_read_again(put):
    stored = pin(put("é %20.parquet"), put("b.parquet")).manifest
    again = Manifest.from_bytes(stored.to_bytes())
    assert again == stored
    assert again.sha256 == stored.sha256
    assert stored.size == sum(Path(path).stat().st_size for path in stored.paths)
    other = Manifest(snapshot="1", files=stored.files)
    assert other.sha256 != stored.sha256
    assert str(Path(stored.paths[0]).parent) not in repr(stored)


@pytest.mark.parametrize("moment", [2**63 - 1, -(2**63) + 1, (2**63 - 1) // 1000 + 1])
def test_a_time_that_stops_spark_is_named(put, moment):
    """One row would be enough, and nobody would be told which."""
    rows = {"user": ["a", "b", "c"], "lat": [1.5, 2.5, 3.5]}
    times = pa.array([0, None, moment], pa.timestamp("ms"))
    path = put(time=times, **rows)
    assert refusal(path) == f"the column time of {path} has a time that Spark cannot read; remove it"
    unknown = put("none.parquet", options={"write_statistics": False}, time=times, **rows)
    assert "milliseconds without statistics" in refusal(unknown)
    pin(put("micros.parquet", time=times.cast(pa.int64()).cast(pa.timestamp("us")), **rows))
    pin(put("near.parquet", time=pa.array([0, None, (2**63 - 1) // 1000], pa.timestamp("ms")), **rows))
    pin(put("empty.parquet", time=pa.array([None] * 3, pa.timestamp("ms")), **rows))


def test_rows_are_counted_by_the_footers(put):
    found = pin(put("a.parquet"), put("b.parquet", user=["c"], lat=[1.0], time=pa.array([1], TIMES)))
    assert found.rows == 3
    assert pin(put("c.parquet", user=[], lat=pa.array([], pa.float64()), time=pa.array([], TIMES),
                   options={}), columns={"lat": NUMBER}).rows == 0  # fmt: skip


def test_many_files_are_pinned_in_the_order_of_their_names(put):
    paths = [put(f"{number:03}.parquet") for number in range(300)]
    found = pin(*reversed(paths))
    assert found.manifest.paths == paths
    assert len(found.manifest.to_bytes()) < 300 * 150
    found.manifest.check()


# --- what is no file to read --------------------------------------------------------------------------


def test_what_is_not_parquet_is_refused_by_name(tmp_path, put):
    for name, content in {
        "empty": b"",
        "short": b"PAR1",
        "csv": b"user,lat\n" * 9,
        "cut": b"PAR1" + b"\0" * 20,
    }.items():
        path = tmp_path / f"{name}.parquet"
        path.write_bytes(content)
        assert f"{path} is not a Parquet file" in refusal(str(path))
    lies = tmp_path / "lies.parquet"
    lies.write_bytes(b"PAR1" + b"\x15" * 40 + (40).to_bytes(4, "little") + b"PAR1")
    assert f"{lies} cannot be read" in refusal(str(lies))
    long = tmp_path / "long.parquet"
    long.write_bytes(b"PAR1" + b"\0" * 20 + (2**31).to_bytes(4, "little") + b"PAR1")
    assert f"{long} is not a Parquet file" in refusal(str(long))
    assert "cannot be read" in refusal(str(tmp_path / "gone.parquet"))
    assert "the table has no files" in refusal()
    assert put("whole.parquet") in pin(put("whole.parquet")).manifest.paths


class Kms(pe.KmsClient):
    def __init__(self, _config):
        super().__init__()

    def wrap_key(self, key, _name):
        return key

    def unwrap_key(self, key, _name):
        return key


def test_an_encrypted_file_is_refused_by_name(tmp_path):
    path = tmp_path / "secret.parquet"
    factory = pe.CryptoFactory(Kms)
    asked = pe.EncryptionConfiguration(footer_key="k", column_keys={"k": ["user"]}, double_wrapping=False)
    properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), asked)
    table = pa.table(PLAIN)
    with pq.ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)
    assert f"{path} is not a Parquet file, or it is encrypted" in refusal(str(path))


@pytest.mark.parametrize("mark", list("*?[]{}\\^"))
def test_a_name_that_spark_takes_for_a_pattern_is_refused(put, mark):
    path = put(f"day{mark}1/a.parquet")
    assert f"{path} has one of" in refusal(path)


def test_too_many_files_are_refused_before_one_is_opened():
    paths = [f"/nowhere/{number}" for number in range(manifest.MOST_FILES + 1)]
    assert "at most 200000 are read: compact it" in refusal(*paths)


def test_a_folder_is_read_with_the_folders_below_it(tmp_path, put):
    shown = [put("day=2026-01-01/a b.parquet"), put("day=2026-01-01/c%20d.parquet"), put("e.parquet")]
    put("_temporary/x.parquet")
    put(".hidden/x.parquet")
    put("day=2026-01-01/_x.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".e.parquet.crc").touch()
    for root in (f"{tmp_path}", f"{tmp_path}/", f"file://{tmp_path}", f"file:{tmp_path}"):
        found = manifest.files_below(root)
        assert sorted(path.removeprefix("file://").removeprefix("file:") for path in found) == sorted(shown)
        pin(*found).manifest.check()
    with pytest.raises(OSError, match="nowhere"):
        manifest.files_below(f"{tmp_path}/nowhere")
    with pytest.raises(OSError):  # noqa: PT011 - whichever says that a file is no folder
        manifest.files_below(shown[0])


def test_a_file_that_may_hold_rows_under_another_name_is_refused(tmp_path, put):
    put()
    (tmp_path / "part-1").touch()
    with pytest.raises(TableRefused, match=r"part-1 has no name that ends with \.parquet"):
        manifest.files_below(str(tmp_path))


def test_a_folder_elsewhere_is_not_looked_for(put):
    path = put()
    assert manifest.folder_is_here(path)
    assert manifest.folder_is_here(f"file://{path}")
    assert not manifest.folder_is_here("/nowhere/at/all.parquet")
    for away in ("s3://bucket/a.parquet", "s3a://bucket/a.parquet", "hdfs://host/a", "strange://host/a"):
        assert not manifest.folder_is_here(away)


def test_an_address_that_nobody_knows_is_refused():
    assert "cannot be read" in refusal("strange://host/a.parquet")


# --- columns ------------------------------------------------------------------------------------------


def nested():
    return pa.array([{"user": "a"}, {"user": "b"}])


@pytest.mark.parametrize(
    ("column", "values", "kind"),
    [
        ("user", pa.array(["a", "b"], pa.large_string()), "text"),
        ("user", pa.array(["a", "b"]).dictionary_encode(), "text"),
        ("user", pa.array([1, 2], pa.int64()), "number"),
        ("user", pa.array([1, 2], pa.int8()), "number"),
        ("user", pa.array([1, 2], pa.uint64()), "number"),
        ("lat", pa.array([1, 2], pa.float32()), "double"),
        ("lat", pa.array([1, 2], pa.int32()), "number"),
        ("lat", pa.array([Decimal("1.25"), None], pa.decimal128(9, 6)), "number"),
        ("lat", pa.array([Decimal("1.25"), None], pa.decimal128(38, 30)), "number"),
        ("time", pa.array([1, 2], pa.timestamp("ms")), "local"),
        ("time", pa.array([1, 2], pa.timestamp("us")), "local"),
        ("time", pa.array([1, 2], pa.timestamp("ms", tz="Europe/Vienna")), "instant"),
    ],
)
def test_a_column_may_be_of_these_types(put, column, values, kind):
    assert pin(put(**{column: values})).kinds == {"user": "text", "lat": "double", "time": "instant"} | {
        column: kind
    }


@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        ("user", pa.array([b"a", b"b"]), "BYTE_ARRAY; it must hold text or whole numbers"),
        ("user", pa.array([1.0, 2.0]), "DOUBLE; it must hold text or whole numbers"),
        ("user", pa.array([True, False]), "BOOLEAN; it must hold text or whole numbers"),
        ("user", pa.array([date(2026, 1, 1)] * 2), "INT32 (Date); it must hold text or whole numbers"),
        ("user", pa.array([1, 2], pa.timestamp("us")), "it must hold text or whole numbers"),
        ("user", pa.array([Decimal(1), Decimal(2)]), "it must hold text or whole numbers"),
        ("lat", pa.array(["1.5", "2.5"]), "BYTE_ARRAY (String); it must hold numbers"),
        ("lat", pa.array([1, 2], pa.timestamp("us")), "it must hold numbers"),
        ("time", pa.array(["2026-01-01", "x"]), "BYTE_ARRAY (String); it must hold timestamps"),
        ("time", pa.array([1, 2], pa.timestamp("ns")), "timeUnit=nanoseconds"),
        ("time", pa.array([1, 2], pa.int64()), "INT64; it must hold timestamps"),
        ("time", pa.array([date(2026, 1, 1)] * 2), "INT32 (Date); it must hold timestamps"),
    ],
)
def test_another_type_is_refused_with_file_column_and_type(put, column, values, told):
    path = put(**{column: values})
    message = refusal(path)
    assert message.startswith(f"the column {column} of {path} is ")
    assert told in message


def test_times_of_old_spark_are_refused(put):
    path = put(options={"use_deprecated_int96_timestamps": True})
    assert f"the column time of {path} is INT96; it must hold timestamps" in refusal(path)


def test_a_missing_column_is_named_with_its_file(put):
    whole, lacking = put("a.parquet"), put("b.parquet", without=["lat"])
    assert refusal(whole, lacking) == f"{lacking} has no column lat; rewrite the table's files with it"
    other = put("c.parquet", without=["user"], User=["a", "b"])
    assert f"{other} has no column user" in refusal(other)


def test_a_column_has_one_type_in_all_files(put):
    first, second = put("a.parquet", user=[1, 2]), put("b.parquet")
    assert refusal(first, second) == (
        f"the column user is INT64 in {first} and BYTE_ARRAY (String) in {second}; rewrite them with one type"
    )
    small = put("c.parquet", lat=pa.array([1, 2], pa.float32()))
    assert f"the column lat is DOUBLE in {second} and FLOAT in {small}" in refusal(second, small)


def test_a_name_with_a_point_is_one_column(put):
    columns = {"a.b": USER}
    assert pin(put(**{"a.b": ["x", "y"]}), columns=columns).kinds == {"a.b": "text"}
    for values in (pa.array([{"b": "x"}, {"b": "y"}]), pa.array([["x"], ["y"]])):
        assert "has no column a.b" in refusal(put(a=values), columns=columns)
    assert "has no column user" in refusal(put(user=nested()))
    both = put(**{"a": pa.array([{"b": 1}, {"b": 2}]), "a.b": ["x", "y"]})
    assert pin(both, columns=columns).kinds == {"a.b": "text"}


def test_names_differ_by_case(put):
    path = put(User=[1, 2])
    assert pin(path, columns={"user": USER}).kinds == {"user": "text"}
    assert pin(path, columns={"User": USER}).kinds == {"User": "number"}


# --- who sees the files -------------------------------------------------------------------------------


@contextlib.contextmanager
def as_somebody_else():
    """Rights count for nothing where the tests run as root."""
    own = os.geteuid()
    if own == 0:
        os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(own)


@pytest.mark.parametrize("closed", ["lake", "lake/checkins"])
def test_folders_that_may_not_be_looked_into_are_not_here(closed):
    """Web and clock need no right to the lake: they neither stop nor take its files for changed."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root, "lake", "checkins")
        folder.mkdir(parents=True)
        path = folder / "part-0.parquet"
        path.write_bytes(b"")
        for each in (Path(root), folder.parent, folder):
            each.chmod(0o755)
        with as_somebody_else():
            assert manifest.folder_is_here(str(path))
        Path(root, closed).chmod(0 if os.geteuid() else 0o700)
        with as_somebody_else():
            assert not manifest.folder_is_here(str(path))
        Path(root, closed).chmod(0o755)
        path.unlink()
        with as_somebody_else():
            assert manifest.folder_is_here(str(path))  # its file is gone
