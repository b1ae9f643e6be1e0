"""Resolves a table to the Parquet files of its present state, without Spark.

Formats that change rows beside their files are refused by name: what deletes would be read again.
"""

from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Any, Final

from heatmaps.sources import manifest
from heatmaps.sources.manifest import Kind, Pinned, TableRefused
from heatmaps.sources.sources_file import Table

_INSTALL: Final = "this server lacks {}; install hazemap[spark] where sources are read"


def pinned(table: Table, columns: Mapping[str, Kind]) -> Pinned:
    """The table's state now. Errors: `TableRefused`."""
    snapshot, paths = {"parquet": _parquet, "iceberg": _iceberg, "delta": _delta}[table.kind](table, columns)
    return manifest.pin(snapshot, paths, columns)


def _parquet(table: Table, columns: Collection[str]) -> tuple[str, list[str]]:
    del columns
    try:
        return "", manifest.files_below(table.location)
    except OSError:
        raise TableRefused(f"the folder {table.location} cannot be read") from None


def _iceberg(table: Table, columns: Collection[str]) -> tuple[str, list[str]]:
    catalogs = _module("pyiceberg.catalog")
    try:
        found: Any = catalogs.load_catalog("hazemap", **table.catalog).load_table(table.location)
        snapshot = found.current_snapshot()
        if snapshot is None:
            return "", []
        tasks = list(found.scan(snapshot_id=snapshot.snapshot_id).plan_files())
    except Exception as error:  # noqa: BLE001 - the class only: a catalog's message may hold its password
        raise TableRefused(f"the table {table.location} cannot be read: {type(error).__name__}") from None
    _check_names(table, found, columns)
    if any(task.delete_files for task in tasks):
        raise TableRefused(
            f"the table {table.location} has delete files; rewrite its data files (in Spark: "
            "CALL system.rewrite_data_files, with delete-file-threshold 1) and try again"
        )
    if any(str(task.file.file_format).rpartition(".")[2].upper() != "PARQUET" for task in tasks):
        raise TableRefused(f"the table {table.location} has files that are not Parquet; rewrite them")
    return str(snapshot.snapshot_id), [task.file.file_path for task in tasks]


def _delta(table: Table, columns: Collection[str]) -> tuple[str, list[str]]:
    del columns
    delta = _module("deltalake")
    try:
        found: Any = delta.DeltaTable(table.location)
        features = {*(found.protocol().reader_features or ())}
        mapping = found.metadata().configuration.get("delta.columnMapping.mode", "none")
        version, paths = str(found.version()), list(found.file_uris())
    except Exception as error:  # noqa: BLE001 - as above
        raise TableRefused(f"the table {table.location} cannot be read: {type(error).__name__}") from None
    if mapping != "none":
        features.add("columnMapping")
    for feature, words in _REFUSED_FEATURES.items():
        if feature in features:
            raise TableRefused(f"the table {table.location} has {words}; {_UNREADABLE}")
    return version, paths


def _check_names(table: Table, found: Any, columns: Collection[str]) -> None:
    """Iceberg knows columns by numbers: a name that meant another column before is in older files as that."""
    now = {column: found.schema().find_field(column).field_id for column in columns if column in _names(found.schema())}
    for schema in found.schemas().values():
        for field in schema.fields:
            if field.name in now and field.field_id != now[field.name]:
                raise TableRefused(
                    f"the column {field.name} of the table {table.location} was another column before; rewrite "
                    "the table under another name"
                )


def _names(schema: Any) -> set[str]:
    return {field.name for field in schema.fields}


_REFUSED_FEATURES: Final = {"deletionVectors": "deletion vectors", "columnMapping": "mapped columns"}
_UNREADABLE: Final = "write it without them (REORG TABLE … APPLY (PURGE), then drop the feature) and try again"


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise TableRefused(_INSTALL.format(name.split(".")[0])) from None
