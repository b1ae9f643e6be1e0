"""How a file is read, undone uploads, and people who opted out."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("heatmaps", "0003_request_keys"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Suppression",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("person", models.BigIntegerField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="upload",
            name="same_file_once_per_dataset",
        ),
        migrations.AddField(
            model_name="upload",
            name="options",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AlterField(
            model_name="upload",
            name="state",
            field=models.CharField(
                choices=[
                    ("received", "waiting"),
                    ("staged", "reading"),
                    ("ready", "ready"),
                    ("failed", "failed"),
                    ("undone", "undone"),
                ],
                default="received",
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="upload",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["failed", "undone"]), _negated=True),
                fields=("dataset", "content_digest"),
                name="same_file_once_per_dataset",
            ),
        ),
        migrations.AddField(
            model_name="suppression",
            name="created_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="suppression",
            name="dataset",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="suppressions",
                to="heatmaps.dataset",
            ),
        ),
        migrations.AddField(
            model_name="suppression",
            name="version",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="heatmaps.dataversion",
            ),
        ),
        migrations.AddConstraint(
            model_name="suppression",
            constraint=models.UniqueConstraint(fields=("dataset", "person"), name="one_opt_out_per_person"),
        ),
    ]
