"""An installation knows what must not go back: elections of draws are kept for good."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from heatmaps.migrations.tables_of_2026.append_only import ELECTIONS, refuse_changes


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0021_sources"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Installation",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("identity", models.UUIDField(default=uuid.uuid4)),
                ("held_since", models.DateTimeField(null=True)),
                (
                    "hold_cause",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("older", "the database is older than what this server has seen"),
                            ("restored", "the database was restored from a backup"),
                            ("no_record", "the record of this server's draws is missing"),
                            (
                                "other_place",
                                "the record or the database was copied or moved from another place",
                            ),
                        ],
                        default="",
                        max_length=16,
                    ),
                ),
                ("confirm_before", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("pk", 1)), name="one_row_of_installation"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("held_since", None), ("hold_cause", "")),
                            models.Q(
                                ("held_since__isnull", False), models.Q(("hold_cause", ""), _negated=True)
                            ),
                            _connector="OR",
                        ),
                        name="hold_has_a_cause",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Restoration",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("known_until", models.DateTimeField()),
                ("resumed_at", models.DateTimeField()),
                ("opt_outs_replayed", models.BooleanField(default=False)),
                ("confirmed_at", models.DateTimeField(null=True)),
                (
                    "confirmed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="restorations",
                        to="heatmaps.dataset",
                    ),
                ),
            ],
            options={
                "ordering": ["-resumed_at"],
            },
        ),
        migrations.CreateModel(
            name="RestoredCharge",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("amount", models.BigIntegerField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="restored_charges",
                        to="heatmaps.account",
                    ),
                ),
                (
                    "restoration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="charges",
                        to="heatmaps.restoration",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Election",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ("attempt", models.PositiveIntegerField(default=1)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("recorder", models.UUIDField(null=True)),
                (
                    "release",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="elections",
                        to="heatmaps.release",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("release", "attempt"), name="one_election_an_attempt")
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="restoration",
            constraint=models.UniqueConstraint(
                condition=models.Q(("confirmed_at", None)),
                fields=("dataset",),
                name="one_restoration_waits_a_dataset",
            ),
        ),
        migrations.AddConstraint(
            model_name="restoredcharge",
            constraint=models.UniqueConstraint(
                fields=("restoration", "account"), name="one_restored_charge_an_account"
            ),
        ),
        refuse_changes(forwards=ELECTIONS.creating, backwards=ELECTIONS.dropping),
    ]
