import django.db.models.deletion
from django.db import migrations, models

COLUMNS = ("persons", "lengths", "cells", "times", "outside")


def store_uncompressed(_apps, schema_editor):
    """A copy made for reading fast; hashes would not get smaller anyway."""
    if schema_editor.connection.vendor == "postgresql":
        changes = ", ".join(f"ALTER COLUMN {column} SET STORAGE EXTERNAL" for column in COLUMNS)
        schema_editor.execute(f"ALTER TABLE heatmaps_packedcheckins {changes}")


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0015_retention"),
    ]

    operations = [
        migrations.CreateModel(
            name="PackedCheckIns",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slot", models.PositiveSmallIntegerField()),
                *((column, models.BinaryField()) for column in COLUMNS),
                (
                    "upload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="packed",
                        to="heatmaps.upload",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("upload", "slot"), name="one_pack_per_slot")],
            },
        ),
        migrations.RunPython(store_uncompressed, migrations.RunPython.noop),
    ]
