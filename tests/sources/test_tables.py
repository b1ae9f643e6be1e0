"""Real Iceberg and Delta tables: their state is pinned, what would be read otherwise is refused by name."""

import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog import load_catalog
from pyiceberg.manifest import DataFileContent
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, StringType

from heatmaps.sources import tables
from heatmaps.sources.manifest import NUMBER, USER, FilesChanged, TableRefused
from heatmaps.sources.sources_file import TableLocation
from tests.sources.table_features import add_delta_features, delete_beside

COLUMNS = {"user": USER, "lat": NUMBER}
ROWS = pa.table({"user": ["a", "b", "c"], "lat": [1.0, 2.0, 3.0], "city": ["x y", "x y", "ü%20"]})


@pytest.fixture
def iceberg(tmp_path):
    """The catalog, and what a source says of a table of it."""
    facts = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/lake"}
    catalog = load_catalog("hazemap", **facts)
    catalog.create_namespace("city")
    return catalog, TableLocation(kind="iceberg", location="city.checkins", catalog=facts)


@pytest.fixture
def delta(tmp_path):
    return TableLocation(kind="delta", location=f"{tmp_path}/a lake/checkins")


def refusal(table, columns=COLUMNS):
    with pytest.raises(TableRefused) as refused:
        tables.pinned(table, columns)
    return str(refused.value)


def rows_of(pinned):
    files = [pq.read_table(path.removeprefix("file://"), partitioning=None) for path in pinned.manifest.paths]
    return sorted(user for file in files for user in file["user"].to_pylist())


# --- Iceberg ------------------------------------------------------------------------------------------


def test_a_snapshot_of_iceberg_stays_although_the_table_moves_on(iceberg):
    catalog, table = iceberg
    made = catalog.create_table("city.checkins", schema=ROWS.schema)
    made.append(ROWS)
    first = tables.pinned(table, COLUMNS)
    assert first.manifest.snapshot == str(made.current_snapshot().snapshot_id)
    assert (rows_of(first), first.rows) == (["a", "b", "c"], 3)
    made.append(ROWS)
    second = tables.pinned(table, COLUMNS)
    assert (len(first.manifest.files), len(second.manifest.files), second.rows) == (1, 2, 6)
    made.overwrite(ROWS.slice(0, 1))
    third = tables.pinned(table, COLUMNS)
    assert (rows_of(third), rows_of(first)) == (["a"], ["a", "b", "c"])
    first.manifest.check()
    made.delete("user = 'a'")
    assert tables.pinned(table, COLUMNS).manifest.files == ()


def test_an_iceberg_table_without_a_row_has_no_files(iceberg):
    catalog, table = iceberg
    catalog.create_table("city.checkins", schema=ROWS.schema)
    found = tables.pinned(table, COLUMNS)
    assert (found.manifest.files, found.manifest.snapshot, found.rows) == ((), "", 0)
    assert found.kinds == {"user": "text", "lat": "double"}
    found.manifest.check()
    assert refusal(table, {"device": USER}) == "the table city.checkins has no column device"


@pytest.mark.parametrize("fact", ["uri", "type", "warehouse", "glue.id", "client.region"])
def test_nothing_but_the_file_of_sources_names_the_catalog(iceberg, monkeypatch, fact):
    """The fingerprint that a dataset keeps is of that file: else other people could be read in its place."""
    catalog, table = iceberg
    catalog.create_table("city.checkins", schema=ROWS.schema)
    facts = {key: value for key, value in table.catalog.items() if key != fact}
    name = fact.replace(".", "__").upper()
    monkeypatch.setenv(f"PYICEBERG_CATALOG__HAZEMAP__{name}", table.catalog.get(fact, "other"))
    monkeypatch.setenv("PYICEBERG_CATALOG__HAZEMAP__CREDENTIAL", "secret")
    told = refusal(TableLocation(kind="iceberg", location="city.checkins", catalog=facts))
    assert told == (
        f"the environment or a file of pyiceberg says {fact} of the catalog; say it in the file of "
        "sources, as it decides which table is read"
    )
    named = TableLocation(
        kind="iceberg", location="city.checkins", catalog={"client.region": "", **table.catalog}
    )
    monkeypatch.delenv("PYICEBERG_CATALOG__HAZEMAP__GLUE__ID", raising=False)
    assert tables.pinned(named, COLUMNS).rows == 0


def test_partitions_of_iceberg_are_read(iceberg):
    catalog, table = iceberg
    made = catalog.create_table("city.checkins", schema=ROWS.schema)
    with made.update_spec() as spec:
        spec.add_field("city", IdentityTransform())
    made.append(ROWS)
    found = tables.pinned(table, COLUMNS | {"city": USER})
    assert (len(found.manifest.files), rows_of(found)) == (2, ["a", "b", "c"])


def test_a_renamed_column_of_iceberg_is_refused(iceberg):
    catalog, table = iceberg
    made = catalog.create_table("city.checkins", schema=ROWS.schema)
    made.append(ROWS)
    with made.update_schema() as schema:
        schema.rename_column("user", "device")
    assert "has no column device; rewrite" in refusal(table, {"device": USER})
    assert refusal(table) == "the table city.checkins has no column user"  # the files have it still


def test_a_name_that_another_column_had_is_refused(iceberg):
    catalog, table = iceberg
    made = catalog.create_table("city.checkins", schema=ROWS.schema)
    made.append(ROWS)
    for old, new in (("user", "former"), ("city", "user")):
        with made.update_schema() as schema:
            schema.rename_column(old, new)
    assert "the column user of the table city.checkins was another column before" in refusal(table)


def test_a_column_that_was_dropped_and_made_again_is_refused(iceberg):
    catalog, table = iceberg
    made = catalog.create_table("city.checkins", schema=ROWS.schema)
    made.append(ROWS)
    with made.update_schema() as schema:
        schema.delete_column("user")
    with made.update_schema() as schema:
        schema.add_column("user", StringType())
    assert "was another column before" in refusal(table)


def test_a_column_that_grew_is_refused_until_the_files_are_rewritten(iceberg):
    catalog, table = iceberg
    small = pa.table({"user": pa.array([1], pa.int32()), "lat": [1.0]})
    made = catalog.create_table("city.checkins", schema=small.schema)
    made.append(small)
    with made.update_schema() as schema:
        schema.update_column("user", LongType())
    made.append(pa.table({"user": pa.array([2], pa.int64()), "lat": [1.0]}))
    assert "rewrite them with one type" in refusal(table)


@pytest.mark.parametrize("content", [DataFileContent.POSITION_DELETES, DataFileContent.EQUALITY_DELETES])
def test_delete_files_of_iceberg_are_refused_by_name(iceberg, tmp_path, content):
    catalog, table = iceberg
    made = catalog.create_table("city.checkins", schema=ROWS.schema, properties={"format-version": "2"})
    made.append(ROWS)
    [task] = made.scan().plan_files()
    deleted = {"file_path": [task.file.file_path], "pos": pa.array([0], pa.int64())}
    if content == DataFileContent.EQUALITY_DELETES:
        deleted = {"user": ["a"]}
    delete_beside(made, content, pa.table(deleted), tmp_path / "deletes.parquet")
    assert len(catalog.load_table("city.checkins").inspect.delete_files()) == 1
    message = refusal(table)
    assert message.startswith("the table city.checkins has delete files; rewrite its data files")


def test_a_table_that_is_not_there_is_refused(iceberg, delta, tmp_path):
    _, table = iceberg
    assert refusal(table) == "the table city.checkins cannot be read: NoSuchTableError"
    assert refusal(delta) == f"the table {delta.location} cannot be read: TableNotFoundError"
    nowhere = TableLocation(kind="parquet", location=str(tmp_path / "nowhere"))
    assert refusal(nowhere) == f"the folder {nowhere.location} cannot be read"
    strange = TableLocation(kind="parquet", location="strange://host/x")
    assert refusal(strange) == "the folder strange://host/x cannot be read"
    (tmp_path / "empty").mkdir()
    assert (
        refusal(TableLocation(kind="parquet", location=str(tmp_path / "empty"))) == "the table has no files"
    )


def test_what_a_catalog_says_is_not_told(tmp_path):
    facts = {"type": "sql", "uri": f"sqlite:///{tmp_path}/nowhere/secret.db"}
    message = refusal(TableLocation(kind="iceberg", location="city.checkins", catalog=facts))
    assert message.startswith("the table city.checkins cannot be read: ")
    assert "secret" not in message


@pytest.mark.parametrize("kind", ["iceberg", "delta"])
def test_a_missing_package_is_told(monkeypatch, kind):
    package = {"iceberg": "pyiceberg", "delta": "deltalake"}[kind]
    monkeypatch.setitem(sys.modules, {"iceberg": "pyiceberg.catalog", "delta": "deltalake"}[kind], None)
    message = refusal(TableLocation(kind=kind, location="/x"))
    assert message == f"this server lacks {package}; install hazemap[spark] where sources are read"


# --- Delta --------------------------------------------------------------------------------------------


def test_a_version_of_delta_stays_although_the_table_moves_on(delta):
    write_deltalake(delta.location, ROWS)
    first = tables.pinned(delta, COLUMNS)
    assert (first.manifest.snapshot, rows_of(first), first.rows) == ("0", ["a", "b", "c"], 3)
    write_deltalake(delta.location, ROWS, mode="append")
    assert tables.pinned(delta, COLUMNS).rows == 6
    DeltaTable(delta.location).delete("user = 'a'")
    third = tables.pinned(delta, COLUMNS)
    assert (third.manifest.snapshot, rows_of(third)) == ("2", ["b", "b", "c", "c"])
    assert rows_of(first) == ["a", "b", "c"]
    first.manifest.check()
    DeltaTable(delta.location).vacuum(0, enforce_retention_duration=False, dry_run=False)
    with pytest.raises(FilesChanged):
        first.manifest.check()


def test_partitions_of_delta_are_read_from_folders_of_any_name(delta):
    write_deltalake(delta.location, ROWS, partition_by=["city"])
    found = tables.pinned(delta, COLUMNS)
    assert (len(found.manifest.files), rows_of(found)) == (2, ["a", "b", "c"])
    assert "has no column city; rewrite the table's files with it" in refusal(delta, COLUMNS | {"city": USER})


def test_a_delta_table_without_a_row_has_no_files(delta):
    DeltaTable.create(delta.location, schema=ROWS.schema)
    found = tables.pinned(delta, COLUMNS)
    assert (found.manifest.files, found.manifest.snapshot, found.rows) == ((), "0", 0)
    assert refusal(delta, {"device": USER}) == f"the table {delta.location} has no column device"


@pytest.mark.parametrize(
    ("features", "configuration", "told"),
    [
        (["deletionVectors"], {"delta.enableDeletionVectors": "true"}, "deletion vectors"),
        (["columnMapping"], {"delta.columnMapping.mode": "name"}, "mapped columns"),
        (None, {"delta.columnMapping.mode": "id"}, "mapped columns"),
        (["variantType"], {}, "the feature variantType"),
    ],
)
def test_delta_tables_that_are_not_their_files_are_refused_by_name(delta, features, configuration, told):
    write_deltalake(delta.location, ROWS)
    add_delta_features(delta.location, features, configuration)
    assert refusal(delta).startswith(f"the table {delta.location} has {told}; write it without them")


def test_features_of_delta_that_change_no_row_are_read(delta):
    write_deltalake(delta.location, ROWS)
    add_delta_features(delta.location, ["timestampNtz", "v2Checkpoint"], {})
    assert tables.pinned(delta, COLUMNS).rows == 3
