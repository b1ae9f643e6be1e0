"""Datasets may read tables that stay in their owner's lake."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0020_invitations"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField("dataset", "source", models.CharField(blank=True, default="", max_length=60)),
        migrations.AddField(
            "dataset", "source_fingerprint", models.CharField(blank=True, default="", max_length=64)
        ),
        migrations.AddConstraint(
            "dataset",
            models.CheckConstraint(
                name="source_has_its_fingerprint",
                condition=Q(source="", source_fingerprint="")
                | (~Q(source="") & ~Q(source_fingerprint="") & Q(is_collection=False)),
            ),
        ),
        migrations.CreateModel(
            name="SourceState",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="source_states",
                        to="heatmaps.dataset",
                    ),
                ),
                (
                    "version",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="source_state",
                        to="heatmaps.dataversion",
                    ),
                ),
                ("snapshot", models.CharField(blank=True, default="", max_length=80)),
                ("opt_outs_snapshot", models.CharField(blank=True, default="", max_length=80)),
                ("checkins", models.BinaryField()),
                ("opt_outs", models.BinaryField()),
                ("columns", models.JSONField()),
                ("rows", models.BigIntegerField()),
                ("invalid", models.JSONField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="SourceSurvey",
            fields=[
                (
                    "dataset",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="source_survey",
                        serialize=False,
                        to="heatmaps.dataset",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "looking at the tables"),
                            ("done", "ready"),
                            ("failed", "failed"),
                        ],
                        default="waiting",
                        max_length=16,
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("due_at", models.DateTimeField(blank=True, null=True)),
                ("appears_at", models.DateTimeField()),
                ("tag", models.UUIDField(default=uuid.uuid4)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                (
                    "found",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="heatmaps.sourcestate",
                    ),
                ),
                ("failure", models.TextField(blank=True, default="")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        name="survey_by_somebody_or_due",
                        condition=Q(requested_by__isnull=False, due_at=None)
                        | Q(requested_by=None, due_at__isnull=False),
                    ),
                    models.CheckConstraint(
                        name="survey_done_has_found",
                        condition=Q(state="done", found__isnull=False) | (~Q(state="done") & Q(found=None)),
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="SourceReading",
            fields=[
                (
                    "release",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="source_reading",
                        serialize=False,
                        to="heatmaps.release",
                    ),
                ),
                ("tag", models.UUIDField(default=uuid.uuid4)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("begun_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("lease_until", models.DateTimeField(null=True)),
            ],
        ),
    ]
