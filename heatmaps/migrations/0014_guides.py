"""Releases name the public map they begin from, and the version that draws them."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0013_names_of_releases"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="GuideFile",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("title", models.CharField(max_length=80)),
                ("source", models.CharField(max_length=300)),
                ("licence", models.CharField(blank=True, default="", max_length=120)),
                ("file_sha256", models.CharField(max_length=64)),
                ("shares", models.BinaryField()),
                ("sha256", models.CharField(max_length=64)),
                ("stored_at", models.DateTimeField()),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="guide_files",
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
            options={"ordering": ["-stored_at"]},
        ),
        migrations.AddConstraint(
            model_name="guidefile",
            constraint=models.UniqueConstraint(fields=("dataset", "title"), name="one_guide_file_per_title"),
        ),
        migrations.AddField("release", "mechanism_version", models.PositiveSmallIntegerField(default=1)),
        migrations.AddField(
            "release", "guide_sha256", models.CharField(blank=True, default="", max_length=64)
        ),
        migrations.AddField(
            "release",
            "guide_release",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="guided_releases",
                to="heatmaps.release",
            ),
        ),
        migrations.AddField(
            "release",
            "guide_file",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="guided_releases",
                to="heatmaps.guidefile",
            ),
        ),
        migrations.AddConstraint(
            model_name="release",
            constraint=models.CheckConstraint(
                condition=Q(guide_sha256="", guide_release=None, guide_file=None)
                | Q(~Q(guide_sha256=""), guide_release__isnull=False, guide_file=None)
                | Q(~Q(guide_sha256=""), guide_release=None, guide_file__isnull=False),
                name="release_has_one_guide_or_none",
            ),
        ),
        migrations.AddField(
            "requestkey", "body_sha256", models.CharField(blank=True, default="", max_length=64)
        ),
    ]
