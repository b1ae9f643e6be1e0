"""Where check-ins of an upload are, and a table of them that needs no index but its key."""

import django.db.models.deletion
from django.db import migrations, models

from heatmaps.migrations.tables_of_2026.columns import KeyField


def fill_pages(_apps, schema_editor):
    """Leaves no room in pages of an index of which keys only grow."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER INDEX heatmaps_numberedcheckin_pkey SET (fillfactor = 100)")


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0032_entering_rows")]

    operations = [
        migrations.CreateModel(
            "Extent",
            [
                ("id", models.AutoField(primary_key=True, serialize=False)),
                (
                    "upload",
                    models.ForeignKey(
                        "heatmaps.upload", django.db.models.deletion.CASCADE, related_name="extents"
                    ),
                ),
                ("first", models.BigIntegerField()),
                ("last", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            "NumberedCheckIn",
            [
                ("id", KeyField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("person", models.BigIntegerField()),
                ("person_rest", models.BigIntegerField(db_default=0, default=0)),
                ("cell", models.BigIntegerField()),
                ("time", models.BigIntegerField(null=True)),
                (
                    "extent",
                    models.ForeignKey(
                        "heatmaps.extent",
                        django.db.models.deletion.DO_NOTHING,
                        related_name="checkins",
                        db_constraint=False,
                        db_index=False,
                    ),
                ),
                ("outside", models.BooleanField(default=False)),
            ],
        ),
        migrations.RunPython(fill_pages, migrations.RunPython.noop),
    ]
