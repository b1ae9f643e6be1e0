"""All tables, in place of the migrations that built them one after the other.

A database with every migration that is named in `replaces` has these tables; one with some of them is refused
by `heatmaps.schema`.
"""

from django.db import migrations

from heatmaps.migrations.tables_of_2026 import datasets, ledger, people, releases, shards, uploads

REPLACED = [
    "0001_tables",
    "0003_request_keys",
    "0004_ingest_options",
    "0005_questions",
    "0006_results",
    "0007_people",
    "0008_allowances",
    "0009_schedules",
    "0010_shards",
    "0011_delta",
    "0014_packed_checkins",
    "0015_retention",
    "0016_queue",
    "0017_packing_attempts",
    "0018_shard_pieces",
]
# Copies and sums that are made to be read fast: PostgreSQL would spend time on compressing them.
UNCOMPRESSED = {
    "heatmaps_packedcheckins": ["persons", "lengths", "cells", "times", "outside"],
    "heatmaps_shardpiece": ["content"],
}


def store_uncompressed(_apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for table, columns in UNCOMPRESSED.items():
            changes = ", ".join(f"ALTER COLUMN {column} SET STORAGE EXTERNAL" for column in columns)
            schema_editor.execute(f"ALTER TABLE {table} {changes}")


class Migration(migrations.Migration):
    initial = True
    replaces = [("heatmaps", name) for name in REPLACED]
    dependencies = [("auth", "0012_alter_user_first_name_max_length")]
    operations = [
        *datasets.TABLES,
        *ledger.TABLES,
        *releases.TABLES,
        *shards.TABLES,
        *uploads.TABLES,
        *people.TABLES,
        migrations.RunPython(store_uncompressed, migrations.RunPython.noop),
    ]
