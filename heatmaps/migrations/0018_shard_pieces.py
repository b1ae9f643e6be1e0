import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Count


def read_again(apps, _schema_editor):
    """Partial sums of releases that are going on were written in another form, which goes with its column."""
    for fan_out in apps.get_model("heatmaps", "FanOut").objects.filter(elected=False):
        fan_out.shards.filter(state="done").update(state="waiting", lease_until=None)
        fan_out.left = fan_out.shards.aggregate(all=Count("id"))["all"]
        fan_out.save()


def store_uncompressed(_apps, schema_editor):
    """Partial sums live for seconds: PostgreSQL would spend more of them on compressing."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE heatmaps_shardpiece ALTER COLUMN content SET STORAGE EXTERNAL")


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0017_packing_attempts"),
    ]

    operations = [
        migrations.RunPython(read_again, migrations.RunPython.noop),
        migrations.RemoveField(
            model_name="shard",
            name="content",
        ),
        migrations.CreateModel(
            name="ShardPiece",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("content", models.BinaryField()),
                (
                    "shard",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pieces",
                        to="heatmaps.shard",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("shard", "number"), name="one_piece_per_number")
                ],
            },
        ),
        migrations.RunPython(store_uncompressed, migrations.RunPython.noop),
    ]
