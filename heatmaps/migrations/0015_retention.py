"""Check-ins that leave a dataset after a public number of days."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0011_delta")]

    operations = [
        migrations.AddField(
            "dataset",
            "retention_days",
            models.PositiveIntegerField(
                null=True, blank=True, validators=[django.core.validators.MinValueValidator(1)]
            ),
        ),
        migrations.AddConstraint(
            "dataset",
            models.CheckConstraint(
                name="dataset_keeps_for_some_days",
                condition=Q(retention_days=None) | Q(retention_days__gte=1),
            ),
        ),
        migrations.AddField("dataversion", "kept_from", models.DateField(null=True, blank=True)),
        migrations.AddField("dataversion", "is_cleared", models.BooleanField(default=False)),
        migrations.AddIndex(
            "dataversion",
            models.Index(
                fields=["dataset"],
                condition=Q(kept_from__isnull=False, is_cleared=False),
                name="version_not_cleared",
            ),
        ),
        migrations.AddField("upload", "kept_from", models.DateField(null=True, blank=True)),
        migrations.AddField("upload", "rows_expired", models.BigIntegerField(default=0)),
        migrations.CreateModel(
            name="Enrolment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("person", models.BigIntegerField()),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="enrolments",
                        to="heatmaps.dataset",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("dataset", "person"), name="enrolled_once")],
            },
        ),
    ]
