"""What administrators read of datasets they are no members of is written down, in a chain of its own."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from heatmaps.migrations.tables_of_2026.append_only import READS, refuse_changes


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0004_person_hashes"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AdministratorRead",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sequence", models.PositiveBigIntegerField()),
                ("at_seconds", models.BigIntegerField()),
                ("page", models.CharField(max_length=80)),
                ("previous_hash", models.CharField(max_length=64)),
                ("hash", models.CharField(max_length=64)),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="administrator_reads",
                        to="heatmaps.dataset",
                    ),
                ),
                (
                    "reader",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["dataset", "sequence"],
                "constraints": [
                    models.UniqueConstraint(fields=("dataset", "sequence"), name="one_read_per_sequence")
                ],
                "indexes": [models.Index(fields=["dataset", "at_seconds"], name="read_lately")],
            },
        ),
        refuse_changes(forwards=READS.creating, backwards=READS.dropping),
    ]
