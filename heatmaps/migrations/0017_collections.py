"""Datasets that people's devices fill in rounds."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):
    dependencies = [("heatmaps", "0016_index_of_places")]

    operations = [
        migrations.AddField("dataset", "is_collection", models.BooleanField(default=False)),
        migrations.AddConstraint(
            model_name="dataset",
            constraint=models.CheckConstraint(
                name="collection_exchanges_records",
                condition=Q(is_collection=False) | Q(relation="replace"),
            ),
        ),
        migrations.CreateModel(
            name="Collection",
            fields=[
                (
                    "dataset",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="collection",
                        serialize=False,
                        to="heatmaps.dataset",
                    ),
                ),
                ("question", models.CharField(max_length=300)),
                ("analyser_operator", models.CharField(max_length=120)),
                ("analyser_url", models.CharField(max_length=200)),
                ("shuffler_operator", models.CharField(max_length=120)),
                ("shuffler_url", models.CharField(max_length=200)),
                ("open_link", models.BooleanField(default=False)),
                ("token_sha256", models.CharField(max_length=64, unique=True)),
            ],
        ),
        migrations.CreateModel(
            name="Round",
            fields=[
                (
                    "release",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="round",
                        serialize=False,
                        to="heatmaps.release",
                    ),
                ),
                (
                    "reports_per_person",
                    models.PositiveSmallIntegerField(
                        validators=[django.core.validators.MinValueValidator(1)]
                    ),
                ),
                (
                    "least_honest",
                    models.PositiveIntegerField(validators=[django.core.validators.MinValueValidator(2)]),
                ),
                ("dishonest_share", models.CharField(max_length=80)),
                ("opens_at", models.DateTimeField()),
                ("closes_at", models.DateTimeField()),
                ("messages", models.PositiveIntegerField()),
                ("message_bytes", models.PositiveSmallIntegerField()),
                ("analyser_key", models.CharField(max_length=43)),
                ("page_sha384", models.CharField(blank=True, default="", max_length=64)),
                ("shuffler_key", models.CharField(blank=True, default="", max_length=43)),
                ("invitations", models.PositiveIntegerField(null=True)),
                ("invitations_sha256", models.CharField(blank=True, default="", max_length=64)),
                ("facts", models.TextField(blank=True, default="")),
                ("facts_sha256", models.CharField(blank=True, default="", max_length=64)),
                ("batch_sha256", models.CharField(blank=True, default="", max_length=64)),
                ("reports", models.PositiveIntegerField(null=True)),
                ("received_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        name="round_opens_before_it_closes", condition=Q(opens_at__lt=F("closes_at"))
                    ),
                    models.CheckConstraint(
                        name="round_facts_are_whole",
                        condition=Q(facts="", facts_sha256="", shuffler_key="", invitations=None)
                        | ~Q(facts="")
                        & ~Q(facts_sha256="")
                        & ~Q(shuffler_key="")
                        & Q(invitations__isnull=False),
                    ),
                    models.CheckConstraint(
                        name="round_batch_has_its_facts", condition=Q(reports=None) | ~Q(facts="")
                    ),
                ],
            },
        ),
    ]
