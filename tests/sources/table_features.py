"""What other engines write into tables, and the libraries here do not: deletes beside files, features."""

import json
from pathlib import Path

import pyarrow.parquet as pq
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestWriterV2,
)
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import _FastAppendFiles


class _Deletes(ManifestWriterV2):
    def content(self):
        return ManifestContent.DELETES

    @property
    def _meta(self):
        return super()._meta | {"content": "deletes"}


class _AppendDeletes(_FastAppendFiles):
    def new_manifest_writer(self, spec):
        return _Deletes(
            spec,
            self._transaction.table_metadata.schema(),
            self.new_manifest_output(),
            self._snapshot_id,
            self._compression,
        )


def delete_beside(table, content, rows, path):
    """Deletes of an Iceberg table in a file of their own, as engines write that merge when they read."""
    pq.write_table(rows, path)
    file = DataFile.from_args(
        content=content,
        file_path=f"file://{path}",
        file_format=FileFormat.PARQUET,
        partition={},
        record_count=1,
        equality_ids=[1] if content == DataFileContent.EQUALITY_DELETES else None,
        file_size_in_bytes=Path(path).stat().st_size,
        _table_format_version=2,
    )
    file.spec_id = 0
    with table.transaction() as transaction:
        producer = _AppendDeletes(operation=Operation.DELETE, transaction=transaction, io=table.io)
        producer.append_data_file(file)
        producer.commit()


def add_delta_features(location, features, configuration):
    """A commit that raises a Delta table's protocol, as Spark writes it."""
    log = Path(location) / "_delta_log"
    lines = (log / "00000000000000000000.json").read_text().splitlines()
    [metadata] = [json.loads(line)["metaData"] for line in lines if "metaData" in line]
    protocol = {"minReaderVersion": 2, "minWriterVersion": 5}
    if features is not None:
        named = {"readerFeatures": features, "writerFeatures": features}
        protocol = {"minReaderVersion": 3, "minWriterVersion": 7} | named
    if any("columnMapping" in key for key in configuration):
        schema = json.loads(metadata["schemaString"])
        for number, field in enumerate(schema["fields"]):
            mapped = {"id": number, "physicalName": field["name"]}
            field["metadata"] = {f"delta.columnMapping.{key}": value for key, value in mapped.items()}
        metadata["schemaString"] = json.dumps(schema)
    actions = [{"protocol": protocol}, {"metaData": metadata | {"configuration": configuration}}]
    text = "\n".join(map(json.dumps, actions))
    (log / "00000000000000000001.json").write_text(text)
