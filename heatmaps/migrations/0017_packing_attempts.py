import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0016_queue"),
    ]

    operations = [
        migrations.CreateModel(
            name="PackingAttempts",
            fields=[
                (
                    "upload",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="packing",
                        serialize=False,
                        to="heatmaps.upload",
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("next_at", models.DateTimeField()),
            ],
        ),
    ]
