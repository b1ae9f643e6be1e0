import uuid

import django.db.models.deletion
from django.db import migrations, models


def store_uncompressed(_apps, schema_editor):
    """Partial sums live for seconds: PostgreSQL would spend more of them on compressing."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE heatmaps_shard ALTER COLUMN content SET STORAGE EXTERNAL")


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0009_schedules"),
    ]

    operations = [
        migrations.CreateModel(
            name="FanOut",
            fields=[
                (
                    "release",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="fan_out",
                        serialize=False,
                        to="heatmaps.release",
                    ),
                ),
                ("left", models.PositiveIntegerField()),
                ("elected", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Shard",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("number", models.PositiveIntegerField()),
                ("of", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("claimed", "claimed"), ("done", "done")],
                        default="waiting",
                        max_length=16,
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("lease_until", models.DateTimeField(null=True)),
                ("content", models.BinaryField(null=True)),
                (
                    "fan_out",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shards",
                        to="heatmaps.fanout",
                    ),
                ),
            ],
            options={
                "ordering": ["fan_out", "number"],
                "constraints": [
                    models.UniqueConstraint(fields=("fan_out", "number"), name="one_shard_per_number")
                ],
            },
        ),
        migrations.RunPython(store_uncompressed, migrations.RunPython.noop),
    ]
