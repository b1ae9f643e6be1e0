"""Stewards store public district files with a dataset."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0011_embed_origins"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="DistrictFile",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("title", models.CharField(max_length=80)),
                ("source", models.CharField(max_length=300)),
                ("licence", models.CharField(blank=True, default="", max_length=120)),
                ("name_property", models.CharField(blank=True, default="", max_length=80)),
                ("areas", models.PositiveIntegerField()),
                ("corners", models.PositiveIntegerField()),
                ("content", models.BinaryField()),
                ("sha256", models.CharField(max_length=64)),
                ("stored_at", models.DateTimeField()),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="district_files",
                        to="heatmaps.dataset",
                    ),
                ),
                (
                    "stored_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"ordering": ["title"]},
        ),
        migrations.AddConstraint(
            model_name="districtfile",
            constraint=models.UniqueConstraint(
                fields=("dataset", "title"), name="one_district_file_per_title"
            ),
        ),
    ]
