"""Resolves a table to the Parquet files of its present state, without Spark.

Formats that change rows beside their files are refused by name: what deletes would be read again.
"""

from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Any, Final

import pyarrow as pa

from heatmaps.sources import manifest
from heatmaps.sources.manifest import Kind, Pinned, TableRefused
from heatmaps.sources.sources_file import CATALOG_FACTS, TableLocation

_CATALOG: Final = "hazemap"  # where none is named; in the environment: PYICEBERG_CATALOG__HAZEMAP__…
_INSTALL: Final = "this server lacks {}; install hazemap[spark] where sources are read"


def pinned(table: TableLocation, columns: Mapping[str, Kind]) -> Pinned:
    """Pins the table's state now. Errors: `TableRefused`."""
    snapshot, paths = {"parquet": _parquet, "iceberg": _iceberg, "delta": _delta}[table.kind](table, columns)
    if not paths and table.kind != "parquet":
        return manifest.empty(snapshot, columns)  # a format that keeps a list of its files has none
    return manifest.pin(snapshot, paths, columns)


def _parquet(table: TableLocation, columns: Collection[str]) -> tuple[str, list[str]]:
    del columns
    try:
        return "", manifest.files_below(table.location)
    except (OSError, pa.ArrowException):
        raise TableRefused(f"the folder {table.location} cannot be read") from None


def _iceberg(table: TableLocation, columns: Collection[str]) -> tuple[str, list[str]]:
    catalogs = _module("pyiceberg.catalog")
    _check_catalog(table)
    try:
        # Catalogs in a database know their tables by the catalog's name, too.
        properties = {"name": _CATALOG, **table.catalog}
        catalog: Any = catalogs.load_catalog(properties.pop("name"), **properties)
        iceberg_table = catalog.load_table(table.location)
        snapshot = iceberg_table.current_snapshot()
        _check_names(table, iceberg_table, columns)
        if snapshot is None:
            return "", []
        _check_deletes_nothing(table, snapshot.summary)
        tasks = list(iceberg_table.scan(snapshot_id=snapshot.snapshot_id).plan_files())
    except TableRefused:
        raise
    except Exception as error:  # noqa: BLE001 - the class only: a catalog's message may hold its password
        raise TableRefused(f"the table {table.location} cannot be read: {type(error).__name__}") from None
    if any(task.delete_files for task in tasks):
        raise _has_delete_files(table)
    if any(str(task.file.file_format).rpartition(".")[2].upper() != "PARQUET" for task in tasks):
        raise TableRefused(f"the table {table.location} has files that are not Parquet; rewrite them")
    return str(snapshot.snapshot_id), [task.file.file_path for task in tasks]


def _delta(table: TableLocation, columns: Collection[str]) -> tuple[str, list[str]]:
    delta = _module("deltalake")
    try:
        delta_table: Any = delta.DeltaTable(table.location)
        features = {*(delta_table.protocol().reader_features or ())} - _HARMLESS_FEATURES
        mapping = delta_table.metadata().configuration.get("delta.columnMapping.mode", "none")
        version = str(delta_table.version())
        paths = [_unquoted(table, delta_table, path) for path in delta_table.file_uris()]
        names = {field.name for field in delta_table.schema().fields}
    except Exception as error:  # noqa: BLE001 - as above
        raise TableRefused(f"the table {table.location} cannot be read: {type(error).__name__}") from None
    if mapping != "none":
        features.add("columnMapping")
    for feature in sorted(features):
        words = _REFUSED_FEATURES.get(feature, f"the feature {feature}")
        raise TableRefused(f"the table {table.location} has {words}; {_UNREADABLE}")
    _check_has(table, names, columns)
    return version, paths


def _unquoted(table: TableLocation, delta_table: Any, path: str) -> str:
    """Returns the path of a file as it is on the disk."""
    # The library writes the folder of a table on a disk as an address, and what is below it as it is.
    folder = delta_table.table_uri.removeprefix("file://")
    return f"{table.location.rstrip('/')}/{path[len(folder) :]}" if path.startswith(folder) else path


def _check_catalog(table: TableLocation) -> None:
    """Refuses another catalog that pyiceberg is told of elsewhere than in the file of sources."""
    # Whose check-ins are read the fingerprint of the file says.
    elsewhere = (
        _module("pyiceberg.utils.config").Config().get_catalog_config(table.catalog.get("name", _CATALOG))
        or {}
    )
    for key in CATALOG_FACTS:
        if key in elsewhere and key not in table.catalog:
            raise TableRefused(
                f"the environment or a file of pyiceberg says {key} of the catalog; say it in the file of "
                "sources, as it decides which table is read"
            )


def _check_has(table: TableLocation, names: Collection[str], columns: Collection[str]) -> None:
    """Refuses columns that the table's format does not name: files may hold columns that were dropped."""
    for column in columns:
        if column not in names:
            raise TableRefused(f"the table {table.location} has no column {column}")


def _check_names(table: TableLocation, iceberg_table: Any, columns: Collection[str]) -> None:
    """Refuses a column whose name meant another column before."""
    # Iceberg knows columns by numbers: older files have that name for the other one.
    fields = {field.name: field.field_id for field in iceberg_table.schema().fields}
    _check_has(table, fields, columns)
    now = {column: fields[column] for column in columns}
    for schema in iceberg_table.schemas().values():
        for field in schema.fields:
            if field.name in now and field.field_id != now[field.name]:
                raise TableRefused(
                    f"the column {field.name} of the table {table.location} was another column before; "
                    "rewrite the table under another name"
                )


def _check_deletes_nothing(table: TableLocation, summary: Any) -> None:
    if summary is not None and int(summary.get("total-delete-files", "0") or 0):
        raise _has_delete_files(table)


def _has_delete_files(table: TableLocation) -> TableRefused:
    return TableRefused(
        f"the table {table.location} has delete files; rewrite its data files (in Spark: "
        "CALL system.rewrite_data_files, with delete-file-threshold 1) and try again"
    )


# What changes nothing about which rows the files of a version hold.
_HARMLESS_FEATURES: Final = {"timestampNtz", "typeWidening", "v2Checkpoint", "vacuumProtocolCheck"}
_REFUSED_FEATURES: Final = {"deletionVectors": "deletion vectors", "columnMapping": "mapped columns"}
_UNREADABLE: Final = (
    "write it without them (REORG TABLE … APPLY (PURGE), then drop the feature) and try again"
)


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise TableRefused(_INSTALL.format(name.partition(".")[0])) from None
